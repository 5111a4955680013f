/** For tests: a seeded program of the edits that people, agents and their tools make. */
import * as fs from 'node:fs'
import { applyEdit, type Edit, FIRST_SECOND } from './edit.ts'
import { type ByteString, join, toByteString, toBytes } from './names.ts'

export type Random = () => number

/** mulberry32: the same numbers for the same seed, everywhere. */
export function random(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const below = (random: Random, count: number): number => Math.floor(random() * count)
export const pick = <T>(random: Random, from: readonly T[]): T | undefined => from[below(random, from.length)]

const NAMES = [
  ...['a', 'b', 'c', 'dir1', 'dir2', 'sp ace', 'new\nline', 'col:on,com=ma', '.wh.x', '..dots', 'back\\slash', '\\n'],
  ...['-dash', '"quo\'te', 'a*?', 'ünï', 'tab\t', 'long'.padEnd(255, 'x')].map((name) => toByteString(name)),
  'bad\xff\xfeutf8',
]

/** The longest path that a program makes, bytes: with the longest folder before it the kernel still takes it. */
const LONGEST_PATH = 3_850
/** Entries of a tree from which on it is rather made smaller. */
const MANY = 120

/** What an edit is given that finds nothing to edit: it fails with ENOENT. */
const NOWHERE = 'no/such/path'

type Kind = 'file' | 'folder' | 'other'

/** Edits one tree, telling each change. */
export class Editor {
  readonly #root: ByteString
  readonly #random: Random
  readonly #ownersToo: boolean
  readonly #tell: (edit: Edit, code: string | null) => void
  /** Two files of the same size and time are told apart by their bytes alone only where that is meant. */
  #time = 0

  /**
   * @param ownersToo where files may be given to others (real root)
   * @param tell of each edit, also of one that failed, with the system's code
   */
  constructor(
    root: string,
    random: Random,
    ownersToo: boolean,
    tell: (edit: Edit, code: string | null) => void = () => {},
  ) {
    this.#root = toByteString(root)
    this.#random = random
    this.#ownersToo = ownersToo
    this.#tell = tell
  }

  fill(folder: ByteString = '', depth = 0): void {
    for (let count = 2 + this.#below(5); count > 0; count--) {
      const path = join(folder, this.#name())
      if (this.#exists(path)) continue
      const what = this.#random()
      if (what < 0.4 && depth < 3) {
        this.#mkdir(path)
        this.fill(path, depth + 1)
      } else if (what < 0.9) this.#write(path)
      else this.#symlink(path)
    }
  }

  edit(): void {
    if (this.#all().length > MANY && this.#random() < 0.5) this.#remove(this.#some('folder'))
    else pick(this.#random, this.#edits)?.()
  }

  readonly #edits: readonly (() => void)[] = [
    () => this.#write(this.#free()),
    () => this.#write(this.#some('file')),
    () => this.#do({ do: 'append', path: this.#unlinked(), bytes: Buffer.from('more'), time: this.#now() }),
    () => this.#do({ do: 'truncate', path: this.#unlinked(), size: this.#below(20), time: this.#now() }),
    () => this.#unlink(this.#some('leaf')),
    () => this.#mkdir(this.#free()),
    () => this.#remove(this.#some('folder')),
    () => this.#rename(this.#some('leaf'), this.#free()),
    () => this.#rename(this.#some('leaf'), this.#some('leaf')),
    () => this.#rename(this.#some('folder'), this.#free()),
    () => this.#rename(this.#some('folder'), this.#free()),
    () => this.#rename(this.#some('folder'), this.#some('folder')),
    () => this.#replace(this.#some('folder'), (path) => this.#write(path)),
    () => this.#replace(this.#some('leaf'), (path) => this.#folderWith(path)),
    () => this.#replace(this.#some('folder'), (path) => this.#folderWith(path)),
    () => this.#replace(this.#some('folder'), (path) => this.#folderWith(path)),
    () => this.#symlink(this.#free()),
    () => this.#replace(this.#some('leaf'), (path) => this.#symlink(path)),
    () => this.#chmod(this.#unlinked(), 0o600 | this.#below(64)),
    () => this.#chmod(this.#some('folder'), 0o700 | this.#below(64) | (this.#random() < 0.2 ? 0o1000 : 0)),
    () => this.#chown(this.#random() < 0.5 ? this.#unlinked() : this.#some('folder')),
    () => this.#do({ do: 'link', path: this.#some('file'), to: this.#free() }),
    () => this.#fifo(this.#free()),
    () => this.#deep(this.#some('folder')),
    // Copied up without a difference: new times, the same bytes again, mode there and back.
    () => this.#do({ do: 'touch', path: this.#unlinked(), time: this.#now() }),
    () => this.#rewrite(this.#unlinked()),
    () => this.#chmodAndBack(this.#some('folder')),
    // Bytes differ, size and times do not.
    () => this.#flip(this.#unlinked()),
  ]

  #do(edit: Edit): void {
    if (edit.path.length > LONGEST_PATH || ('to' in edit && edit.to.length > LONGEST_PATH)) return
    const code = applyEdit(this.#root, edit)
    this.#tell(edit, code)
  }

  #at(path: ByteString): Buffer {
    return toBytes(`${this.#root}/${path}`)
  }

  #below(count: number): number {
    return below(this.#random, count)
  }

  #name(): ByteString {
    return pick(this.#random, NAMES) ?? 'a'
  }

  #now(): number {
    return ++this.#time
  }

  #exists(path: ByteString): boolean {
    return this.#stat(path) !== null
  }

  #stat(path: ByteString): fs.Stats | null {
    try {
      return fs.lstatSync(this.#at(path))
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }

  #isLinked(path: ByteString): boolean {
    const stat = this.#stat(path)
    return stat !== null && !stat.isDirectory() && stat.nlink > 1
  }

  /** In an order that is every file system's. */
  #all(): { path: ByteString; kind: Kind }[] {
    const found: { path: ByteString; kind: Kind }[] = []
    const walk = (folder: ByteString): void => {
      for (const name of fs.readdirSync(this.#at(folder), { encoding: 'latin1' }).sort()) {
        const path = join(folder, name)
        const stat = fs.lstatSync(this.#at(path))
        found.push({ path, kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other' })
        if (stat.isDirectory()) walk(path)
      }
    }
    walk('')
    return found
  }

  #some(wanted: 'file' | 'folder' | 'leaf'): ByteString {
    const fits = this.#all().filter(({ kind }) => (wanted === 'leaf' ? kind !== 'folder' : kind === wanted))
    return pick(this.#random, fits)?.path ?? NOWHERE
  }

  /**
   * A file with one name, to be changed in place: an overlay parts the names of a file that it copies up, so what the
   * others show would depend on what was frozen when. Of several names one is written anew, as editors do.
   */
  #unlinked(): ByteString {
    const path = this.#some('file')
    if (this.#isLinked(path)) this.#write(path)
    return path
  }

  #free(): ByteString {
    const folders = ['', ...this.#all().flatMap(({ path, kind }) => (kind === 'folder' ? [path] : []))]
    const path = join(pick(this.#random, folders) ?? '', this.#name())
    return this.#exists(path) ? `${path.slice(0, path.lastIndexOf('/') + 240)}-${this.#below(1000)}` : path
  }

  #write(path: ByteString): void {
    if (this.#isLinked(path)) this.#unlink(path)
    this.#do({ do: 'write', path, bytes: Buffer.from(`text ${this.#below(1e6)}`), time: this.#now() })
  }

  #unlink(path: ByteString): void {
    this.#do({ do: 'unlink', path, time: this.#now() })
  }

  #mkdir(path: ByteString): void {
    this.#do({ do: 'mkdir', path, time: this.#now() })
  }

  #symlink(path: ByteString): void {
    this.#do({ do: 'symlink', path, target: `t${this.#below(99)}`, time: this.#now() })
  }

  #rename(path: ByteString, to: ByteString): void {
    // It would fail, in a way that depends on whether mv or the kernel says so.
    if (`${to}/`.startsWith(`${path}/`)) return
    if (this.#longestBeneath(path) + to.length > LONGEST_PATH) return
    // Of two names of one file nothing happens, or one vanishes: an overlay may have parted them.
    if (this.#isLinked(path) && this.#isLinked(to)) return
    this.#do({ do: 'rename', path, to })
  }

  /** Bytes of the longest path within a folder. */
  #longestBeneath(folder: ByteString): number {
    return Math.max(0, ...this.#all().map(({ path }) => (path.startsWith(`${folder}/`) ? path.length : 0)))
  }

  #remove(path: ByteString): void {
    const stat = this.#stat(path)
    if (stat === null) return
    if (stat.isDirectory()) {
      for (const name of fs.readdirSync(this.#at(path), { encoding: 'latin1' }).sort()) this.#remove(join(path, name))
      this.#do({ do: 'rmdir', path, time: this.#now() })
    } else this.#unlink(path)
  }

  #replace(path: ByteString, make: (path: ByteString) => void): void {
    this.#remove(path)
    make(path)
  }

  #folderWith(path: ByteString): void {
    this.#mkdir(path)
    for (let count = this.#below(3); count > 0; count--) {
      const inner = join(path, this.#name())
      if (this.#random() < 0.3 && !this.#exists(inner)) this.#mkdir(inner)
      else if (!this.#exists(inner)) this.#write(inner)
    }
  }

  #chmod(path: ByteString, mode: number): void {
    this.#do({ do: 'chmod', path, mode })
  }

  #chown(path: ByteString): void {
    if (this.#ownersToo) this.#do({ do: 'chown', path, uid: this.#below(3), gid: this.#below(3) })
  }

  /** mkfifo takes its path as an argument, which has to be text. */
  #fifo(path: ByteString): void {
    if (toByteString(toBytes(path).toString()) === path) this.#do({ do: 'fifo', path, time: this.#now() })
  }

  /** Folders in folders, down to the longest path, and a file there. */
  #deep(folder: ByteString): void {
    let path = folder
    for (let count = this.#below(14); count > 0 && path.length + 255 < LONGEST_PATH; count--) {
      path = join(path, 'deep'.padEnd(250, '-'))
      this.#mkdir(path)
    }
    this.#write(join(path, 'at the bottom'))
  }

  #rewrite(path: ByteString): void {
    if (path === NOWHERE) return
    this.#do({ do: 'write', path, bytes: fs.readFileSync(this.#at(path)), time: this.#now() })
  }

  #chmodAndBack(path: ByteString): void {
    if (path === NOWHERE) return
    const mode = fs.lstatSync(this.#at(path)).mode & 0o7777
    this.#chmod(path, 0o700)
    this.#chmod(path, mode)
  }

  #flip(path: ByteString): void {
    if (path === NOWHERE) return
    const bytes = fs.readFileSync(this.#at(path))
    bytes[0] = (bytes[0] ?? 0) ^ 1
    const time = Math.max(0, Math.round(fs.lstatSync(this.#at(path)).mtimeMs / 1000) - FIRST_SECOND)
    this.#do({ do: 'write', path, bytes, time })
  }
}
