/** The store: one repository per table over one connection, and the transaction that holds their changes together. */
import type { Database } from 'better-sqlite3'
import { commandRepository } from './commands.ts'
import { commitRepository } from './commits.ts'
import { atomic, connect, durable, guarded } from './database.ts'
import { escalationRepository } from './escalations.ts'
import { eventRepository } from './events.ts'
import { journalRepository } from './journal.ts'
import { ledgerRepository } from './ledger.ts'
import { messageRepository } from './messages.ts'
import { pointRepository } from './points.ts'
import { rewindRepository } from './rewinds.ts'
import { sessionRepository } from './sessions.ts'
import { settingRepository } from './settings.ts'
import { toolCallRepository } from './tool-calls.ts'

export type Store = ReturnType<typeof storeOver>

/** The repositories over a connection that is already set up. */
export function storeOver(db: Database) {
  const over = <R extends object>(make: (db: Database) => R) => guarded(make(db), db.name)
  const messages = over(messageRepository)
  const ledger = over(ledgerRepository)
  /** What is remembered of histories goes with work that was taken back. */
  const restoring = <T>(run: () => T): T => {
    try {
      return run()
    } catch (error) {
      messages.forget()
      throw error
    }
  }
  return {
    ...guarded(
      {
        /**
         * Runs `work` as one: returning commits, throwing restores. One within another is restored alone.
         * @param work synchronous: a promise is refused, for it would be settled outside
         */
        transaction: <T>(work: () => T): T => restoring(atomic(db, work)),
        /** As `transaction`, and on the disk when it returns: for what recovery after a power cut builds on. */
        durably: <T>(work: () => T): T => restoring(() => durable(db, work)),
        close: (): void => {
          ledger.flush()
          db.close()
        },
      },
      db.name,
    ),
    sessions: over(sessionRepository),
    points: over(pointRepository),
    messages,
    ledger,
    commands: over(commandRepository),
    commits: over(commitRepository),
    journal: over(journalRepository),
    escalations: over(escalationRepository),
    events: over(eventRepository),
    toolCalls: over(toolCallRepository),
    rewinds: over(rewindRepository),
    settings: over(settingRepository),
  }
}

/**
 * Opens the store, made where it is missing. One process at a time: the host's lock sees to that.
 * @throws StoreUnavailableError (a newer version's, damaged, cannot be opened), DiskFullError
 */
export const openStore = (file: string): Store => storeOver(connect(file))
