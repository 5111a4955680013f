/**
 * What a tree became, written down as a layer over what it was.
 *
 * Two trees need it: one in which folders were renamed (the kernel notes where the contents come from, and over a
 * host's folder that may change such a note points at something else one day), and one that processes go on writing
 * to, whose own layer can therefore not be set aside. A layer written here holds entries and whiteouts alone, no marks.
 */
import { linkSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { dress } from './dress.ts'
import { type ByteString, join, toByteString, toBytes } from './names.ts'
import { sameContent } from './same-content.ts'
import {
  closeFolder,
  namesOf,
  type Stack,
  sharedTail,
  type TreeEntry,
  type TreeFolder,
  type TreeLeaf,
} from './stack.ts'

/** The live layer as it was when it was last written down. */
export interface Since {
  /** What was changed later bears this time or a later one; nanoseconds since 1970. */
  time: bigint
  /** Its folders then, each with what names its inode for ever. Those that are missing are compared whole. */
  folders: ReadonlyMap<ByteString, string>
}

export interface DeltaOptions {
  /** An empty folder: it becomes the layer. */
  target: string
  /** The live tree as it is mounted, for the attributes of its folders. */
  view: string
  /** True where nobody writes to the live layer any more: its files are shared, not copied. */
  quiet: boolean
  /** Null for everything that stands in the live layer. */
  since: Since | null
  /** A name in the root folder that is no part of the state. */
  except: ByteString | null
  /** Path of a whiteout; another one each time. */
  whiteout: () => Promise<string>
}

export interface Delta {
  /** Paths that have to be copied from the view into the layer, folders on the way included. */
  copies: ByteString[]
  /** Whether it holds files of frozen layers. */
  shares: boolean
  /** For the next {@link Since}. */
  folders: Map<ByteString, string>
  /** Gives the folders their attributes, once everything is in them. */
  seal(): void
}

/** Entries between two pauses, in which the process can answer others. */
const ENTRIES_PER_TURN = 500
/** Times that we set are rounded. Milliseconds. */
const ROUNDING_MS = 0.002

/**
 * Writes what makes `live` of `head`.
 * @param live its first layer is the live one
 * @throws EngineUnavailableError where a folder is closed to us
 */
export async function writeDelta(head: Stack, live: Stack, options: DeltaOptions): Promise<Delta> {
  const writer = new DeltaWriter(head, live, options)
  await writer.write()
  return writer
}

/** A folder of the layer, made when something is to be put in it. */
interface Place {
  path: ByteString
  folder: TreeFolder
  parent: Place | null
  made: boolean
}

class DeltaWriter implements Delta {
  readonly copies: ByteString[] = []
  shares = false
  readonly folders = new Map<ByteString, string>()
  readonly #head: Stack
  readonly #live: Stack
  readonly #options: DeltaOptions
  readonly #target: ByteString
  readonly #sinceMs: number
  readonly #made: Place[] = []
  #whiteout: string | null = null
  #steps = 0

  constructor(head: Stack, live: Stack, options: DeltaOptions) {
    this.#head = head
    this.#live = live
    this.#options = options
    this.#target = toByteString(options.target)
    this.#sinceMs = options.since === null ? 0 : Number(options.since.time) / 1e6 - ROUNDING_MS
  }

  async write(): Promise<void> {
    const folder = this.#live.root()
    if (folder === null) throw new Error('the live layer is gone')
    const root: Place = { path: '', folder, parent: null, made: true }
    this.#made.push(root)
    await this.#contents(root, this.#head.root(), this.#options.since !== null)
  }

  seal(): void {
    for (const place of this.#made.reverse()) {
      dress(this.#at(place.path), this.#attributes(place))
    }
  }

  /** A base that is mounted with other owners tells them only through the mount. */
  #attributes({ path, folder }: Place): Stats {
    if (folder.parts[0]?.depth === 0) return folder.stat
    return lstatSync(toBytes(`${toByteString(this.#options.view)}/${path}`))
  }

  /** @param known whether this is the folder that stood here at the last point, so that old entries are old here too */
  async #contents(place: Place, before: TreeFolder | null, known: boolean): Promise<void> {
    const { path, folder } = place
    const own = folder.parts[0]?.depth === 0 ? folder.parts[0] : null
    if (own) this.folders.set(path, identity(folder.stat))
    const names = known && own && !this.#isNew(folder.stat) ? namesOf([own]) : differingNames(before, folder)
    for (const name of names) {
      if (++this.#steps % ENTRIES_PER_TURN === 0) await setImmediate()
      if (path === '' && name === this.#options.except) continue
      if (known && own) {
        const stat = own.stat(name)
        if (stat !== null && !stat.isDirectory() && !this.#isNew(stat)) continue
      }
      const now = await this.#live.lookup(folder, name)
      const old = before && (await this.#head.lookup(before, name))
      try {
        await this.#entry(place, name, old, now, known)
      } finally {
        closeFolder(old)
        closeFolder(now)
      }
    }
  }

  async #entry(
    place: Place,
    name: ByteString,
    old: TreeEntry | null,
    now: TreeEntry | null,
    known: boolean,
  ): Promise<void> {
    const path = join(place.path, name)
    if (now === null) {
      if (old !== null) await this.#hide(place, path)
    } else if (now.kind === 'folder') {
      const inner: Place = { path, folder: now, parent: place, made: false }
      const was = old?.kind === 'folder' ? old : null
      const wanted = this.#options.since === null && now.parts[0]?.depth === 0
      if (was === null || wanted || !sameAttributes(was.stat, now.stat)) this.#make(inner)
      await this.#contents(inner, was, known && this.#isKnown(path, now))
    } else if (old === null || old.kind === 'folder' || !(await this.#same(old, now))) this.#put(place, path, now)
  }

  #isNew = (stat: Stats): boolean => stat.ctimeMs >= this.#sinceMs

  /** A folder whose status is old was not moved; one whose status is new may have been, or only have got a new entry. */
  #isKnown(path: ByteString, { stat, parts }: TreeFolder): boolean {
    if (parts[0]?.depth !== 0) return false
    return !this.#isNew(stat) || this.#options.since?.folders.get(path) === identity(stat)
  }

  async #same(old: TreeLeaf, now: TreeLeaf): Promise<boolean> {
    if (old.kind !== now.kind || old.stat.rdev !== now.stat.rdev) return false
    if (old.dir.layer.path === now.dir.layer.path && old.dir.path === now.dir.path && old.name === now.name) return true
    // Comparing would cost more than taking it.
    if (this.#options.since === null && now.dir.depth === 0) return false
    if (old.stat.size !== now.stat.size || !sameAttributes(old.stat, now.stat)) return false
    if (now.kind === 'file') return (await sameContent(old, now)) === true
    if (now.kind !== 'symlink') return true
    const target = old.dir.readLink(old.name)
    return target !== null && now.dir.readLink(now.name)?.equals(target) === true
  }

  #put(place: Place, path: ByteString, { dir, name }: TreeLeaf): void {
    this.#make(place)
    const still = dir.layer.frozen || (dir.depth === 0 && this.#options.quiet)
    if (!still || !linked(dir.address(name), this.#at(path))) this.copies.push(path)
    else if (dir.layer.frozen) this.shares = true
  }

  async #hide(place: Place, path: ByteString): Promise<void> {
    this.#make(place)
    for (let fresh = this.#whiteout === null; ; fresh = true) {
      if (fresh) this.#whiteout = await this.#options.whiteout()
      if (linked(Buffer.from(this.#whiteout ?? ''), this.#at(path))) return
      if (fresh) throw new Error('a whiteout cannot be linked')
    }
  }

  #make(place: Place): void {
    if (place.made) return
    if (place.parent) this.#make(place.parent)
    mkdirSync(this.#at(place.path), { mode: 0o700 })
    place.made = true
    this.#made.push(place)
  }

  #at(path: ByteString): Buffer {
    return toBytes(path === '' ? this.#target : `${this.#target}/${path}`)
  }
}

/** Names that may lead to different entries; all that there are now where nothing was before. */
function differingNames(before: TreeFolder | null, now: TreeFolder): Set<ByteString> {
  if (before === null) return namesOf(now.parts)
  const shared = sharedTail(before.parts, now.parts)
  return namesOf([...now.parts.slice(0, -shared || undefined), ...before.parts.slice(0, -shared || undefined)])
}

const identity = ({ ino, birthtimeMs }: Stats): string => `${ino}:${birthtimeMs}`

const sameAttributes = (a: Stats, b: Stats): boolean =>
  a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && Math.abs(a.mtimeMs - b.mtimeMs) < ROUNDING_MS

/** @returns false where this file can have no other name there: too many already, another file system, not allowed */
function linked(from: Buffer, to: Buffer): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (['EMLINK', 'EXDEV', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
