/**
 * One host folder that a session began from: lists it once, then keeps to what the watches name. Where events were
 * lost, or the folder cannot be watched, the whole of it is looked through again in the background, and until that is
 * done nobody is told that it was checked.
 */
import { lstatSync, readdirSync, type Stats, statfsSync } from 'node:fs'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type ByteString, join, showPath, toByteString, toBytes } from '../layers/index.ts'
import { unsuitedFileSystem } from './file-systems.ts'
import { FolderWatches } from './folder-watches.ts'
import { type Attributes, type HostChangeStatus, Manifest } from './manifest.ts'

export interface TrackOptions {
  /** Names the session. */
  id: string
  folder: string
  /** Where the manifest is kept. */
  manifest: string
  /** When the session began, ms since 1970: what bears a later time when it is listed was changed since. */
  since: number
}

export interface HostChange {
  path: string
  status: HostChangeStatus
}

export interface HostReport {
  /** False where the folder was not looked through since it may have changed. */
  checked: boolean
  /** Whether the folder itself is there, and no other in its place. */
  there: boolean
  /** Entries that are not what they were when the session began. */
  changed: number
  /** The first of them, by path. */
  changes: HostChange[]
}

/** A report, and how many entries changed since the check before. */
export interface HostCheck extends HostReport {
  fresh: number
}

/** A path that a commit wrote, and what it put there; null for nothing. Numbers too large for a double are text. */
export interface Written {
  path: ByteString
  now: { ino: string; size: number; mtime: string; mode: number } | null
}

/** What became of some paths since the session began, or since they were last accepted; in their order. */
export interface HostComparison {
  /** Whether each is another, and its mode as it was; null where there was nothing. */
  paths: { differs: boolean; was: number | null }[]
  /** Whether anything in each is another. */
  trees: boolean[]
}

/** Entries between two pauses, in which other folders are served and events taken in. */
const ENTRIES_PER_TURN = 300
/** Paths that are named; the number says how many there are. */
const NAMED = 20
/** More touched paths than this are a mass of changes: looking through everything is as good. */
const MOST_TOUCHED = 50_000
/** Between an event and a look: a build or a checkout touches a file many times. */
const SETTLE_MS = 200
/** How long a check waits for the folder to be listed for the first time. */
const PATIENCE_MS = 1_000
/** How long a commit waits for that: without the list every file that shows may have been another before. */
const LISTING_MS = 20_000

export class TrackedFolder {
  readonly #options: TrackOptions
  readonly #root: ByteString
  readonly #report: (report: HostReport) => void
  readonly #manifest: Manifest
  readonly #watches: FolderWatches | null
  readonly #touched = new Set<ByteString>()
  readonly #fresh = new Set<ByteString>()
  #identity: { dev: number; ino: number }
  #listed: boolean
  /** Something may have changed that no event told of. */
  #lost: boolean
  #last: Promise<unknown> = Promise.resolve()
  #catchingUp: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #steps = 0
  #said = ''
  #closed = false

  /** @param report is told each time something was found */
  constructor(options: TrackOptions, report: (report: HostReport) => void) {
    const { folder, manifest } = options
    this.#options = options
    this.#root = toByteString(folder)
    this.#report = report
    const { dev, ino } = lstatSync(folder)
    this.#identity = { dev, ino }
    // On these, what others change at their end comes without a word.
    const told = unsuitedFileSystem(statfsSync(folder).type) === null
    this.#watches = told
      ? new FolderWatches({
          root: folder,
          touched: (path) => this.#touch(path),
          lost: () => this.#lose(),
        })
      : null
    // Last, as it is what would stay open.
    this.#manifest = Manifest.open(manifest)
    this.#listed = this.#manifest.complete
    // Nobody watched since an earlier host was there.
    this.#lost = this.#listed
    void this.#catchUp()
  }

  get #uncertain(): boolean {
    return !this.#listed || this.#lost || this.#watches?.whole !== true
  }

  /** Looks at what was touched since, and says how things stand. */
  async check(): Promise<HostCheck> {
    // What happened before the question is in the kernel's queue by now: taken in with the next turn of the loop.
    await turn()
    await turn()
    if (!this.#listed) await Promise.race([this.#catchUp(), sleep(PATIENCE_MS, null, { ref: false })])
    if (this.#uncertain) void this.#catchUp()
    else await this.#alone(() => this.#tryToLook())
    return { ...this.#describe(), fresh: this.#takeFresh() }
  }

  /**
   * Which entries are not what they were when the session began, or when they were last accepted.
   * @param trees paths that count as changed where anything in them was
   * @returns null where the folder was never listed whole
   */
  async compare(paths: readonly ByteString[], trees: readonly ByteString[]): Promise<HostComparison | null> {
    if (!this.#listed) await Promise.race([this.#catchUp(), sleep(LISTING_MS, null, { ref: false })])
    if (!this.#listed) return null
    const found: HostComparison = { paths: [], trees: [] }
    await this.#alone(async () => {
      for (const path of paths) {
        found.paths.push({ differs: this.#differs(path), was: this.#manifest.entry(path)?.mode ?? null })
        await this.#pause(1)
      }
      for (const tree of trees) found.trees.push(await this.#treeDiffers(tree))
    })
    return found
  }

  /**
   * Takes what was written at these paths for what the session began from: it wrote it. One that somebody else wrote to
   * since counts as changed.
   */
  accept(entries: readonly Written[]): Promise<void> {
    return this.#alone(async () => {
      // One that is not there yet is listed as it is, with all that is in it.
      if (!this.#listed) return
      for (let start = 0; start < entries.length && !this.#closed; start += ENTRIES_PER_TURN) {
        this.#manifest.transaction(() => {
          for (const { path, now } of entries.slice(start, start + ENTRIES_PER_TURN)) {
            const stat = this.#stat(path)
            if (!isAsWritten(stat, now)) continue
            this.#manifest.accept(path, stat && attributesOf(stat))
            this.#touched.delete(path)
            this.#fresh.delete(path)
            if (stat?.isDirectory()) this.#watches?.add(path)
          }
        })
        await turn()
      }
      this.#say()
    })
  }

  #differs(path: ByteString): boolean {
    const stat = this.#stat(path)
    return !sameAttributes(this.#manifest.entry(path), stat && attributesOf(stat))
  }

  async #treeDiffers(tree: ByteString): Promise<boolean> {
    if (this.#differs(tree)) return true
    const folders = [tree]
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = this.#entries(folder)
      const here = new Set(entries.map(([name]) => name))
      if (this.#manifest.names(folder).some((name) => !here.has(name))) return true
      for (const [name, stat] of entries) {
        const path = join(folder, name)
        if (!sameAttributes(this.#manifest.entry(path), attributesOf(stat))) return true
        if (stat.isDirectory()) folders.push(path)
      }
      await this.#pause(entries.length)
    }
    return false
  }

  /** Resolves when nothing of it is open any more. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#watches?.close()
    await this.#alone(async () => this.#manifest.close())
  }

  /**
   * Lists the folder, or looks through the whole of it, until nothing is uncertain. Where that fails (a full disk) things
   * stay uncertain, and whoever asks next tries again.
   */
  #catchUp(): Promise<void> {
    this.#catchingUp ??= this.#alone(() => (this.#listed ? this.#scan() : this.#list())).then(
      () => {
        this.#catchingUp = null
        // More was lost meanwhile.
        if (this.#lost && this.#there && !this.#closed) void this.#catchUp()
      },
      () => {
        this.#catchingUp = null
        this.#lost = true
      },
    )
    return this.#catchingUp
  }

  /** The first listing. Each folder is watched before it is listed, so that nothing falls between the two. */
  async #list(): Promise<void> {
    const { since } = this.#options
    // What an attempt that failed has left.
    this.#manifest.clear()
    const folders: ByteString[] = ['']
    for (let path = folders.pop(); path !== undefined && !this.#closed; path = folders.pop()) {
      const folder = path
      const own = this.#stat(folder)
      if (own === null || !this.#isOurs(own)) continue
      this.#watches?.add(folder)
      const entries = this.#entries(folder)
      this.#manifest.transaction(() => {
        const id = this.#manifest.addFolder(folder)
        for (const [name, stat] of entries) {
          const changedSince = stat.ctimeMs > since
          // No entry has such a number: what it was like before is not known, but not this.
          this.#manifest.addEntry(id, name, { ...attributesOf(stat), ...(changedSince ? { ino: -1 } : {}) })
          if (changedSince) this.#touched.add(join(folder, name))
          if (stat.isDirectory()) folders.push(join(folder, name))
        }
      })
      await this.#pause(entries.length)
    }
    if (this.#closed) return
    this.#manifest.finish()
    this.#listed = true
    await this.#look()
    this.#say()
  }

  /** Looks through everything. */
  async #scan(): Promise<void> {
    if (!this.#there) return
    this.#lost = false
    this.#touched.clear()
    const folders: ByteString[] = ['']
    for (let path = folders.pop(); path !== undefined && !this.#closed; path = folders.pop()) {
      const own = this.#stat(path)
      if (own === null || !this.#isOurs(own)) continue
      this.#watches?.add(path)
      const entries = this.#entries(path)
      const here = new Set(entries.map(([name]) => name))
      for (const [name, stat] of entries) {
        const child = join(path, name)
        const seen = this.#judge(child, stat)
        if (stat.isDirectory()) folders.push(child)
        else this.#follow(child, stat, seen)
      }
      for (const name of this.#manifest.names(path)) if (!here.has(name)) this.#touched.add(join(path, name))
      await this.#pause(entries.length)
    }
    if (this.#closed) return
    for (const { path } of this.#manifest.differences(Number.MAX_SAFE_INTEGER)) this.#touched.add(path)
    await this.#look()
    this.#say()
  }

  /** Where it fails (a full disk) things are uncertain. */
  async #tryToLook(): Promise<void> {
    try {
      await this.#look()
    } catch {
      this.#lost = true
    }
  }

  /** Looks at what was touched, and at what lies beneath it where a folder came or went. */
  async #look(): Promise<void> {
    for (const path of this.#touched) {
      if (this.#closed || !this.#there) return
      // The folder itself counts by being there.
      if (path !== '') {
        const stat = this.#stat(path)
        this.#follow(path, stat, this.#judge(path, stat))
      }
      this.#touched.delete(path)
      await this.#pause(1)
    }
  }

  /** Notes how an entry differs by now. @returns how it was when it was last looked at */
  #judge(path: ByteString, stat: Stats | null): Attributes | null {
    const manifest = this.#manifest
    const now = stat && attributesOf(stat)
    const was = manifest.entry(path)
    const difference = manifest.difference(path)
    const seen = difference ? difference.seen : was
    if (sameAttributes(seen, now)) return seen
    this.#fresh.add(path)
    const status = was === null ? 'added' : now === null ? 'deleted' : 'modified'
    if (sameAttributes(was, now)) manifest.removeDifference(path)
    else manifest.setDifference(path, { status, seen: now })
    return seen
  }

  /** What lies beneath is touched where a folder came, went, or took another one's place. */
  #follow(path: ByteString, stat: Stats | null, seen: Attributes | null): void {
    const touch = (children: Iterable<ByteString>) => {
      for (const child of children) this.#touched.add(child)
    }
    const wasFolder = seen !== null && isFolder(seen.mode)
    if (stat?.isDirectory() && this.#isOurs(stat)) {
      this.#watches?.add(path)
      touch(this.#entries(path).map(([name]) => join(path, name)))
    } else this.#watches?.remove(path)
    if (wasFolder) touch(this.#manifest.beneath(path))
  }

  #touch(path: ByteString): void {
    if (this.#touched.size >= MOST_TOUCHED) this.#lose()
    else this.#touched.add(path)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      void this.#alone(async () => {
        if (!this.#uncertain) await this.#tryToLook()
        this.#say()
      })
    }, SETTLE_MS)
  }

  /** Anything may have changed. */
  #lose(): void {
    this.#lost = true
    void this.#catchUp()
  }

  #say(): void {
    const report = this.#describe()
    const said = JSON.stringify(report)
    if (said !== this.#said) this.#report(report)
    this.#said = said
  }

  #describe(): HostReport {
    const there = this.#there
    return {
      checked: there && !this.#uncertain,
      there,
      changed: this.#manifest.count,
      changes: this.#manifest.differences(NAMED).map(({ path, status }) => ({ path: showPath(path).path, status })),
    }
  }

  /** Whether the folder is where it was. Another one in its place is another project. */
  get #there(): boolean {
    const root = this.#stat('')
    return root?.ino === this.#identity.ino && root.dev === this.#identity.dev
  }

  #takeFresh(): number {
    const { size } = this.#fresh
    this.#fresh.clear()
    return size
  }

  /** Another file system that is mounted in the folder is no part of what the session began from. */
  #isOurs(stat: Stats): boolean {
    return stat.dev === this.#identity.dev
  }

  #stat(path: ByteString): Stats | null {
    try {
      return lstatSync(toBytes(path === '' ? this.#root : `${this.#root}/${path}`), { throwIfNoEntry: false }) ?? null
    } catch (error) {
      // ELOOP, ENAMETOOLONG: another kind of entry took a folder's place. EACCES: nor can the sandbox see it.
      if (PASSING.has((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }

  #entries(folder: ByteString): [ByteString, Stats][] {
    let names: ByteString[]
    try {
      names = readdirSync(toBytes(`${this.#root}/${folder}`), { encoding: 'latin1' })
    } catch (error) {
      if (PASSING.has((error as NodeJS.ErrnoException).code ?? '')) return []
      throw error
    }
    return names.flatMap((name) => {
      const stat = this.#stat(join(folder, name))
      return stat ? [[name, stat] as [ByteString, Stats]] : []
    })
  }

  async #pause(entries: number): Promise<void> {
    this.#steps += entries
    if (this.#steps < ENTRIES_PER_TURN) return
    this.#steps = 0
    await turn()
  }

  /** One thing at a time. What fails is said by the next that is asked. */
  #alone(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

const PASSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'ESTALE', 'ENODEV'])

const FORMAT_BITS = 0o170000
const FOLDER_BITS = 0o040000

const isFolder = (mode: number): boolean => (mode & FORMAT_BITS) === FOLDER_BITS

function isAsWritten(stat: Stats | null, now: Written['now']): boolean {
  if (stat === null || now === null) return stat === now
  if (String(stat.ino) !== now.ino) return false
  // By whole milliseconds: a double does not hold a time to the last digit.
  return (
    isFolder(now.mode) ||
    (stat.size === now.size && Math.floor(stat.mtimeMs) === Number(BigInt(now.mtime) / 1_000_000n))
  )
}

const attributesOf = ({ mode, size, mtimeMs, ctimeMs, ino }: Stats): Attributes => ({
  mode,
  size,
  mtime: mtimeMs,
  ctime: ctimeMs,
  ino,
})

/** Folders are the same while they are theirs: that entries come and go in them is told by the entries. */
function sameAttributes(one: Attributes | null, other: Attributes | null): boolean {
  if (one === null || other === null) return one === other
  if (one.mode !== other.mode || one.ino !== other.ino) return false
  return isFolder(one.mode) || (one.size === other.size && one.mtime === other.mtime && one.ctime === other.ctime)
}
