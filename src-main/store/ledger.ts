/**
 * The append-only record. Each row's hash covers the one before it, and the chain's end is noted beside it, so whatever
 * was changed, added or cut off behind the database's back (its triggers refuse all of it) shows as a broken chain. What
 * does not show is a chain that somebody made anew up to its end, end note included: against that, the head's hash is
 * printed in reports.
 */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { LedgerEntry } from '../contract/index.ts'
import { atomic } from './database.ts'
import { table, time } from './table.ts'

const ledgerRow = LedgerEntry.extend({ timestamp: time })

export type NewLedgerEntry = Omit<LedgerEntry, 'id' | 'hash' | 'timestamp'>

/** What must hold of the rows that are wanted; a field left out or null asks nothing. */
export interface LedgerFilter {
  checkpoint?: string | null | undefined
  type?: string | null | undefined
  status?: string | null | undefined
}

export interface ChainCheck {
  whole: boolean
  rows: number
  /** Hash of the last row; 64 zeros where there is none. */
  head: string
  /** Id of the first row that is missing or does not follow from the one before it. */
  brokenAt: number | null
}

/** What the first row's hash is chained to. */
const root = '0'.repeat(64)

/** SHA-256 over the previous hash and the row as JSON, its fields in this order and under these names. */
export function chainHash(previous: string, entry: Omit<LedgerEntry, 'hash'>): string {
  const { session, id, timestamp, eventType, status, checkpoint, point, rawOutput, notes, resolution, decidedBy } =
    entry
  const canonical = JSON.stringify({
    session,
    id,
    timestamp,
    eventType,
    status,
    checkpoint,
    point,
    rawOutput,
    notes,
    resolution,
    decidedBy,
  })
  return hash('sha256', `${previous}\n${canonical}`, 'hex')
}

export function ledgerRepository(db: Database) {
  const rows = table(db, 'ledger', ledgerRow, ['session', 'id'])
  const last = db.prepare<[string], { id: number; hash: string }>(
    'SELECT id, hash FROM ledger WHERE session = ? ORDER BY id DESC LIMIT 1',
  )
  const end = db.prepare<[string], { rows: number; hash: string }>(
    'SELECT rows, hash FROM ledgerHeads WHERE session = ?',
  )
  const list = db.prepare<[{ session: string; checkpoint: string | null; type: string | null; status: string | null }]>(
    `SELECT * FROM ledger WHERE session = @session
       AND (@checkpoint IS NULL OR checkpoint = @checkpoint)
       AND (@type IS NULL OR eventType = @type)
       AND (@status IS NULL OR status = @status)
     ORDER BY id`,
  )
  const all = (session: string, { checkpoint = null, type = null, status = null }: LedgerFilter = {}) =>
    list.all({ session, checkpoint, type, status })

  return {
    append: atomic(db, (entry: NewLedgerEntry): LedgerEntry => {
      const previous = last.get(entry.session) ?? { id: 0, hash: root }
      const numbered = { ...entry, id: previous.id + 1, timestamp: new Date() }
      const complete = { ...numbered, hash: chainHash(previous.hash, numbered) }
      rows.insert(complete)
      return complete
    }),
    /** Oldest first. */
    list: (session: string, filter?: LedgerFilter): LedgerEntry[] => all(session, filter).map(rows.read),
    /** Recomputes the whole chain. */
    verify(session: string): ChainCheck {
      const stored = all(session)
      let previous = root
      let lastId = 0
      let brokenAt: number | null = null
      for (const row of stored) {
        // A row that no longer parses was tampered with as surely as one whose hash is wrong.
        const parsed = ledgerRow.safeDecode(row as never)
        const follows = parsed.success && parsed.data.hash === chainHash(previous, parsed.data)
        const { id, hash } = row as { id: number; hash: string }
        if (!follows) brokenAt ??= id
        previous = hash
        lastId = id
      }
      const noted = end.get(session) ?? { rows: 0, hash: root }
      if (noted.rows !== lastId) brokenAt ??= Math.min(noted.rows, lastId) + 1
      else if (noted.hash !== previous) brokenAt ??= lastId
      return { whole: brokenAt === null, rows: stored.length, head: previous, brokenAt }
    },
  }
}
