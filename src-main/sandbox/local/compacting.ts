/**
 * Keeping mounts short: runs of neighbouring folders of a chain are written as one (layers/compact.ts), again and again, so
 * that a chain of any length is shown by a few. Eight of a kind make one of the next kind; a chain of n layers takes at
 * most seven folders for each power of eight in n, and every older point on it not many more, as what it was compacted
 * to stays for it. It is done in the background, off the path of any operation, and it is a cache: a crash loses
 * what was being written, and nothing else.
 */
import { mkdirSync, renameSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { crashPoint } from '../../store/index.ts'
import type { LayerReader } from '../layers/index.ts'
import { codeOf } from './folding.ts'
import { BASE, type LayerTree } from './layer-tree.ts'
import { type Layers, type Overlay, removeOpening } from './layers.ts'
import { OVERLAYS, type Standing } from './standing.ts'
import type { StateFile } from './state.ts'

/** Folders that become one. */
const RUN = 8
/** An operation waits for a chain to be made shorter than this: more of them make a mount dear. */
const MOST_FOLDERS = 64
/** The background waits for a moment without operations, but not for ever. */
const QUIET_MS = 50
const PATIENCE_MS = 1_000

export interface CompactingOptions {
  stateFile: StateFile
  standing: Standing
  layers: Layers
  reader: LayerReader
  /** Runs while no frozen layer is changed. */
  reading: <T>(use: () => Promise<T>) => Promise<T>
  /** Whether somebody reads frozen layers now, or an operation may be about to mount some. */
  isUsed: () => boolean
  forget: (path: string) => void
}

/** Neighbouring folders of a stack, top first, and the place of what they stand on. */
interface Run {
  folders: number[]
  beneath: number[]
}

export class Compacting {
  readonly #options: CompactingOptions
  /** Folders that cannot be read by us, or lie too deep: they stay as they are. */
  readonly #left = new Set<string>()
  /** Of no use any more, but mounted when they became so. */
  readonly #idle: [Overlay, number][] = []
  #timer: NodeJS.Timeout | undefined
  #waitingSince = 0
  #working: Promise<void> = Promise.resolve()
  #isWorking = false
  #stopped = false

  constructor(options: CompactingOptions) {
    this.#options = options
  }

  /** Looks for something to do once it is quiet. */
  soon(): void {
    clearTimeout(this.#timer)
    if (this.#stopped || this.#isWorking) return
    if (!OVERLAYS.some((overlay) => this.#isDue(overlay)) && this.#idleNow().length === 0) return
    this.#waitingSince ||= Date.now()
    const patience = this.#waitingSince + PATIENCE_MS - Date.now()
    this.#timer = setTimeout(
      () => {
        this.#waitingSince = 0
        this.#isWorking = true
        this.#working = this.#work().then(
          () => {
            this.#isWorking = false
            // What came to be due meanwhile. Folders of no use wait for the next operation, which unmounts them.
            if (OVERLAYS.some((overlay) => this.#isDue(overlay))) this.soon()
          },
          () => {
            // What cannot be written now is tried again after the next operation; one that needs it says why it cannot be.
            this.#isWorking = false
          },
        )
      },
      Math.max(0, Math.min(QUIET_MS, patience)),
    )
    this.#timer.unref()
  }

  /** Makes a chain short enough to be mounted, where the background has not. @throws the system's ENOSPC and the like */
  async shorten(overlay: Overlay, top: number): Promise<void> {
    const { stateFile, reading } = this.#options
    const tree = stateFile.trees[overlay]
    if (tree.stack(top).length <= MOST_FOLDERS) return
    await this.#working
    await reading(async () => {
      for (let next = this.#next(overlay, top); next !== null; next = this.#next(overlay, top)) {
        await this.#write(overlay, next)
        if (tree.stack(top).length <= MOST_FOLDERS / 2) return
      }
    })
  }

  /** Nothing is written any more when it resolves. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#working
  }

  #isDue(overlay: Overlay): boolean {
    return this.#next(overlay, this.#options.standing.state[overlay].head) !== null
  }

  async #work(): Promise<void> {
    const { standing, reading } = this.#options
    for (const overlay of OVERLAYS) {
      for (;;) {
        // Each by itself, so that who wants to change frozen layers waits for one at most.
        const done = await reading(async () => {
          const next = this.#stopped ? null : this.#next(overlay, standing.state[overlay].head)
          if (next !== null) await this.#write(overlay, next)
          return next === null
        })
        if (done) break
      }
    }
    // Our own reading is over by then.
    await setImmediate()
    if (!this.#stopped) this.#removeIdle()
  }

  /** The oldest run that can become one; null where there is none. */
  #next(overlay: Overlay, top: number): Run | null {
    const tree = this.#options.stateFile.trees[overlay]
    const stack = tree.stack(top)
    let kind = 0
    let run: number[] = []
    let found: Run | null = null
    for (const [at, folder] of stack.entries()) {
      if (folder === BASE || this.#left.has(`${overlay}/${folder}`)) {
        run = []
        kind = 0
        continue
      }
      // One that is smaller than those above it counts as one of them.
      const own = Math.max(kind, kindOf(tree.span(folder)))
      if (own > kind) run = []
      kind = own
      run.push(folder)
      if (run.length >= RUN) found = { folders: run.slice(-RUN), beneath: stack.slice(at + 1) }
    }
    return found
  }

  async #write(overlay: Overlay, { folders, beneath }: Run): Promise<void> {
    const { stateFile, standing, layers, reader } = this.#options
    const tree = stateFile.trees[overlay]
    const [first = BASE] = folders
    const made: Compacted = { top: topOf(tree, first), on: topOf(tree, beneath[0] ?? BASE) }
    const part = layers.part(overlay)
    try {
      mkdirSync(part, { mode: 0o700 })
      const folder = (number: number) => layers.folder(overlay, number)
      await reader.compact(folders.map(folder), beneath.map(folder), part, () => crashPoint('compact:half-written'))
      crashPoint('compact:written')
      const number = layers.number()
      renameSync(part, layers.path(overlay, number))
      tree.addCompact(number, { ...made, frozen: standing.state.frozen })
      crashPoint('compact:named')
      // What begins with the same layer and ends earlier is never used again.
      if (tree.compacts.has(first)) {
        tree.remove([first])
        this.#idle.push([overlay, first])
      }
    } catch (error) {
      await removeOpening(part)
      if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(codeOf(error))) throw error
      await this.#leaveOut(overlay, folders)
    }
  }

  /** Finds out which of them it was. */
  async #leaveOut(overlay: Overlay, folders: readonly number[]): Promise<void> {
    const { layers, reader } = this.#options
    let found = false
    for (const folder of folders) {
      const isClosed = await reader.hasRedirects(layers.folder(overlay, folder)).then(
        () => false,
        () => true,
      )
      if (isClosed) this.#left.add(`${overlay}/${folder}`)
      found ||= isClosed
    }
    // None by itself: together they are not tried again.
    if (!found) this.#left.add(`${overlay}/${folders[0]}`)
  }

  #idleNow(): [Overlay, number][] {
    const { state } = this.#options.standing
    return this.#idle.filter(([overlay, number]) => state.ended || !state[overlay].lowers.includes(number))
  }

  /** Should a crash leave a state that names them: what is not there is forgotten when it is opened. */
  #removeIdle(): void {
    const { layers, reader, forget, isUsed } = this.#options
    if (isUsed()) return
    for (const one of this.#idleNow()) {
      const [overlay, number] = one
      const path = layers.path(overlay, number)
      this.#idle.splice(this.#idle.indexOf(one), 1)
      void layers.discard(overlay, number)
      reader.forget(path)
      forget(path)
    }
  }
}

interface Compacted {
  top: number
  on: number
}

/** 0 for a layer, 1 for what shows eight or more, 2 for sixty-four or more. */
const kindOf = (span: number): number => Math.floor(Math.log(span) / Math.log(RUN) + 1e-9)

/** The layer that a folder begins with. */
const topOf = (tree: LayerTree, folder: number): number => tree.compacts.get(folder)?.top ?? folder
