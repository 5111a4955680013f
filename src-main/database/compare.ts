/**
 * Two states of a SQLite database, table against table. What is in them is foreign: nothing of it is run (no trigger,
 * no view, no virtual table), and what is handed on is cut. It may still take for ever or all memory, so it is for a
 * process that can be ended (reader.ts), which tells what it has found by then: the list first, then table by table.
 */
import SQLite, { type Database } from 'better-sqlite3'
import type { DatabaseCell, DatabaseColumn, DatabaseRow, DatabaseTable } from '../contract/database.ts'

/** Files on the host, private to us; their `-wal` lies beside them where there was one. Null where there is no file. */
export interface DatabaseFiles {
  before: string | null
  after: string | null
}

type Side = keyof DatabaseFiles

/** What is told, in this order. */
export type Found =
  /** `left` were seen and are not told; `isCut` where there are more than were looked at on a side. */
  | { found: 'tables'; tables: DatabaseTable[]; left: number; isCut: boolean }
  | { found: 'table'; at: number; table: DatabaseTable }
  | { found: 'problem'; side: Side | null; reason: string }

const TABLES = 500
/** Of a side's schema. */
const ENTRIES = 2_000
const COLUMNS = 60
/** Rows of each kind and table. */
const ROWS = 200
const TEXT_SHOWN = 200
const BLOB_SHOWN = 40
const SCHEMA_SHOWN = 4_000
/** Of all rows together, about. */
const BYTES = 6 << 20

export function* compareDatabases(files: DatabaseFiles): Generator<Found> {
  let comparison: Comparison
  try {
    comparison = new Comparison(files)
  } catch (error) {
    yield error instanceof SideError
      ? { found: 'problem', side: error.side, reason: error.message }
      : { found: 'problem', side: null, reason: String((error as Error).message) }
    return
  }
  try {
    yield* comparison.run()
  } finally {
    comparison.close()
  }
}

class SideError extends Error {
  readonly side: Side

  constructor(side: Side, message: string) {
    super(message)
    this.side = side
  }
}

interface Entry {
  type: string
  name: string
  table: string
  sql: string | null
  virtual: boolean
}

interface Column {
  name: string
  type: string
  /** Its place in the primary key, from 1; 0 where it is not in it. */
  key: number
}

class Comparison {
  readonly #db: Database
  /** The schema name of each side that there is. */
  readonly #schemas: Partial<Record<Side, string>> = {}
  #bytesLeft = BYTES

  constructor({ before, after }: DatabaseFiles) {
    const first = after === null ? 'before' : 'after'
    this.#db = new SQLite(after ?? before ?? ':memory:', { readonly: true, timeout: 1000 })
    for (const pragma of ['trusted_schema = 0', 'cell_size_check = 1', 'query_only = 1', 'temp_store = memory'])
      this.#db.pragma(pragma)
    try {
      this.#open(first, 'main')
      if (before === null || after === null) return
      try {
        this.#db.prepare('ATTACH ? AS before').run(before)
      } catch (error) {
        throw new SideError('before', (error as Error).message)
      }
      this.#open('before', 'before')
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Reads once, as nothing is looked at before. */
  #open(side: Side, schema: string): void {
    try {
      this.#db.prepare(`SELECT count(*) FROM ${schema}.sqlite_schema`).get()
      this.#schemas[side] = schema
    } catch (error) {
      throw new SideError(side, (error as Error).message)
    }
  }

  close(): void {
    this.#db.close()
  }

  *run(): Generator<Found> {
    const [listedBefore, listedAfter] = [this.#entries('before'), this.#entries('after')]
    // Behind the end of either list nobody knows what is there on that side.
    const end = earlier(listedBefore.end, listedAfter.end)
    const [before, after] = [upTo(end, listedBefore.entries), upTo(end, listedAfter.entries)]
    const keys = [...new Set([...after.keys(), ...before.keys()])]
    const all = keys.map((key) => this.#listed(before.get(key), after.get(key)))
    // Of what is no table only differences are told.
    const told = all.filter(({ kind, status }) => kind === 'table' || kind === 'virtual table' || status !== 'same')
    // Where not all can be told, what is known to differ is.
    if (told.length > TABLES) told.sort((a, b) => Number(isAlike(a)) - Number(isAlike(b)))
    const tables = told.slice(0, TABLES)
    yield { found: 'tables', tables, left: told.length - tables.length, isCut: end !== null }

    const open = tables.flatMap((table, at) => (table.kind === 'table' ? [{ table, at }] : []))
    for (const { table, at } of open) {
      try {
        if (table.schema.before !== null) table.before = this.#count('before', table.name)
        if (table.schema.after !== null) table.after = this.#count('after', table.name)
      } catch (error) {
        table.problem = (error as Error).message
      }
      yield { found: 'table', at, table }
    }
    // The smallest first: most is known when the time is over.
    const size = (table: DatabaseTable) => (table.before ?? 0) + (table.after ?? 0)
    for (const { table, at } of open.toSorted((a, b) => size(a.table) - size(b.table))) {
      if (table.problem === null) {
        try {
          Object.assign(table, this.#compared(table))
        } catch (error) {
          table.problem = (error as Error).message
        }
      }
      yield { found: 'table', at, table }
    }
  }

  /** In order; `end` is the last of them where there are more. */
  #entries(side: Side): { entries: Map<string, Entry>; end: Entry | null } {
    const schema = this.#schemas[side]
    if (schema === undefined) return { entries: new Map(), end: null }
    const rows = this.#db
      .prepare<[], Entry>(
        `SELECT type, name, tbl_name AS "table", substr(sql, 1, ${SCHEMA_SHOWN + 1}) AS sql,
                type = 'table' AND coalesce(rootpage, 0) = 0 AS virtual
         FROM ${schema}.sqlite_schema
         WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND typeof(name) = 'text' AND type IN (${[...KINDS.keys()].map((kind) => `'${kind}'`).join(', ')})
         ORDER BY type <> 'table', name COLLATE BINARY LIMIT ${ENTRIES + 1}`,
      )
      .all()
    const found = rows.slice(0, ENTRIES)
    const virtual = new Set(found.filter((entry) => entry.virtual).map(({ name }) => name))
    const entries = new Map(
      found.filter(({ name }) => !isShadow(name, virtual)).map((entry) => [`${entry.type} ${entry.name}`, entry]),
    )
    return { entries, end: rows.length > ENTRIES ? (found.at(-1) ?? null) : null }
  }

  #listed(before: Entry | undefined, after: Entry | undefined): DatabaseTable {
    const entry = after ?? before
    const kind = KINDS.get(entry?.type ?? '') ?? 'table'
    const schemaOf = (one: Entry | undefined) => (one === undefined ? null : cut(one.sql ?? '', SCHEMA_SHOWN).text)
    const isVirtual = before?.virtual || after?.virtual
    const sameSchema = before?.sql === after?.sql
    return {
      name: entry?.name ?? '',
      kind: isVirtual ? 'virtual table' : kind,
      status: !before ? 'added' : !after ? 'deleted' : !sameSchema ? 'changed' : kind === 'table' ? 'unknown' : 'same',
      schema: { before: schemaOf(before), after: schemaOf(after) },
      columns: [],
      columnsLeft: 0,
      before: null,
      after: null,
      counts: null,
      rows: [],
      problem: isVirtual ? 'Its rows are made by a module of SQLite, which is not run here.' : null,
    }
  }

  #compared(table: DatabaseTable): Partial<DatabaseTable> {
    const { name, before, after } = table
    const [was, is] = (['before', 'after'] as const).map((side) =>
      table.schema[side] === null ? null : this.#columns(side, name),
    )
    const columns = unionOf(was ?? null, is ?? null)
    const shown = columns.slice(0, COLUMNS)
    const shape = { columns: shown, columnsLeft: columns.length - shown.length }
    if (!was || !is) {
      const kind = was ? 'deleted' : 'added'
      const counts = { added: after ?? 0, deleted: before ?? 0, changed: 0, [kind]: (was ? before : after) ?? 0 }
      const side = was ? 'before' : 'after'
      const rows = this.#rows(kind, shown, `${this.#name(side, name)} AS ${side}_row`, 'TRUE', '')
      return { ...shape, counts, rows }
    }
    const key = this.#key(name, was, is)
    if (key === null)
      return { ...shape, status: 'unknown', problem: 'Its rows have no key in common by which they could be matched.' }
    const before_ = `${this.#name('before', name)} AS before_row`
    const after_ = `${this.#name('after', name)} AS after_row`
    const match = key.map((one) => `before_row.${quoted(one)} = after_row.${quoted(one)}`).join(' AND ')
    const order = (side: Side) => `ORDER BY ${key.map((one) => `${side}_row.${quoted(one)}`).join(', ')}`
    const differs = anyOf(columns.filter((column) => column.in === 'both').map(({ name: one }) => differ(one)))
    const gone = `NOT EXISTS (SELECT 1 FROM ${after_} WHERE ${match})`
    const come = `NOT EXISTS (SELECT 1 FROM ${before_} WHERE ${match})`
    const both = `${after_} CROSS JOIN ${before_} ON ${match}`
    const count = (from: string, where: string) =>
      this.#db.prepare<[], number>(`SELECT count(*) FROM ${from} WHERE ${where}`).pluck().get() ?? 0
    const counts = {
      deleted: count(before_, gone),
      added: count(after_, come),
      changed: count(both, differs),
    }
    const rows = [
      ...(counts.changed ? this.#rows('changed', shown, both, differs, order('after')) : []),
      ...(counts.added ? this.#rows('added', shown, after_, come, order('after')) : []),
      ...(counts.deleted ? this.#rows('deleted', shown, before_, gone, order('before')) : []),
    ]
    const isSame = counts.deleted + counts.added + counts.changed === 0 && table.schema.before === table.schema.after
    return { ...shape, counts, rows, status: isSame ? 'same' : 'changed' }
  }

  #name(side: Side, table: string): string {
    return `${this.#schemas[side]}.${quoted(table)}`
  }

  #count(side: Side, table: string): number {
    return (
      this.#db
        .prepare<[], number>(`SELECT count(*) FROM ${this.#name(side, table)}`)
        .pluck()
        .get() ?? 0
    )
  }

  #columns(side: Side, table: string): Column[] {
    return (
      this.#db.pragma(`${this.#schemas[side]}.table_xinfo(${quoted(table)})`) as {
        name: string
        type: string
        pk: number
      }[]
    ).map(({ name, type, pk }) => ({ name, type, key: pk }))
  }

  /** What rows are matched by: the primary key that both have, else the row's number; null where there is neither. */
  #key(table: string, was: Column[], is: Column[]): string[] | null {
    const keyOf = (columns: Column[]) =>
      columns
        .filter(({ key }) => key > 0)
        .toSorted((a, b) => a.key - b.key)
        .map(({ name }) => name)
    const [old, now] = [keyOf(was), keyOf(is)]
    const isCommon = now.length > 0 && old.join('\0').toLowerCase() === now.join('\0').toLowerCase()
    // SQLite lets a key be null many times over where the table has row numbers.
    if (isCommon && !this.#hasNull('before', table, old) && !this.#hasNull('after', table, now)) return now
    const taken = new Set([...was, ...is].map(({ name }) => name.toLowerCase()))
    const number = ['rowid', '_rowid_', 'oid'].find((one) => !taken.has(one))
    return number && this.#hasRowNumbers('before', table, number) && this.#hasRowNumbers('after', table, number)
      ? [number]
      : null
  }

  #hasNull(side: Side, table: string, key: readonly string[]): boolean {
    const isNull = key.map((one) => `${quoted(one)} IS NULL`).join(' OR ')
    return this.#db.prepare(`SELECT 1 FROM ${this.#name(side, table)} WHERE ${isNull} LIMIT 1`).get() !== undefined
  }

  #hasRowNumbers(side: Side, table: string, number: string): boolean {
    try {
      this.#db.prepare(`SELECT ${number} FROM ${this.#name(side, table)} LIMIT 0`)
      return true
    } catch {
      return false
    }
  }

  #rows(
    kind: DatabaseRow['kind'],
    columns: readonly DatabaseColumn[],
    from: string,
    where: string,
    order: string,
  ): DatabaseRow[] {
    if (this.#bytesLeft <= 0) return []
    const sides = (['before', 'after'] as const).filter((side) => kind !== (side === 'before' ? 'added' : 'deleted'))
    const has = (side: Side, column: DatabaseColumn) => column.in === 'both' || column.in === side
    const cells = sides.flatMap((side) =>
      columns.filter((column) => has(side, column)).map(({ name }) => cellParts(`${side}_row.${quoted(name)}`)),
    )
    const compared = kind === 'changed' ? columns.flatMap((column, at) => (column.in === 'both' ? [at] : [])) : []
    const marks = compared.map((at) => differ(columns[at]?.name ?? ''))
    const parts = [...cells, ...marks]
    const query = `SELECT ${parts.length > 0 ? parts.join(', ') : '1'} FROM ${from} WHERE ${where} ${order} LIMIT ${ROWS}`
    const rows: DatabaseRow[] = []
    for (const values of this.#db.prepare(query).raw().safeIntegers().iterate() as Iterable<unknown[]>) {
      let at = 0
      const side = (one: Side) =>
        sides.includes(one) ? columns.map((column) => (has(one, column) ? cell(values, 3 * at++) : null)) : null
      const row: DatabaseRow = { kind, before: side('before'), after: side('after'), changed: [] }
      row.changed = compared.filter((_, n) => values[3 * at + n] !== 0n)
      rows.push(row)
      this.#bytesLeft -= bytesOf(row)
      if (this.#bytesLeft <= 0) break
    }
    return rows
  }
}

const KINDS = new Map<string, DatabaseTable['kind']>([
  ['table', 'table'],
  ['view', 'view'],
  ['index', 'index'],
  ['trigger', 'trigger'],
])

/** So far. */
const isAlike = ({ status }: DatabaseTable): boolean => status === 'same' || status === 'unknown'

/** As SQLite orders them: tables first, names by their bytes. */
const inOrder = (a: Entry, b: Entry): number =>
  Number(a.type !== 'table') - Number(b.type !== 'table') || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

/** Null is no end. */
const earlier = (a: Entry | null, b: Entry | null): Entry | null =>
  a === null || b === null ? (a ?? b) : inOrder(a, b) < 0 ? a : b

const upTo = (end: Entry | null, entries: Map<string, Entry>): Map<string, Entry> =>
  end === null ? entries : new Map([...entries].filter(([, entry]) => inOrder(entry, end) <= 0))

/** Tables in which a virtual table keeps what is its own. */
const isShadow = (name: string, virtual: ReadonlySet<string>): boolean => {
  const [, of = ''] =
    /^(.+)_(data|idx|content|docsize|config|segments|segdir|stat|node|rowid|parent)$/s.exec(name) ?? []
  return virtual.has(of)
}

function unionOf(was: readonly Column[] | null, is: readonly Column[] | null): DatabaseColumn[] {
  const same = (a: Column, b: Column) => a.name.toLowerCase() === b.name.toLowerCase()
  const own = (is ?? []).map((column): DatabaseColumn => {
    const inBoth = was?.some((one) => same(one, column))
    return { name: column.name, type: column.type, key: column.key > 0, in: inBoth ? 'both' : 'after' }
  })
  const gone = (was ?? [])
    .filter((column) => !is?.some((one) => same(one, column)))
    .map(({ name, type, key }): DatabaseColumn => ({ name, type, key: key > 0, in: 'before' }))
  return [...own, ...gone]
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Also where a column's own rules take them for equal: case, 1 and 1.0. */
function differ(column: string): string {
  const [a, b] = [`before_row.${quoted(column)}`, `after_row.${quoted(column)}`]
  return `(${a} IS NOT ${b} COLLATE BINARY OR typeof(${a}) <> typeof(${b}))`
}

/** Halved again and again, as SQLite bounds how deep an expression may be. */
function anyOf(conditions: readonly string[]): string {
  if (conditions.length < 2) return conditions[0] ?? 'FALSE'
  const half = conditions.length >> 1
  return `(${anyOf(conditions.slice(0, half))} OR ${anyOf(conditions.slice(half))})`
}

/** Three values: its type, its beginning, its length. */
const cellParts = (column: string): string =>
  `typeof(${column}), CASE typeof(${column}) WHEN 'text' THEN substr(${column}, 1, ${TEXT_SHOWN}) WHEN 'blob' THEN substr(${column}, 1, ${BLOB_SHOWN}) ELSE ${column} END, CASE WHEN typeof(${column}) IN ('text', 'blob') THEN length(${column}) END`

function cell(values: readonly unknown[], at: number): DatabaseCell {
  const type = values[at] as DatabaseCell['type']
  const value = values[at + 1]
  const length = Number(values[at + 2] ?? 0)
  if (type === 'blob')
    return {
      type,
      text: Buffer.from((value ?? new Uint8Array()) as Uint8Array).toString('hex'),
      length: length > BLOB_SHOWN ? length : null,
    }
  const text = type === 'null' ? '' : cut(String(value), TEXT_SHOWN * 2).text
  return { type, text, length: type === 'text' && length > TEXT_SHOWN ? length : null }
}

const cut = (text: string, most: number) => ({ text: text.length > most ? `${text.slice(0, most)}…` : text })

const bytesOf = ({ before, after }: DatabaseRow): number =>
  [...(before ?? []), ...(after ?? [])].reduce((sum, one) => sum + 40 + (one?.text.length ?? 0), 0)
