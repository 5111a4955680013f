/** Commits to the host, and their undoing. A row is written before the host is touched, and says how it ended. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { CommitRecord, FileCounts } from '../contract/index.ts'
import { json, table, time } from './table.ts'

const commitRow = CommitRecord.omit({ left: true }).extend({
  kind: z.enum(['commit', 'undo']),
  /** The commit that an undo takes back. */
  undoes: z.string().nullable(),
  /** `applying` until it is known how it ended; `failed`: the host is as it was. */
  status: z.enum(['applying', 'done', 'undone', 'failed']),
  at: time,
  counts: json(FileCounts),
  /** Paths that differ and were left out, a character per byte. */
  leftOut: json(z.array(z.string())),
  /** Where it is prepared, and where what it replaced is kept afterwards. */
  folder: z.string(),
  undoneAt: time.nullable(),
})
export type CommitRow = z.output<typeof commitRow>

export function commitRepository(db: Database) {
  const rows = table(db, 'commits', commitRow, ['id'])
  const list = db.prepare<[string]>('SELECT * FROM commits WHERE session = ? ORDER BY rowid')
  const applying = db.prepare("SELECT * FROM commits WHERE status = 'applying' ORDER BY rowid")
  return {
    insert: (row: CommitRow): void => rows.insert(row),
    update(id: string, patch: Partial<CommitRow>): void {
      rows.update([id], patch)
    },
    get: (id: string): CommitRow | undefined => rows.get(id),
    /** Those of a session, oldest first. */
    list: (session: string): CommitRow[] => list.all(session).map(rows.read),
    /** Of all sessions, those that were interrupted. */
    applying: (): CommitRow[] => applying.all().map(rows.read),
  }
}
