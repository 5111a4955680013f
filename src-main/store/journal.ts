/**
 * Operations that were begun and not yet recorded. A row is written before the sandbox is touched and goes in the
 * transaction that records the outcome, so whatever stands here after a crash is what recovery has to judge.
 */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { json, table, time } from './table.ts'

const journalRow = z.object({
  operation: z.string(),
  session: z.string(),
  kind: z.string(),
  /** What was to be done, as the operation's own code wrote it. */
  intent: json(z.unknown()),
  begunAt: time,
})
export type JournalRow = z.output<typeof journalRow>

export function journalRepository(db: Database) {
  const rows = table(db, 'journal', journalRow, ['operation'])
  const close = db.prepare<[string]>('DELETE FROM journal WHERE operation = ?')
  const open = db.prepare<[string | null, string | null]>(
    'SELECT * FROM journal WHERE ? IS NULL OR session = ? ORDER BY rowid',
  )
  return {
    begin: (row: Omit<JournalRow, 'begunAt'>): void => rows.insert({ ...row, begunAt: new Date() }),
    /** Closing what is closed does nothing: recovery may have to say it twice. */
    close(operation: string): void {
      close.run(operation)
    },
    /** In the order in which they were begun; of all sessions where none is named. */
    open: (session: string | null = null): JournalRow[] => open.all(session, session).map(rows.read),
  }
}
