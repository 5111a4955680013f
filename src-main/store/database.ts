/**
 * One connection to the store's file (WAL), and the words in which its failures are told. A commit survives the death of
 * the process at once; what must survive a power cut too says so ({@link durable}), since each such commit waits for the disk.
 */
import { closeSync, openSync } from 'node:fs'
import SQLite, { type Database } from 'better-sqlite3'
import { DiskFullError, InternalError, StoreUnavailableError } from '../contract/index.ts'
import { migrate, versionOf } from './migrate.ts'

/**
 * Opens the file, made where it is missing and readable by its owner alone, and brings it to today's schema.
 * @throws StoreUnavailableError (a newer version's, damaged, cannot be opened), DiskFullError
 */
export function connect(file: string): Database {
  let db: Database | undefined
  try {
    // SQLite gives its side files the mode that the main file has.
    closeSync(openSync(file, 'a', 0o600))
    db = new SQLite(file)
    versionOf(db)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    migrate(db)
    return db
  } catch (error) {
    db?.close()
    throw storeError(error, file)
  }
}

const fullDisk = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])

/** @returns the error as one of our classes; ours and what a caller's own code threw pass through. */
export function storeError(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  if (code === null) return error
  const options = { cause: error, data: { file, code } }
  if (fullDisk.has(code))
    return new DiskFullError(`The disk that holds ${file} is full; nothing was changed.`, {
      ...options,
      nextStep:
        'Free some space and repeat the call: `rewind sessions` lists what there is, `rewind destroy` removes what a session holds.',
    })
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB')
    return new StoreUnavailableError(`The store ${file} is damaged: ${error.message}.`, {
      ...options,
      nextStep: `Stop Rewind and put a copy of the file back, or move it away (${file}.damaged) and begin with an empty one; workspaces on the host are not touched by this.`,
    })
  if (error instanceof SQLite.SqliteError && code.startsWith('SQLITE_CONSTRAINT'))
    return new InternalError(`The store refused a record: ${error.message}.`, options)
  if (error instanceof SQLite.SqliteError || 'syscall' in error)
    return new StoreUnavailableError(`The store ${file} cannot be used: ${error.message}.`, {
      ...options,
      nextStep: 'See that the data folder exists, belongs to you and can be written to.',
    })
  return error
}

/** The same function, run whole or not at all; within a transaction it is restored alone. */
export const atomic = <A extends unknown[], T>(db: Database, work: (...args: A) => T): ((...args: A) => T) =>
  db.transaction(work).immediate

/** As {@link atomic}, and on the disk when it returns. Within a transaction the outer one decides. */
export function durable<T>(db: Database, work: () => T): T {
  if (db.inTransaction) return atomic(db, work)()
  db.pragma('synchronous = FULL')
  try {
    return atomic(db, work)()
  } finally {
    db.pragma('synchronous = NORMAL')
  }
}

type Method = (...args: unknown[]) => unknown

/** The same functions, whose failures come as our classes. @param repository an object of functions alone */
export function guarded<R extends object>(repository: R, file: string): R {
  const guard =
    (method: Method): Method =>
    (...args) => {
      try {
        return method(...args)
      } catch (error) {
        throw storeError(error, file)
      }
    }
  const methods = Object.entries(repository as Record<string, Method>)
  return Object.fromEntries(methods.map(([name, method]) => [name, guard(method)])) as R
}
