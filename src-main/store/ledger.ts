/**
 * The append-only record. Each row's hash covers the one before it, and the chain's end is noted beside it, so whatever
 * was changed, added or cut off behind the database's back (its triggers refuse all of it) shows as a broken chain. What
 * does not show is a chain that somebody made anew up to its end, end note included: against that there is a note outside
 * the database (ledger-anchors.ts), and the head's hash is printed in exports.
 */
import { hash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { type LedgerCheck, LedgerEntry } from '../contract/index.ts'
import { atomic } from './database.ts'
import { ledgerAnchors } from './ledger-anchors.ts'
import { table, time } from './table.ts'

const ledgerRow = LedgerEntry.extend({ timestamp: time })

export type NewLedgerEntry = Omit<LedgerEntry, 'id' | 'hash' | 'timestamp'>

/** What must hold of the rows that are wanted; a field left out or null asks nothing. */
export interface LedgerFilter {
  checkpoint?: string | null | undefined
  type?: string | null | undefined
  status?: string | null | undefined
  since?: Date | null | undefined
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
  const list = db.prepare<
    [{ session: string; checkpoint: string | null; type: string | null; status: string | null; since: number | null }]
  >(
    `SELECT * FROM ledger WHERE session = @session
       AND (@checkpoint IS NULL OR checkpoint = @checkpoint)
       AND (@type IS NULL OR eventType = @type)
       AND (@status IS NULL OR status = @status)
       AND (@since IS NULL OR timestamp >= @since)
     ORDER BY id`,
  )
  const next = db.prepare<[string, number, number]>(
    'SELECT * FROM ledger WHERE session = ? AND id > ? ORDER BY id LIMIT ?',
  )
  const wanted = (session: string, { checkpoint, type, status, since }: LedgerFilter = {}) => ({
    session,
    checkpoint: checkpoint ?? null,
    type: type ?? null,
    status: status ?? null,
    since: since?.getTime() ?? null,
  })
  const hashOf = db.prepare<[string, number], string>('SELECT hash FROM ledger WHERE session = ? AND id = ?').pluck()
  const anchors = ledgerAnchors(join(dirname(db.name), 'ledgers'), {
    end: (session) => {
      const row = last.get(session)
      return row ? { rows: row.id, hash: row.hash } : null
    },
    hashOf: (session, row) => hashOf.get(session, row),
    // A commit alone is not on the disk (see database.ts); what is copied to the main file was synced before.
    sync: () => db.pragma('wal_checkpoint(PASSIVE)'),
  })

  return {
    append: atomic(db, (entry: NewLedgerEntry): LedgerEntry => {
      const previous = last.get(entry.session) ?? { id: 0, hash: root }
      const numbered = { ...entry, id: previous.id + 1, timestamp: new Date() }
      const complete = { ...numbered, hash: chainHash(previous.hash, numbered) }
      rows.insert(complete)
      anchors.noteSoon(entry.session)
      return complete
    }),
    /** Oldest first. */
    list: (session: string, filter?: LedgerFilter): LedgerEntry[] => list.all(wanted(session, filter)).map(rows.read),
    /** At most `limit` rows that follow the one of that id (0: from the first). */
    after: (session: string, id: number, limit: number): LedgerEntry[] => next.all(session, id, limit).map(rows.read),
    /** Notes the ends of chains that wait to be noted: before the store is closed. */
    flush: (): void => anchors.flush(),
    /** Recomputes the whole chain, and looks whether the note of its end agrees. */
    verify(session: string): LedgerCheck {
      const noted = anchors.read(session)
      let anchor: LedgerCheck['anchor'] = noted === null ? 'missing' : 'differs'
      let previous = root
      let lastId = 0
      let count = 0
      let brokenAt: number | null = null
      for (const row of list.iterate(wanted(session))) {
        // A row that no longer parses was tampered with as surely as one whose hash is wrong.
        const parsed = ledgerRow.safeDecode(row as never)
        const follows = parsed.success && parsed.data.hash === chainHash(previous, parsed.data)
        const { id, hash } = row as { id: number; hash: string }
        if (!follows) brokenAt ??= id
        previous = hash
        lastId = id
        count++
        if (noted !== null && noted !== 'damaged' && noted.rows === id && noted.hash === hash) anchor = 'agrees'
      }
      const counted = end.get(session) ?? { rows: 0, hash: root }
      if (counted.rows !== lastId) brokenAt ??= Math.min(counted.rows, lastId) + 1
      else if (counted.hash !== previous) brokenAt ??= lastId
      // Where the chain recomputes, all that is known is that it was another one up to the row that was noted.
      if (anchor === 'differs')
        brokenAt ??= noted === 'damaged' || noted === null ? 1 : Math.min(noted.rows, lastId + 1)
      return { whole: brokenAt === null, rows: count, head: previous, brokenAt, anchor }
    },
  }
}
