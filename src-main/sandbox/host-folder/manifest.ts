/**
 * What a host folder held when a session began from it, entry by entry, and where it differs by now. On the disk: a
 * workspace may have a million entries, and what stands here has to outlive the host that wrote it.
 */
import { rmSync } from 'node:fs'
import SQLite, { type Database, type Statement } from 'better-sqlite3'
import { type ByteString, join } from '../layers/index.ts'

/** Of an entry, what tells that it is the same as before. Times in ms since 1970. */
export interface Attributes {
  mode: number
  size: number
  mtime: number
  ctime: number
  ino: number
}

export type HostChangeStatus = 'added' | 'modified' | 'deleted'

/** An entry that is not as the manifest has it; `seen` is what it was like last, null where it was gone. */
export interface Difference {
  status: HostChangeStatus
  seen: Attributes | null
}

/** Paths are byte strings: as text they sort as their bytes do. */
const SCHEMA = `
  CREATE TABLE folders (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
  CREATE TABLE entries (
    folder INTEGER, name TEXT, mode INTEGER, size REAL, mtime REAL, ctime REAL, ino REAL, PRIMARY KEY (folder, name)
  ) WITHOUT ROWID;
  CREATE TABLE differences (
    path TEXT PRIMARY KEY, status TEXT, mode INTEGER, size REAL, mtime REAL, ctime REAL, ino REAL
  ) WITHOUT ROWID;
`
/** As `user_version`: the schema is there, and so is every entry. */
const COMPLETE = 1

interface DifferenceRow extends Attributes {
  path: ByteString
  status: HostChangeStatus
}

export class Manifest {
  readonly #db: Database
  readonly #prepared = new Map<string, Statement>()

  /**
   * Opens it; one that is damaged, or was not finished, is begun anew.
   * @throws SqliteError (SQLITE_FULL, SQLITE_CANTOPEN and the like); nothing of it is open then
   */
  static open(file: string): Manifest {
    try {
      const known = connect(file, (db) => (isComplete(db) ? new Manifest(db) : null))
      if (known) return known
    } catch (error) {
      if (!(error instanceof SQLite.SqliteError) || !/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error
    }
    Manifest.remove(file)
    return connect(file, (db) => new Manifest(db.exec(SCHEMA)))
  }

  static remove(file: string): void {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true })
  }

  private constructor(db: Database) {
    this.#db = db
  }

  close(): void {
    this.#db.close()
  }

  /** Whether it has every entry. */
  get complete(): boolean {
    return isComplete(this.#db)
  }

  /** Forgets every entry. */
  clear(): void {
    this.#db.exec('DELETE FROM entries; DELETE FROM folders; DELETE FROM differences;')
  }

  finish(): void {
    this.#db.pragma(`user_version = ${COMPLETE}`)
  }

  transaction<T>(work: () => T): T {
    return this.#db.transaction(work)()
  }

  addFolder(path: ByteString): number {
    return Number(this.#sql('INSERT INTO folders (path) VALUES (?)').run(path).lastInsertRowid)
  }

  addEntry(folder: number, name: ByteString, { mode, size, mtime, ctime, ino }: Attributes): void {
    this.#sql('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)').run(folder, name, mode, size, mtime, ctime, ino)
  }

  /** Has an entry be what it is now, and no difference. @param now null where it is gone, and all that was beneath it */
  accept(path: ByteString, now: Attributes | null): void {
    const slash = path.lastIndexOf('/')
    const [parent, name] = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)]
    this.#sql('DELETE FROM entries WHERE folder = (SELECT id FROM folders WHERE path = ?) AND name = ?').run(
      parent,
      name,
    )
    this.removeDifference(path)
    if (now !== null) this.addEntry(this.#folder(parent), name, now)
    else {
      const within = '(SELECT id FROM folders WHERE path = ? OR (path > ? AND path < ?))'
      const range = [path, `${path}/`, `${path}0`]
      this.#sql(`DELETE FROM entries WHERE folder IN ${within}`).run(...range)
      this.#sql(`DELETE FROM folders WHERE id IN ${within}`).run(...range)
    }
  }

  /** Its number; listed as a folder from here on. */
  #folder(path: ByteString): number {
    const row = this.#sql('SELECT id FROM folders WHERE path = ?').get(path) as { id: number } | undefined
    return row?.id ?? this.addFolder(path)
  }

  entry(path: ByteString): Attributes | null {
    const slash = path.lastIndexOf('/')
    const select = `SELECT mode, size, mtime, ctime, ino FROM entries
      WHERE folder = (SELECT id FROM folders WHERE path = ?) AND name = ?`
    const row = this.#sql(select).get(path.slice(0, Math.max(0, slash)), path.slice(slash + 1))
    return (row as Attributes | undefined) ?? null
  }

  /** Names that a folder had. */
  names(folder: ByteString): ByteString[] {
    const select = 'SELECT name FROM entries WHERE folder = (SELECT id FROM folders WHERE path = ?)'
    return (this.#sql(select).all(folder) as { name: ByteString }[]).map(({ name }) => name)
  }

  /** Everything that a folder had, at any depth, and everything beneath it that was seen since. */
  *beneath(folder: ByteString): Generator<ByteString> {
    const range = [`${folder}/`, `${folder}0`]
    const folders = this.#sql('SELECT path FROM folders WHERE path = ? OR (path > ? AND path < ?)').all(
      folder,
      ...range,
    )
    for (const { path } of folders as { path: ByteString }[])
      for (const name of this.names(path)) yield join(path, name)
    const seen = this.#sql("SELECT path FROM differences WHERE path > ? AND path < ? AND status = 'added'").all(
      ...range,
    )
    for (const { path } of seen as { path: ByteString }[]) yield path
  }

  difference(path: ByteString): Difference | null {
    const row = this.#sql('SELECT * FROM differences WHERE path = ?').get(path) as DifferenceRow | undefined
    return row ? differenceOf(row) : null
  }

  setDifference(path: ByteString, { status, seen }: Difference): void {
    const { mode, size, mtime, ctime, ino } = seen ?? { mode: null, size: null, mtime: null, ctime: null, ino: null }
    const put = 'INSERT OR REPLACE INTO differences VALUES (?, ?, ?, ?, ?, ?, ?)'
    this.#sql(put).run(path, status, mode, size, mtime, ctime, ino)
  }

  removeDifference(path: ByteString): void {
    this.#sql('DELETE FROM differences WHERE path = ?').run(path)
  }

  get count(): number {
    return (this.#sql('SELECT count(*) AS count FROM differences').get() as { count: number }).count
  }

  /** By path. */
  differences(limit: number): { path: ByteString; status: HostChangeStatus }[] {
    const rows = this.#sql('SELECT path, status FROM differences ORDER BY path LIMIT ?').all(limit)
    return rows as { path: ByteString; status: HostChangeStatus }[]
  }

  #sql(text: string): Statement {
    const statement = this.#prepared.get(text) ?? this.#db.prepare(text)
    this.#prepared.set(text, statement)
    return statement
  }
}

const isComplete = (db: Database): boolean => db.pragma('user_version', { simple: true }) === COMPLETE

/** @param use what is made of the connection: where that fails, or is nothing, it is closed again */
function connect<M extends Manifest | null>(file: string, use: (db: Database) => M): M {
  const db = new SQLite(file)
  let made: M | null = null
  try {
    db.pragma('journal_mode = WAL')
    // What a power cut takes is found out again as well as that can be.
    db.pragma('synchronous = OFF')
    made = use(db)
    return made
  } finally {
    if (made === null) db.close()
  }
}

const differenceOf = ({ status, mode, size, mtime, ctime, ino }: DifferenceRow): Difference => ({
  status,
  seen: status === 'deleted' ? null : { mode, size, mtime, ctime, ino },
})
