/** Sessions: what of them outlives the host. Counts and sizes that can be computed are not stored. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { AutoRollback, EscalationRule, Rules, SandboxNotFoundError, SessionSummary } from '../contract/index.ts'
import { flag, json, messageAsGiven, table, time } from './table.ts'

const sessionRow = SessionSummary.omit({
  checkpoints: true,
  bytes: true,
  pendingEscalations: true,
  halted: true,
  host: true,
}).extend({
  demo: flag,
  shared: flag,
  network: flag,
  env: json(z.record(z.string(), z.string())),
  createdAt: time,
  endedAt: time.nullable(),
  /** Where Undo rewind goes: a point's id. */
  undo: z.string().nullable(),
  notes: json(z.array(z.string())),
  rules: json(Rules),
  lastAutoRollback: json(AutoRollback.extend({ at: time, messages: z.array(messageAsGiven) })).nullable(),
  escalation: json(EscalationRule),
  /** What halted the session and how it can go on, as the session layer tells it. */
  haltedBy: json(z.record(z.string(), z.unknown())).nullable(),
  /** Ports that a person opened, each with this machine's. */
  openPorts: json(z.array(z.object({ port: z.number(), at: z.number() }))),
})
export type SessionRow = z.output<typeof sessionRow>

export function sessionRepository(db: Database) {
  const rows = table(db, 'sessions', sessionRow, ['id'])
  const list = db.prepare('SELECT * FROM sessions ORDER BY createdAt, rowid')
  return {
    insert: (row: SessionRow): void => rows.insert(row),
    /** @throws SandboxNotFoundError */
    update(id: string, patch: Partial<SessionRow>): void {
      if (!rows.update([id], patch))
        throw new SandboxNotFoundError(`There is no session with the id ${id}.`, {
          nextStep: '`rewind sessions` lists those that there are.',
          data: { session: id },
        })
    },
    get: (id: string): SessionRow | undefined => rows.get(id),
    /** Oldest first. */
    list: (): SessionRow[] => list.all().map(rows.read),
  }
}
