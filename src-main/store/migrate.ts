/**
 * Brings a database to the schema that this version knows. Each migration runs once, in a transaction of its own that
 * also moves `user_version`, so a crash leaves the database at a version that exists. What a newer version wrote is
 * refused untouched: half understanding it would lose what it added.
 */
import type { Database } from 'better-sqlite3'
import { StoreUnavailableError } from '../contract/index.ts'
import { agents } from './migrations/2026-11-29-agents.ts'
import { engines } from './migrations/2026-11-29-engines.ts'
import { first } from './migrations/2026-11-29-first.ts'
import { host } from './migrations/2026-11-29-host.ts'
import { pins } from './migrations/2026-11-29-pins.ts'
import { terminals } from './migrations/2026-11-29-terminals.ts'
import { toolCalls } from './migrations/2026-11-29-tool-calls.ts'
import { trees } from './migrations/2026-11-29-trees.ts'
import { commitParts } from './migrations/2026-11-30-commit-parts.ts'
import { commits } from './migrations/2026-11-30-commits.ts'
import { conversations } from './migrations/2026-11-30-conversations.ts'
import { escalations } from './migrations/2026-11-30-escalations.ts'
import { guarded } from './migrations/2026-11-30-guarded.ts'
import { held } from './migrations/2026-11-30-held.ts'
import { openPorts } from './migrations/2026-11-30-open-ports.ts'

export interface Migration {
  /** Its file's name: the day it was written and what it is about. */
  name: string
  /** What is to be done with what there is, before the statements; done again where a crash came between. */
  before?: (db: Database) => void
  statements: string
}

/** Oldest first; a released one is never changed. The schema's version is how many have run. */
export const migrations: readonly Migration[] = [
  first,
  pins,
  agents,
  terminals,
  trees,
  host,
  toolCalls,
  engines,
  guarded,
  conversations,
  escalations,
  commits,
  held,
  commitParts,
  openPorts,
]

/**
 * Throws where a newer version has written the database. Reads alone, so that it can be asked before anything is changed.
 * @returns the version the database is at; 0 for an empty one
 * @throws StoreUnavailableError
 */
export function versionOf(db: Database, known: readonly Migration[] = migrations): number {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > known.length)
    throw new StoreUnavailableError(
      `The store ${db.name} was written by a newer version of Rewind: its schema is ${version}, this version knows up to ${known.length}.`,
      {
        nextStep: 'Update Rewind, or set REWIND_HOME to another folder to work with this version.',
        data: { file: db.name, version, known: known.length },
      },
    )
  return version
}

/** Runs the migrations that the database has not seen yet. */
export function migrate(db: Database, known: readonly Migration[] = migrations): void {
  for (let version = versionOf(db, known); version < known.length; version++) {
    const migration = known[version]
    if (!migration) break
    db.transaction(() => {
      migration.before?.(db)
      db.exec(migration.statements)
      db.pragma(`user_version = ${version + 1}`)
    }).immediate()
  }
}
