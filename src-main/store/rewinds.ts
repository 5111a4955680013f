/** The rewinds of each session, so that whoever acts on an older state can be told what became of it. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { Rewind } from '../contract/index.ts'
import { table, time } from './table.ts'

const rewindRow = Rewind.extend({ session: z.string(), at: time })

export function rewindRepository(db: Database) {
  const rows = table(db, 'rewinds', rewindRow, ['session', 'epoch'])
  const since = db.prepare<[string, number]>('SELECT * FROM rewinds WHERE session = ? AND epoch > ? ORDER BY epoch')
  return {
    add: (session: string, rewind: Rewind): void => rows.insert({ ...rewind, session }),
    /** Those that began an epoch after `epoch`, oldest first. */
    since: (session: string, epoch: number): Rewind[] =>
      since.all(session, epoch).map((row) => Rewind.parse(rows.read(row))),
  }
}
