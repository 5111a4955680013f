/**
 * The layer folders of a sandbox on the host: `w/N` and `m/N` hold layers of the workspace and of the machine, `k/N`
 * work folders. One counter numbers them all, and no number is used twice.
 *
 * The live layer is a numbered folder like the others: freezing it is unmounting it. The folders that the next swap
 * needs are made ahead, so that a swap does nothing but unmount and mount.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type LayerFolder, statusTimes } from '../layers/index.ts'
import { BASE } from './layer-tree.ts'
import type { Mount } from './mountinfo.ts'
import type { OverlayState } from './state.ts'

export type Overlay = 'workspace' | 'machine'

/** Names that are no numbers: being written, being removed. */
const PART = '.part'
const GONE = '.gone'

const FOLDER_OF = { workspace: 'w', machine: 'm' } as const

/** What a swap of one overlay needs, made ahead. */
export interface Spare {
  /** Number of an empty layer, and of its work folder. */
  upper: number
  /** A work folder for the way back; null once it was handed out. */
  undo: number | null
}

export class Layers {
  readonly #folder: string
  readonly #bases: Readonly<Record<Overlay, LayerFolder>>
  readonly #runs: string
  #next: number
  #parts = 0
  readonly #spares = new Map<Overlay, Spare>()
  /** Work folders of a swap that is under way. */
  readonly #handed = new Set<number>()

  /**
   * @param bases the lowest layers
   * @param runs the folder of a machine layer that is no part of a state
   * @param next the counter as the state has it; folders that are there already count too
   */
  constructor(folder: string, bases: Readonly<Record<Overlay, LayerFolder>>, runs: string, next: number) {
    this.#folder = folder
    this.#bases = bases
    this.#runs = runs
    const used = ['w', 'm', 'k'].flatMap((name) =>
      readdirSync(join(folder, name)).map((entry) => Number.parseInt(entry, 10)),
    )
    this.#next = Math.max(next, ...used.filter(Number.isInteger).map((number) => number + 1))
  }

  get next(): number {
    return this.#next
  }

  path(overlay: Overlay, number: number): string {
    return join(this.#folder, this.inside(overlay, number))
  }

  /** A frozen layer, to be read. */
  folder(overlay: Overlay, number: number): LayerFolder {
    if (number === BASE) return { path: this.#bases[overlay].path, frozen: this.#bases[overlay].frozen }
    return { path: this.path(overlay, number), frozen: true }
  }

  /** Within the sandbox's folder. */
  inside(overlay: Overlay, number: number): string {
    return `${FOLDER_OF[overlay]}/${number}`
  }

  /** Folders of a mounted stack, the live layer first. */
  paths(overlay: Overlay, { upper, lowers }: OverlayState): string[] {
    return [upper, ...lowers].map((number) => this.path(overlay, number))
  }

  has(overlay: Overlay, number: number): boolean {
    return existsSync(this.path(overlay, number))
  }

  /** Numbers of the layers that are there, in no order. */
  numbers(overlay: Overlay): number[] {
    return readdirSync(join(this.#folder, FOLDER_OF[overlay])).map(Number).filter(Number.isInteger)
  }

  /** The empty layer that the next swap takes, where it is made already. */
  spareNumber(overlay: Overlay): number | null {
    return this.#spares.get(overlay)?.upper ?? null
  }

  number(): number {
    return this.#next++
  }

  /** A new work folder. @throws the system's ENOSPC */
  work(number = this.number()): number {
    mkdirSync(join(this.#folder, 'k', String(number)))
    return number
  }

  /** @throws the system's ENOSPC */
  spare(overlay: Overlay): Spare {
    let spare = this.#spares.get(overlay)
    if (spare === undefined) {
      const upper = this.number()
      mkdirSync(this.path(overlay, upper))
      this.work(upper)
      spare = { upper, undo: null }
      this.#spares.set(overlay, spare)
    }
    spare.undo ??= this.work()
    return spare
  }

  /**
   * The work folder for the way back of a swap: another one for each attempt, as a mount leaves a mark in it that
   * forbids a second. @throws the system's ENOSPC where the spare one was handed out already
   */
  undo(overlay: Overlay): number {
    const spare = this.spare(overlay)
    const work = spare.undo ?? this.work()
    spare.undo = null
    this.#handed.add(work)
    return work
  }

  /** No swap is under way any more. */
  settled(): void {
    this.#handed.clear()
  }

  /** The spare was mounted, or an attempt at it failed: it is not offered again. */
  used(overlay: Overlay): void {
    this.#spares.delete(overlay)
  }

  /** Gives a new layer's root folder the attributes of another: they show in the merged view. */
  dress(path: string, like: string): void {
    const { mode, uid, gid, atimeNs, mtimeNs } = lstatSync(like, { bigint: true })
    const own = lstatSync(path)
    if (BigInt(own.uid) !== uid || BigInt(own.gid) !== gid) chownSync(path, Number(uid), Number(gid))
    chmodSync(path, Number(mode & 0o7777n))
    utimesSync(path, seconds(atimeNs), seconds(mtimeNs))
  }

  /** Whether something was changed in an overlay since it was last frozen. Touching without changing counts. */
  async changed(overlay: Overlay, { upper, on, copiedAt }: OverlayState): Promise<boolean> {
    const path = this.path(overlay, upper)
    if (copiedAt !== null) return changedSince(path, BigInt(copiedAt), overlay === 'machine' ? this.#runs : null)
    if (overlay === 'machine') return machineChanged(path, this.#runs)
    return hasEntries(path) || !sameAttributes(path, this.folder(overlay, on).path)
  }

  /** Milliseconds since 1970 of the newest change in a live layer since it was last frozen; null where there is none. */
  async lastChange(overlay: Overlay, { upper, copiedAt }: OverlayState): Promise<number | null> {
    let newest: bigint | null = null
    await statusTimes(this.path(overlay, upper), (time, isRoot) => {
      // A fresh layer's folder bears the time at which it was made; later it tells of names that went from it.
      const counts = time !== null && (copiedAt === null ? !isRoot : time >= BigInt(copiedAt))
      if (counts && (newest === null || time > newest)) newest = time
      return true
    })
    return newest === null ? null : Number(newest / 1_000_000n)
  }

  /** Where a layer is written that gets its number when it is whole. */
  part(overlay: Overlay): string {
    return join(this.#folder, FOLDER_OF[overlay], `${this.#parts++}${PART}`)
  }

  /**
   * Removes a layer that nobody mounts or refers to: at once as far as its name goes, so that none is left half. Best
   * effort: destroy removes the rest.
   */
  async discard(overlay: Overlay, number: number): Promise<void> {
    const path = this.path(overlay, number)
    const gone = `${path}${GONE}`
    try {
      renameSync(path, gone)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    await removeOpening(gone)
  }

  /** Removes what an earlier host was writing or removing when it died. */
  async sweepParts(): Promise<void> {
    for (const folder of Object.values(FOLDER_OF)) {
      for (const name of await readdir(join(this.#folder, folder))) {
        if (name.endsWith(PART) || name.endsWith(GONE)) await removeOpening(join(this.#folder, folder, name))
      }
    }
  }

  /** Removes layers that a host left half copied when it was killed. */
  async discardStrays(overlay: Overlay): Promise<void> {
    const folder = join(this.#folder, FOLDER_OF[overlay])
    const strays = readdirSync(folder).filter((name) => name.endsWith('.part'))
    for (const name of strays) await rm(join(folder, name), { recursive: true, force: true }).catch(unlessRefused)
  }

  /** Removes the work folders of earlier mounts. */
  sweepWork(mounts: readonly Mount[]): void {
    const used = new Set(
      mounts.flatMap(({ options }) => options).map((option) => /^workdir=\.\.\/k\/(\d+)$/.exec(option)?.[1]),
    )
    for (const { upper, undo } of this.#spares.values()) used.add(String(upper)).add(String(undo))
    for (const work of this.#handed) used.add(String(work))
    for (const name of readdirSync(join(this.#folder, 'k'))) {
      if (used.has(name)) continue
      const path = join(this.#folder, 'k', name)
      try {
        // The kernel's own folder in it is closed even to its owner.
        if (existsSync(join(path, 'work'))) chmodSync(join(path, 'work'), 0o700)
        rmSync(path, { recursive: true, force: true })
      } catch (error) {
        unlessRefused(error)
      }
    }
  }
}

/** Removes a folder with all in it, also what its owner, who is us, closed. Best effort. */
export async function removeOpening(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    unlessRefused(error)
    await openFolders(Buffer.from(path)).catch(unlessRefused)
    await rm(path, { recursive: true, force: true }).catch(unlessRefused)
  }
}

async function openFolders(path: Buffer): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await openFolders(Buffer.concat([path, Buffer.from('/'), entry.name]))
  }
}

function unlessRefused(error: unknown): void {
  if (!['EACCES', 'EPERM', 'ENOTEMPTY', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
}

/** A walk that stops here costs about a millisecond. */
const QUICK_ENTRIES = 256
const BLOCK_BYTES = 512

/** Bytes on disk of a layer with few entries; null for one with many, a very deep one, or one that is closed to us. */
export function quickBytes(path: string): number | null {
  let left = QUICK_ENTRIES
  const weigh = (folder: Buffer): number | null => {
    let sum = 0
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (left-- === 0) return null
      const child = Buffer.concat([folder, Buffer.from('/'), entry.name])
      const inner = entry.isDirectory() ? weigh(child) : 0
      if (inner === null) return null
      sum += inner + lstatSync(child).blocks * BLOCK_BYTES
    }
    return sum
  }
  try {
    return weigh(Buffer.from(path))
  } catch (error) {
    // So deep that the kernel takes no path to it.
    if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') unlessRefused(error)
    return null
  }
}

/** The kernel takes microseconds here, cut off: a half more keeps rounding from losing one. */
const seconds = (nanoseconds: bigint): number => (Number(nanoseconds / 1000n) + 0.5) / 1e6

/** Whether a folder holds anything; one that is closed to us was changed by whoever closed it. */
function hasEntries(path: string): boolean {
  try {
    const dir = opendirSync(path)
    try {
      return dir.readSync() !== null
    } finally {
      dir.closeSync()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true
    throw error
  }
}

/** The run folder does not count, nor do the places themselves while nothing is in them. */
function machineChanged(upper: string, runs: string): boolean {
  return readdirSync(upper, { withFileTypes: true }).some(
    (entry) => entry.name !== runs && !(entry.isDirectory() && !hasEntries(join(upper, entry.name))),
  )
}

function sameAttributes(one: string, other: string): boolean {
  const a = lstatSync(one)
  const b = lstatSync(other)
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid
}

/** Whether any entry's status changed at or after a time: content, attributes, names made and removed. */
async function changedSince(path: string, since: bigint, except: string | null): Promise<boolean> {
  let found = false
  await statusTimes(
    path,
    (time) => {
      // What happens in a folder that is closed to us cannot be seen.
      found = time === null || time >= since
      return !found
    },
    except,
  )
  return found
}
