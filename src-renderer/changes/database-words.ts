/** What is said of a table, in which order tables are told, and how wide their columns are. */
import type { DatabaseTable } from '../../src-main/contract/index.ts'

const STATUS: Record<DatabaseTable['status'], string> = {
  added: 'added',
  deleted: 'deleted',
  changed: 'definition changed',
  same: 'the same',
  unknown: 'not compared',
}

/** `3 rows added, 1 deleted`. */
export function wordsOf({ counts, status, problem }: DatabaseTable): string {
  if (problem !== null || !counts || status === 'same') return STATUS[status]
  const parts = (['added', 'changed', 'deleted'] as const).flatMap((kind) =>
    counts[kind] > 0 ? [`${counts[kind].toLocaleString('en-US')} ${kind}`] : [],
  )
  const [first, ...rest] = parts
  if (first === undefined) return STATUS[status]
  const rows = `${first.replace(' ', counts.added + counts.changed + counts.deleted === 1 ? ' row ' : ' rows ')}`
  const said = [rows, ...rest].join(', ')
  return status === 'changed' ? said : `${status}: ${said}`
}

/** What changed stands first, else as in the database. */
export const inOrder = (tables: readonly DatabaseTable[]): DatabaseTable[] =>
  tables.toSorted((a, b) => Number(a.status === 'same') - Number(b.status === 'same'))

/** Places of the columns as they are shown: what names a row, what differs, and the rest as it is declared. */
export function columnOrder({ columns, rows }: DatabaseTable): number[] {
  const changed = new Set(rows.flatMap((row) => row.changed))
  const rank = (at: number) => {
    const column = columns[at]
    return column?.key ? 0 : changed.has(at) || column?.in !== 'both' ? 1 : 2
  }
  return columns.map((_, at) => at).sort((a, b) => rank(a) - rank(b))
}

/** What is looked at until one is chosen: the first with rows that differ. */
export const firstOf = (tables: readonly DatabaseTable[]): DatabaseTable | undefined =>
  tables.find(({ rows, status }) => rows.length > 0 && status === 'changed') ??
  tables.find(({ rows }) => rows.length > 0) ??
  tables[0]

const CHARACTER_PX = 7.3
const ROOM_PX = 24
const NARROWEST_PX = 64
const WIDEST_PX = 280
/** Of rows, as many as say enough. */
const MEASURED = 100

/** As wide as what stands in each column, within bounds. */
export function columnWidths({ columns, rows }: DatabaseTable): number[] {
  return columns.map(({ name, type }, at) => {
    const characters = rows.slice(0, MEASURED).map(({ before, after, changed }) => {
      const [was, is] = [before?.[at]?.text.length ?? 0, after?.[at]?.text.length ?? 0]
      return changed.includes(at) ? Math.max(4, was) + Math.max(4, is) + 5 : Math.max(was, is)
    })
    const most = Math.max(name.length + type.length + 1, ...characters)
    return Math.round(Math.min(WIDEST_PX, Math.max(NARROWEST_PX, most * CHARACTER_PX + ROOM_PX)))
  })
}
