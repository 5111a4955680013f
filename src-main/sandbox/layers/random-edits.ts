/** For tests: a seeded program of the edits that people, agents and their tools make. */
import * as fs from 'node:fs'
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

const NAMES = [
  ...['a', 'b', 'c', 'dir1', 'dir2', 'sp ace', 'new\nline', 'col:on,com=ma', '.wh.x', '..dots', 'back\\slash', '\\n'],
  ...['-dash', '"quo\'te', 'a*?', 'ünï', 'tab\t'].map((name) => toByteString(name)),
  'bad\xff\xfeutf8',
]

/** What an edit is given that finds nothing to edit: it fails with ENOENT. */
const NOWHERE = 'no/such/path'

const below = (random: Random, count: number): number => Math.floor(random() * count)
const pick = <T>(random: Random, from: readonly T[]): T | undefined => from[below(random, from.length)]

/** Edits one tree; `ownersToo` where files may be given to others (real root). */
export class Editor {
  readonly #root: ByteString
  readonly #random: Random
  readonly #ownersToo: boolean

  constructor(root: string, random: Random, ownersToo: boolean) {
    this.#root = toByteString(root)
    this.#random = random
    this.#ownersToo = ownersToo
  }

  fill(folder: ByteString = '', depth = 0): void {
    for (let count = 2 + below(this.#random, 5); count > 0; count--) {
      const path = join(folder, pick(this.#random, NAMES) ?? 'a')
      if (this.#exists(path)) continue
      const what = this.#random()
      if (what < 0.4 && depth < 3) {
        fs.mkdirSync(this.#at(path))
        this.fill(path, depth + 1)
      } else if (what < 0.9) this.#write(path)
      else fs.symlinkSync(`t${below(this.#random, 9)}`, this.#at(path))
    }
  }

  edit(): void {
    const edit = pick(this.#random, this.#edits)
    try {
      edit?.()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const harmless = ['EEXIST', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EXDEV', 'ENOENT']
      if (code === undefined || !harmless.includes(code)) throw error
    }
  }

  readonly #edits: readonly (() => void)[] = [
    () => this.#write(this.#free()),
    () => this.#write(this.#some('file')),
    () => fs.appendFileSync(this.#at(this.#some('file')), 'more'),
    () => fs.unlinkSync(this.#at(this.#some('leaf'))),
    () => fs.mkdirSync(this.#at(this.#free())),
    () => this.#remove(this.#some('folder')),
    () => fs.renameSync(this.#at(this.#some('leaf')), this.#at(this.#free())),
    () => this.#move(this.#some('folder'), this.#free()),
    () => this.#move(this.#some('folder'), this.#free()),
    () => this.#replace(this.#some('folder'), (path) => this.#write(path)),
    () => this.#replace(this.#some('leaf'), (path) => this.#folderWith(path)),
    () => this.#replace(this.#some('folder'), (path) => this.#folderWith(path)),
    () => this.#replace(this.#some('folder'), (path) => this.#folderWith(path)),
    () => fs.symlinkSync(`t${below(this.#random, 99)}`, this.#at(this.#free())),
    () => this.#replace(this.#some('leaf'), (path) => fs.symlinkSync(`u${this.#random()}`, this.#at(path))),
    () => fs.chmodSync(this.#at(this.#some('file')), 0o600 | below(this.#random, 64)),
    () => fs.chmodSync(this.#at(this.#some('folder')), 0o700 | below(this.#random, 64)),
    () => this.#chown(this.#some(this.#random() < 0.5 ? 'leaf' : 'folder')),
    () => fs.linkSync(this.#at(this.#some('file')), this.#at(this.#free())),
    // Copied up without a difference: new times, the same bytes again, mode there and back.
    () => fs.utimesSync(this.#at(this.#some('leaf')), 1, 1),
    () => this.#rewrite(this.#some('file')),
    () => this.#chmodAndBack(this.#some('folder')),
    // Bytes differ, size and times do not.
    () => this.#flip(this.#some('file')),
  ]

  #at(path: ByteString): Buffer {
    return toBytes(`${this.#root}/${path}`)
  }

  #exists(path: ByteString): boolean {
    return fs.lstatSync(this.#at(path), { throwIfNoEntry: false }) !== undefined
  }

  #all(): { path: ByteString; kind: 'file' | 'folder' | 'other' }[] {
    const found: { path: ByteString; kind: 'file' | 'folder' | 'other' }[] = []
    const walk = (folder: ByteString): void => {
      for (const name of fs.readdirSync(this.#at(folder), { encoding: 'latin1' })) {
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

  #free(): ByteString {
    const folders = ['', ...this.#all().flatMap(({ path, kind }) => (kind === 'folder' ? [path] : []))]
    const path = join(pick(this.#random, folders) ?? '', pick(this.#random, NAMES) ?? 'a')
    return this.#exists(path) ? `${path}-${below(this.#random, 1000)}` : path
  }

  #write(path: ByteString): void {
    fs.writeFileSync(this.#at(path), `text ${below(this.#random, 1e6)}`)
  }

  #remove(path: ByteString): void {
    if (!this.#exists(path)) return
    // Node's own rm takes no names that are not UTF-8.
    if (fs.lstatSync(this.#at(path)).isDirectory()) {
      for (const name of fs.readdirSync(this.#at(path), { encoding: 'latin1' })) this.#remove(join(path, name))
      fs.rmdirSync(this.#at(path))
    } else fs.unlinkSync(this.#at(path))
  }

  #replace(path: ByteString, make: (path: ByteString) => void): void {
    this.#remove(path)
    make(path)
  }

  #folderWith(path: ByteString): void {
    fs.mkdirSync(this.#at(path))
    for (let count = below(this.#random, 3); count > 0; count--) {
      const inner = join(path, pick(this.#random, NAMES) ?? 'a')
      if (this.#random() < 0.3 && !this.#exists(inner)) fs.mkdirSync(this.#at(inner))
      else if (!this.#exists(inner)) this.#write(inner)
    }
  }

  /** Like mv: a rename, and where the overlay takes none for folders, a copy. */
  #move(from: ByteString, to: ByteString): void {
    if (from === NOWHERE || `${to}/`.startsWith(`${from}/`)) return
    try {
      fs.renameSync(this.#at(from), this.#at(to))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      this.#copy(from, to)
      this.#remove(from)
    }
  }

  #copy(from: ByteString, to: ByteString): void {
    const stat = fs.lstatSync(this.#at(from))
    if (stat.isDirectory()) {
      fs.mkdirSync(this.#at(to))
      for (const name of fs.readdirSync(this.#at(from), { encoding: 'latin1' }))
        this.#copy(join(from, name), join(to, name))
      fs.chmodSync(this.#at(to), stat.mode & 0o7777)
    } else if (stat.isSymbolicLink()) {
      fs.symlinkSync(fs.readlinkSync(this.#at(from), { encoding: 'buffer' }), this.#at(to))
    } else if (stat.isFile()) fs.writeFileSync(this.#at(to), fs.readFileSync(this.#at(from)))
  }

  #chown(path: ByteString): void {
    if (this.#ownersToo) fs.lchownSync(this.#at(path), below(this.#random, 3), below(this.#random, 3))
  }

  #rewrite(path: ByteString): void {
    fs.writeFileSync(this.#at(path), fs.readFileSync(this.#at(path)))
  }

  #chmodAndBack(path: ByteString): void {
    const mode = fs.lstatSync(this.#at(path)).mode & 0o7777
    fs.chmodSync(this.#at(path), 0o700)
    fs.chmodSync(this.#at(path), mode)
  }

  #flip(path: ByteString): void {
    const { atime, mtime } = fs.lstatSync(this.#at(path))
    const bytes = fs.readFileSync(this.#at(path))
    bytes[0] = (bytes[0] ?? 0) ^ 1
    fs.writeFileSync(this.#at(path), bytes)
    fs.utimesSync(this.#at(path), atime, mtime)
  }
}
