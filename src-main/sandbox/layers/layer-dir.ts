/**
 * One folder of one layer, and everything that is asked of the file system about it.
 *
 * A frozen layer is addressed by name. In a live one somebody may swap a folder for a symlink between two of our
 * calls, and by name we would then read the host; so there each folder is opened once (O_NOFOLLOW) and its entries
 * are reached through the descriptor. Paths too long for the kernel are reached that way in both.
 *
 * Live layers change while they are read: what is no longer there is null or empty, never an error.
 */
import { closeSync, constants, type Dirent, lstatSync, openSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { EngineUnavailableError, type EntryKind } from '../../contract/index.ts'
import type { ListedKind, Listing } from './listings.ts'
import { type ByteString, join, readableBytes, toByteString, toBytes } from './names.ts'

/** A layer's folder on the host. */
export interface LayerFolder {
  path: string
  /** True where nobody writes to it any more. */
  frozen: boolean
}

/** Entries listed or looked at: what the cost of reading is measured in. */
export interface Effort {
  entries: number
}

/** What the folders of one reading share. */
export interface Reading {
  effort: Effort
  /** Folders that hold a descriptor: to be closed at the end of the reading at the latest. */
  open: Set<LayerDir>
}

export const closeReading = (reading: Reading): void => {
  for (const dir of reading.open) dir.close()
}

/** Above this a path is reached through a descriptor: the kernel takes 4,096 bytes, and a name has up to 255. */
export const LONG_PATH = 3500

/** What was seen of an entry; its attributes only where they had to be asked for. */
interface Seen {
  kind: EntryKind | 'whiteout'
  stat: Stats | null
}

const FOLDER: Seen = { kind: 'folder', stat: null }
const NOTHING: Listing = new Map()

export class LayerDir {
  readonly layer: LayerFolder
  /** Within the layer, '' for its root. */
  readonly path: ByteString
  /** Place of the layer in its stack, 0 at the top. */
  readonly depth: number
  readonly #address: ByteString
  readonly #reading: Reading
  readonly #parent: LayerDir | null
  readonly #listing: Listing | null
  #fd: number | null = null

  private constructor(
    layer: LayerFolder,
    depth: number,
    reading: Reading,
    listing: Listing | null,
    path: ByteString,
    parent: LayerDir | null,
    address: ByteString,
  ) {
    this.layer = layer
    this.depth = depth
    this.path = path
    this.#reading = reading
    this.#listing = listing
    this.#parent = parent
    this.#address = address
  }

  /** @param listing of the layer, where it is known: names are not asked for again then */
  static root(layer: LayerFolder, depth: number, reading: Reading, listing: Listing | null = null): LayerDir {
    return new LayerDir(layer, depth, reading, listing, '', null, toByteString(layer.path))
  }

  child(name: ByteString): LayerDir {
    const address = `${this.#address}/${name}`
    const listed = this.#listing?.get(name)
    const listing = this.#listing && (typeof listed === 'object' ? listed : NOTHING)
    return new LayerDir(this.layer, this.depth, this.#reading, listing, join(this.path, name), this, address)
  }

  /** Closes what was opened for this folder; asked again it is opened again. */
  close(): void {
    if (this.#fd === null) return
    closeSync(this.#fd)
    this.#fd = null
    this.#reading.open.delete(this)
  }

  /**
   * Path by which `name` can be handed to a system call now; without a name the folder itself.
   * @throws the system's ENOENT and the like where the folder is gone
   */
  address(name: ByteString = '.'): Buffer {
    return toBytes(`${this.#prefix()}/${name}`)
  }

  #prefix(): ByteString {
    if (this.layer.frozen && this.#address.length < LONG_PATH) return this.#address
    if (this.#fd === null) {
      const from = this.#parent?.address(this.path.slice(this.path.lastIndexOf('/') + 1)) ?? toBytes(this.#address)
      this.#fd = openSync(from, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      this.#reading.open.add(this)
    }
    return `/proc/self/fd/${this.#fd}`
  }

  /** Names in this folder in no order, whiteouts among them. */
  names(): ByteString[] {
    if (this.#listing !== null) return [...this.#listing.keys()]
    const names = this.#unlessGone(() => readdirSync(this.address(), { encoding: 'latin1' })) ?? []
    this.#reading.effort.entries += names.length
    return names
  }

  /** Names in this folder with their kinds, as they are now. */
  list(): (readonly [ByteString, ListedKind | 'folder'])[] {
    const entries =
      this.#unlessGone(() => readdirSync(this.address(), { encoding: 'latin1', withFileTypes: true })) ?? []
    this.#reading.effort.entries += entries.length
    return entries.map((entry) => [entry.name, listedKind(entry)])
  }

  /** What stands under a name; null where there is nothing. */
  look(name: ByteString): Seen | null {
    if (this.#listing !== null) {
      const entry = this.#listing.get(name)
      if (entry === undefined) return null
      if (entry !== 'device') return typeof entry === 'string' ? { kind: entry, stat: null } : FOLDER
    }
    const stat = this.stat(name)
    return stat && { kind: kindOf(stat), stat }
  }

  stat(name?: ByteString): Stats | null {
    this.#reading.effort.entries++
    // Not by an error, which costs far more than the call: most names are not there.
    return this.#unlessGone(() => lstatSync(this.address(name), { throwIfNoEntry: false }) ?? null)
  }

  readLink(name: ByteString): Buffer | null {
    return this.#unlessGone(() => readlinkSync(this.address(name), { encoding: 'buffer' }))
  }

  /** An entry's file, opened for reading; a FIFO that took its place does not block. Null where it is gone. */
  openFile(name: ByteString): number | null {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    return this.#unlessGone(() => openSync(this.address(name), flags))
  }

  #unlessGone<T>(call: () => T): T | null {
    try {
      return call()
    } catch (error) {
      if (isGone(error)) return null
      throw this.#explain(error)
    }
  }

  #explain(error: unknown): unknown {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') return error
    const path = this.path === '' ? 'the workspace folder' : readableBytes(toBytes(this.path))
    return new EngineUnavailableError(`${path}, or a file in it, cannot be read: its mode keeps this user out.`, {
      nextStep: 'Give it back its read permission in the sandbox (chmod u+rwX), or roll back to before it was taken.',
      data: { path },
      cause: error,
    })
  }
}

/** Whether a system call failed because its path no longer leads anywhere, or no longer through folders. */
export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ESTALE'
}

/** No process in the sandbox can make one: the overlay refuses this device number. */
export const isWhiteout = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0

function kindOf(stat: Stats): EntryKind | 'whiteout' {
  switch (stat.mode & constants.S_IFMT) {
    case constants.S_IFDIR:
      return 'folder'
    case constants.S_IFREG:
      return 'file'
    case constants.S_IFLNK:
      return 'symlink'
    case constants.S_IFCHR:
      return isWhiteout(stat) ? 'whiteout' : 'other'
    default:
      return 'other'
  }
}

function listedKind(entry: Dirent): ListedKind | 'folder' {
  if (entry.isDirectory()) return 'folder'
  if (entry.isFile()) return 'file'
  if (entry.isSymbolicLink()) return 'symlink'
  return entry.isCharacterDevice() ? 'device' : 'other'
}
