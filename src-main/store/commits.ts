/** Commits to the host, and their undoing. A row is written before the host is touched, and says how it ended. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { CommitRecord, FileCounts } from '../contract/index.ts'
import { atomic } from './database.ts'
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
  /** Paths of which a part alone was committed, a character per byte; what that makes of them is beside it. */
  partly: json(z.array(z.string())),
  /** Where it is prepared, and where what it replaced is kept afterwards. */
  folder: z.string(),
  undoneAt: time.nullable(),
})
export type CommitRow = z.output<typeof commitRow>

/** A file as it would be, had the sandbox only what was committed of it. */
export interface CommitPart {
  /** A character per byte. */
  path: string
  /** Its permissions, with the bits that say that it is a file. */
  mode: number
  content: Uint8Array
}

export function commitRepository(db: Database) {
  const rows = table(db, 'commits', commitRow, ['id'])
  const list = db.prepare<[string]>('SELECT * FROM commits WHERE session = ? ORDER BY rowid')
  const applying = db.prepare("SELECT * FROM commits WHERE status = 'applying' ORDER BY rowid")
  const insertPart = db.prepare<[string, string, number, Uint8Array]>('INSERT INTO commitParts VALUES (?, ?, ?, ?)')
  const part = db.prepare<[string, string], CommitPart>(
    'SELECT path, mode, content FROM commitParts WHERE commitId = ? AND path = ?',
  )
  const dropPart = db.prepare<[string, string]>('DELETE FROM commitParts WHERE commitId = ? AND path = ?')
  const dropParts = db.prepare<[string]>('DELETE FROM commitParts WHERE commitId = ?')
  return {
    insert: atomic(db, (row: Omit<CommitRow, 'partly'>, parts: readonly CommitPart[] = []): void => {
      rows.insert({ ...row, partly: parts.map(({ path }) => path) })
      for (const { path, mode, content } of parts) insertPart.run(row.id, path, mode, content)
    }),
    /** What it took in part of a path; undefined where it did not, or nobody needed it any more. */
    part: (id: string, path: string): CommitPart | undefined => part.get(id, path),
    dropPart: (id: string, path: string): void => {
      dropPart.run(id, path)
    },
    dropParts: (id: string): void => {
      dropParts.run(id)
    },
    update: atomic(db, (id: string, patch: Partial<CommitRow>): void => {
      rows.update([id], patch)
      if (patch.status === 'failed' || patch.status === 'undone') dropParts.run(id)
    }),
    get: (id: string): CommitRow | undefined => rows.get(id),
    /** Those of a session, oldest first. */
    list: (session: string): CommitRow[] => list.all(session).map(rows.read),
    /** Of all sessions, those that were interrupted. */
    applying: (): CommitRow[] => applying.all().map(rows.read),
  }
}
