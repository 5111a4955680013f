/** A database's two states, table by table: what differs, bounded in rows and in bytes. */
import { z } from 'zod'

export const DatabaseCell = z.object({
  type: z.enum(['null', 'integer', 'real', 'text', 'blob']),
  /** Digits, text, or a blob's bytes in hex: the beginning of it where it is long. */
  text: z.string(),
  /** Characters (of a blob: bytes) in all, where `text` is only the beginning; null where it is the whole. */
  length: z.number().nullable(),
})
export type DatabaseCell = z.infer<typeof DatabaseCell>

export const DatabaseColumn = z.object({
  name: z.string(),
  /** As declared. */
  type: z.string(),
  key: z.boolean(),
  in: z.enum(['before', 'after', 'both']),
})
export type DatabaseColumn = z.infer<typeof DatabaseColumn>

export const DatabaseRow = z.object({
  kind: z.enum(['added', 'deleted', 'changed']),
  /** A cell for each column of the table, null where this side has no such column; null where the row is not there. */
  before: z.array(DatabaseCell.nullable()).nullable(),
  after: z.array(DatabaseCell.nullable()).nullable(),
  /** Places of the columns that differ. */
  changed: z.array(z.number()),
})
export type DatabaseRow = z.infer<typeof DatabaseRow>

const RowCounts = z.object({ added: z.number(), deleted: z.number(), changed: z.number() })

export const DatabaseTable = z.object({
  name: z.string(),
  /** What is no table is compared by its definition alone. */
  kind: z.enum(['table', 'virtual table', 'view', 'index', 'trigger']),
  status: z.enum(['added', 'deleted', 'changed', 'same', 'unknown']),
  /** Its definition on either side, cut where it is long; null where it is not there. */
  schema: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
  /** The first of them. */
  columns: z.array(DatabaseColumn),
  columnsLeft: z.number(),
  /** Rows of either side; null where it is not there, or they could not be counted. */
  before: z.number().nullable(),
  after: z.number().nullable(),
  counts: RowCounts.nullable(),
  /** The first rows that differ, of each kind. */
  rows: z.array(DatabaseRow),
  /** Why its rows were not compared, in words. */
  problem: z.string().nullable(),
})
export type DatabaseTable = z.infer<typeof DatabaseTable>

export const DatabasePair = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('tables'), tables: z.array(DatabaseTable), notes: z.array(z.string()) }),
  /** `side` is null where it is not known which of them it was. */
  z.object({ kind: z.literal('unreadable'), side: z.enum(['before', 'after']).nullable(), reason: z.string() }),
])
export type DatabasePair = z.infer<typeof DatabasePair>
