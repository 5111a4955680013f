/**
 * Two neighbouring layers made one, in the older one's folder.
 *
 * The newer one's entries are renamed over the older one's, so that the cost is the newer one's entries, not bytes. At
 * every step the two show the same tree together as before: a crash needs a rerun and no undo. Neither may be mounted.
 */

import { lstatSync, readdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { dress } from './dress.ts'
import { isWhiteout } from './layer-dir.ts'
import { type ByteString, join, toByteString, toBytes } from './names.ts'

export interface FoldOptions {
  older: string
  newer: string
  /** Whether a folder of the newer layer hides what lies beneath it. */
  isOpaque: (path: ByteString) => boolean
  /** Makes folders of the newer layer hide what lies beneath them. */
  markOpaque: (paths: readonly ByteString[]) => Promise<void>
  /** Whether the layers beneath both have this path, so that a whiteout of it is still needed. */
  isBeneath: (path: ByteString) => Promise<boolean>
  /** Called with something moved and something not. */
  halfWay?: () => void
}

/** Entries between two pauses, in which the process can answer others. */
const ENTRIES_PER_TURN = 500

/**
 * Leaves the newer layer's folder empty.
 * @returns folders of the newer layer that went into folders of the older one; the others are as they were
 * @throws the system's EACCES where a folder is closed to us; both still hold all
 */
export async function fold(options: FoldOptions): Promise<ReadonlySet<ByteString>> {
  const folding = new Folding(options)
  const bare = folding.bareFolders('')
  if (bare.length > 0) await folding.mark(bare)
  await folding.merge('', new Set(bare))
  return folding.merged
}

class Folding {
  readonly #options: FoldOptions
  readonly #older: ByteString
  readonly #newer: ByteString
  readonly merged = new Set<ByteString>()
  #steps = 0

  constructor(options: FoldOptions) {
    this.#options = options
    this.#older = toByteString(options.older)
    this.#newer = toByteString(options.newer)
  }

  /** Folders that hide what lies beneath only by standing over something that is no folder. */
  bareFolders(path: ByteString): ByteString[] {
    return this.#entries(path).flatMap(({ name, folder }) => {
      const inner = join(path, name)
      const below = folder ? this.#below(inner) : undefined
      if (below === undefined || this.#options.isOpaque(inner)) return []
      return below.isDirectory() ? this.bareFolders(inner) : [inner]
    })
  }

  async mark(paths: readonly ByteString[]): Promise<void> {
    const attributes = paths.map((path) => lstatSync(this.#inNewer(path)))
    await this.#options.markOpaque(paths)
    for (const [at, path] of paths.entries()) {
      const stat = attributes[at]
      if (stat) dress(this.#inNewer(path), stat)
    }
  }

  async merge(path: ByteString, marked: ReadonlySet<ByteString>): Promise<void> {
    // Before anything is moved out of it, which changes its times.
    const attributes = lstatSync(this.#inNewer(path))
    for (const { name, folder } of this.#entries(path)) {
      if (++this.#steps % ENTRIES_PER_TURN === 0) await setImmediate()
      const inner = join(path, name)
      const below = this.#below(inner)
      if (!folder) await this.#leaf(inner, below)
      else if (below === undefined) renameSync(this.#inNewer(inner), this.#inOlder(inner))
      else if (below.isDirectory() && !this.#options.isOpaque(inner) && !marked.has(inner)) {
        await this.merge(inner, marked)
        this.merged.add(inner)
        rmdirSync(this.#inNewer(inner))
      } else {
        if (below.isDirectory()) this.#empty(inner)
        else unlinkSync(this.#inOlder(inner))
        renameSync(this.#inNewer(inner), this.#inOlder(inner))
      }
      this.#options.halfWay?.()
    }
    dress(this.#inOlder(path), attributes)
  }

  async #leaf(path: ByteString, below: Stats | undefined): Promise<void> {
    const stat = lstatSync(this.#inNewer(path))
    if (below?.isDirectory()) {
      this.#empty(path)
      rmdirSync(this.#inOlder(path))
    }
    if (isWhiteout(stat) && !(await this.#options.isBeneath(path))) {
      if (below !== undefined && !below.isDirectory()) unlinkSync(this.#inOlder(path))
      unlinkSync(this.#inNewer(path))
      return
    }
    renameSync(this.#inNewer(path), this.#inOlder(path))
    // Two names of one file: the call does nothing then.
    if (below?.ino === stat.ino) unlinkSync(this.#inNewer(path))
  }

  #empty(path: ByteString): void {
    for (const entry of readdirSync(this.#inOlder(path), { withFileTypes: true, encoding: 'latin1' })) {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) {
        this.#empty(inner)
        rmdirSync(this.#inOlder(inner))
      } else unlinkSync(this.#inOlder(inner))
    }
  }

  #entries(path: ByteString): { name: ByteString; folder: boolean }[] {
    return readdirSync(this.#inNewer(path), { withFileTypes: true, encoding: 'latin1' }).map((entry) => ({
      name: entry.name,
      folder: entry.isDirectory(),
    }))
  }

  #below = (path: ByteString): Stats | undefined => lstatSync(this.#inOlder(path), { throwIfNoEntry: false })

  #inOlder = (path: ByteString): Buffer => toBytes(`${this.#older}/${path}`)

  #inNewer = (path: ByteString): Buffer => toBytes(`${this.#newer}/${path}`)
}
