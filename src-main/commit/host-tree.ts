/**
 * The workspace on the host, reached from its own descriptor: each folder on the way is opened without following links,
 * so that nothing of what is done by a path happens anywhere else, whatever stands on the way by then.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync } from 'node:fs'
import { type ByteString, toBytes } from '../sandbox/index.ts'

/** Opens a folder without any right to its content. Linux. */
const O_PATH = 0o10000000
/** Opens a folder, and nothing that is in its place. */
export const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** What tells that an entry is still the one that was seen. Numbers too large for a double are text. */
export interface Seen {
  dev: string
  ino: string
  mode: number
  size: number
  mtime: string
}

interface Step {
  name: ByteString
  fd: number
}

export class HostTree {
  readonly #root: number
  /** The folders on the way to the last path that was asked for. */
  #trail: Step[] = []

  /** @throws the system's ENOENT and the like where the folder is not there */
  constructor(root: string) {
    this.#root = openSync(root, O_PATH | constants.O_DIRECTORY)
  }

  close(): void {
    this.#leave(0)
    closeSync(this.#root)
  }

  /** The workspace folder itself. */
  get root(): Seen {
    return seenOf(toBytes(`/proc/self/fd/${this.#root}/.`)) as Seen
  }

  /** The folder that the last path which was asked for stands in. */
  get parent(): Buffer {
    return this.#address('.')
  }

  /**
   * A path as system calls can be given it, until the next one is asked for: then its descriptor is another file's.
   * @param path relative, without '.' and '..'
   * @returns null where a folder on the way is not there, or is no folder
   */
  at(path: ByteString): Buffer | null {
    const names = path.split('/')
    const last = names.pop() ?? ''
    const differs = this.#trail.findIndex(({ name }, index) => name !== names[index])
    this.#leave(differs === -1 ? Math.min(this.#trail.length, names.length) : differs)
    for (const name of names.slice(this.#trail.length)) {
      const fd = openFolder(this.#address(name))
      if (fd === null) return null
      this.#trail.push({ name, fd })
    }
    return this.#address(last)
  }

  /** What is at a path; null for nothing. */
  look(path: ByteString): Seen | null {
    const address = this.at(path)
    return address && seenOf(address)
  }

  /** Whether what is at a path was changed, or given another name, after a moment (ms since 1970); false for nothing. */
  changedSince(path: ByteString, moment: number): boolean {
    const address = this.at(path)
    const stat = address && lstatSync(address, { throwIfNoEntry: false })
    return stat ? stat.ctimeMs > moment : false
  }

  /** Whether anything in a folder was changed after a moment (ms since 1970). */
  anyChangedSince(folder: ByteString, moment: number): boolean {
    if (this.changedSince(folder, moment)) return true
    return this.names(folder).some((name) => {
      const path = `${folder}/${name}`
      const seen = this.look(path)
      return seen !== null && isFolder(seen) ? this.anyChangedSince(path, moment) : this.changedSince(path, moment)
    })
  }

  /** What a folder holds; nothing where there is none. */
  names(path: ByteString): ByteString[] {
    const address = this.at(path)
    const fd = address && openFolder(address)
    if (fd === null) return []
    try {
      return readdirSync(`/proc/self/fd/${fd}/.`, { encoding: 'latin1' })
    } finally {
      closeSync(fd)
    }
  }

  /** Whether another file system is mounted at a path, or on the way to it. */
  isMounted(path: ByteString): boolean {
    const { dev } = this.root
    const parent = this.at(path) && fstatSync(this.#trail.at(-1)?.fd ?? this.#root, { bigint: true })
    if (parent && String(parent.dev) !== dev) return true
    const seen = this.look(path)
    return seen !== null && seen.dev !== dev
  }

  /** Must be told where a folder was put or taken away: what was opened on the way may be that one. */
  forget(): void {
    this.#leave(0)
  }

  #address(name: ByteString): Buffer {
    return toBytes(`/proc/self/fd/${this.#trail.at(-1)?.fd ?? this.#root}/${name}`)
  }

  #leave(kept: number): void {
    for (const { fd } of this.#trail.splice(kept)) closeSync(fd)
  }
}

/** @returns null where there is nothing, or something on the way is no folder */
export function seenOf(path: string | Buffer): Seen | null {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stat) return null
    return {
      dev: String(stat.dev),
      ino: String(stat.ino),
      mode: Number(stat.mode),
      size: Number(stat.size),
      mtime: String(stat.mtimeNs),
    }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

export const isFolder = ({ mode }: Pick<Seen, 'mode'>): boolean => (mode & constants.S_IFMT) === constants.S_IFDIR

/**
 * Whether both are the same entry, with the same content. What comes and goes in a folder leaves it the same. The number of
 * the device is left aside: it may be another after each start of the machine.
 */
export function isSame(one: Seen | null, other: Seen | null): boolean {
  if (one === null || other === null) return one === other
  if (one.ino !== other.ino) return false
  if (isFolder(one)) return isFolder(other)
  return one.mode === other.mode && one.size === other.size && one.mtime === other.mtime
}

function openFolder(path: Buffer): number | null {
  try {
    return openSync(path, FOLDER_FLAGS)
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG'
}
