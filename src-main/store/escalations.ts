/** Escalations: the question, its evidence, and what was decided. One that is no longer open never changes its answer. */
import type { Database } from 'better-sqlite3'
import { Escalation, Evidence } from '../contract/index.ts'
import { flag, json, table, time } from './table.ts'

const escalationRow = Escalation.extend({
  raisedAt: time,
  answeredAt: time.nullable(),
  evidence: json(Evidence),
  /** What was decided is done; of one that is withdrawn or open there is nothing to do. */
  carriedOut: flag,
  /** Since when its time limit stands still; null while it runs. */
  heldAt: time.nullable(),
})
export type EscalationRow = ReturnType<typeof escalationRow.parse>

export function escalationRepository(db: Database) {
  const rows = table(db, 'escalations', escalationRow, ['id'])
  const all = db.prepare('SELECT * FROM escalations ORDER BY rowid')
  const list = db.prepare<[string]>('SELECT * FROM escalations WHERE session = ? ORDER BY rowid')
  const open = db.prepare<[string]>("SELECT * FROM escalations WHERE session = ? AND status = 'open' ORDER BY rowid")
  const openCount = db
    .prepare<[string], number>("SELECT count(*) FROM escalations WHERE session = ? AND status = 'open'")
    .pluck()
  const undone = db.prepare<[string]>(
    "SELECT * FROM escalations WHERE session = ? AND status = 'answered' AND carriedOut = 0 ORDER BY rowid",
  )
  return {
    insert: (row: EscalationRow): void => rows.insert(row),
    get: (id: string): EscalationRow | undefined => rows.get(id),
    update: (id: string, patch: Partial<EscalationRow>): EscalationRow | undefined => rows.update([id], patch),
    /** Oldest first. @param session null for those of all */
    list: (session: string | null): EscalationRow[] =>
      (session === null ? all.all() : list.all(session)).map(rows.read),
    open: (session: string): EscalationRow[] => open.all(session).map(rows.read),
    openCount: (session: string): number => openCount.get(session) ?? 0,
    /** Decided, and not carried out. */
    undone: (session: string): EscalationRow[] => undone.all(session).map(rows.read),
  }
}
