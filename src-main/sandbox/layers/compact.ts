/**
 * One layer that shows what a whole run of frozen layers shows, made of hard links beside them.
 *
 * The run stays as it is: nothing here writes to a file of it, and nothing else ever writes to a file of a frozen layer
 * (the kernel copies up, folding renames), so a link stays equal to what it was linked from. Folders are the new layer's
 * own. What a run hides it goes on hiding: a whiteout is kept where something beneath has the name, and a folder within
 * which the run stopped looking further down is marked opaque.
 */
import { linkSync, mkdirSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { copyAttributes } from './attributes.ts'
import { dress } from './dress.ts'
import type { LayerDir } from './layer-dir.ts'
import type { Marks } from './marks.ts'
import { type ByteString, join, toByteString, toBytes } from './names.ts'
import { run } from './run.ts'
import { namesOf, type Stack, type TreeFolder } from './stack.ts'

export interface CompactOptions {
  /** The roots of the layers, top first. */
  roots: readonly LayerDir[]
  marks: Marks
  /** What they stand on. */
  beneath: Stack
  /** True where what they stand on may get other names one day. */
  changing: boolean
  /** An empty folder: it becomes the layer. */
  target: string
  /** Marks folders of the new layer opaque. Their times change. */
  markOpaque: (paths: readonly ByteString[]) => Promise<void>
  /** Called with a part of it written. */
  halfWay: () => void
}

/** Entries between two pauses, in which the process can answer others: some milliseconds. */
const ENTRIES_PER_TURN = 200

/** @throws EngineUnavailableError where a folder is closed to us, the system's ENOSPC and ENAMETOOLONG */
export async function compact(options: CompactOptions): Promise<void> {
  const writer = new CompactWriter(options)
  await writer.write()
}

/** A folder of the new layer. */
interface Place {
  path: ByteString
  /** The topmost folder that it stands for. */
  like: LayerDir
  stat: Stats
  /** What lies beneath shows through where the run has nothing. */
  open: boolean
  /** The folder beneath that it is merged with. */
  beneath: TreeFolder | null
}

class CompactWriter {
  readonly #options: CompactOptions
  readonly #target: ByteString
  readonly #places: Place[] = []
  readonly #opaque: ByteString[] = []
  /** Pairs of names, each ended by NUL. */
  readonly #copies: ByteString[] = []
  #steps = 0

  constructor(options: CompactOptions) {
    this.#options = options
    this.#target = toByteString(options.target)
  }

  async write(): Promise<void> {
    const { roots, beneath, markOpaque } = this.#options
    const [like] = roots
    const stat = like?.stat()
    if (!like || !stat) throw new Error('the layers are gone')
    await this.#contents({ path: '', like, stat, open: true, beneath: beneath.root() }, roots)
    if (this.#copies.length > 0) {
      const args = ['-0', '-n', '2', 'cp', '-aT', '--reflink=auto', '--']
      await run('xargs', args, { cwd: '/', stdin: toBytes(this.#copies.join('')) })
    }
    await copyAttributes(
      this.#places.map(({ like }) => like),
      this.#options.target,
    )
    if (this.#opaque.length > 0) await markOpaque(this.#opaque)
    // From the leaves up: whatever is done in a folder changes its times.
    for (const place of this.#places.reverse()) dress(this.#at(place.path), place.stat)
  }

  async #contents(place: Place, parts: readonly LayerDir[]): Promise<void> {
    this.#places.push(place)
    for (const name of namesOf(parts)) {
      if (++this.#steps % ENTRIES_PER_TURN === 0) await setImmediate()
      await this.#entry(place, parts, name)
    }
  }

  async #entry(place: Place, parts: readonly LayerDir[], name: ByteString): Promise<void> {
    const path = join(place.path, name)
    const folders: LayerDir[] = []
    let top: Stats | null = null
    let stopped = false
    for (const dir of parts) {
      const seen = dir.look(name)
      if (seen === null) continue
      if (seen.kind === 'folder') {
        const folder = dir.child(name)
        folders.push(folder)
        top ??= seen.stat ?? dir.stat(name)
        stopped = (await this.#options.marks.of(folder)).opaque
      } else if (folders.length === 0) return this.#leaf(place, path, dir, name, seen.kind === 'whiteout')
      else stopped = true
      if (stopped) break
    }
    const [like] = folders
    if (top === null || like === undefined) return
    mkdirSync(this.#at(path), { mode: 0o700 })
    if (stopped && place.open) this.#opaque.push(path)
    const open = place.open && !stopped
    const beneath = open && place.beneath !== null ? await this.#options.beneath.lookup(place.beneath, name) : null
    const inner: Place = { path, like, stat: top, open, beneath: beneath?.kind === 'folder' ? beneath : null }
    try {
      await this.#contents(inner, folders)
    } finally {
      for (const dir of [...folders, ...(inner.beneath?.parts ?? [])]) dir.close()
    }
  }

  async #leaf(place: Place, path: ByteString, dir: LayerDir, name: ByteString, whiteout: boolean): Promise<void> {
    if (whiteout && !(await this.#isNeeded(place, name))) return
    const to = this.#at(path)
    try {
      linkSync(dir.address(name), to)
    } catch (error) {
      // As many names as a file can have.
      if ((error as NodeJS.ErrnoException).code !== 'EMLINK') throw error
      this.#copies.push(`${toByteString(dir.layer.path)}/${join(dir.path, name)}\0${to.toString('latin1')}\0`)
    }
    this.#options.halfWay()
  }

  /** The kernel lists a whiteout as a name without an entry where its folder is not merged with another. */
  async #isNeeded({ open, beneath }: Place, name: ByteString): Promise<boolean> {
    if (!open || beneath === null) return false
    return this.#options.changing || (await this.#options.beneath.lookup(beneath, name)) !== null
  }

  #at(path: ByteString): Buffer {
    return toBytes(path === '' ? this.#target : `${this.#target}/${path}`)
  }
}
