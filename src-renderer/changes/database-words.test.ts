import { expect, it } from 'vitest'
import type { DatabaseRow, DatabaseTable } from '../../src-main/contract/index.ts'
import { columnOrder, columnWidths, firstOf, inOrder, wordsOf } from './database-words.ts'

const table = (made: Partial<DatabaseTable>): DatabaseTable => ({
  name: 't',
  kind: 'table',
  status: 'changed',
  schema: { before: 'a', after: 'a' },
  columns: [],
  columnsLeft: 0,
  before: 1,
  after: 1,
  counts: { added: 0, deleted: 0, changed: 0 },
  rows: [],
  problem: null,
  ...made,
})
const row: DatabaseRow = { kind: 'added', before: null, after: [], changed: [] }

it('says what changed', () => {
  expect(wordsOf(table({ counts: { added: 1, deleted: 0, changed: 0 } }))).toBe('1 row added')
  expect(wordsOf(table({ counts: { added: 1200, deleted: 1, changed: 2 } }))).toBe(
    '1,200 rows added, 2 changed, 1 deleted',
  )
  expect(wordsOf(table({ status: 'added', counts: { added: 2, deleted: 0, changed: 0 } }))).toBe('added: 2 rows added')
  expect(wordsOf(table({}))).toBe('definition changed')
  expect(wordsOf(table({ status: 'same' }))).toBe('the same')
  expect(wordsOf(table({ status: 'unknown', problem: 'x', counts: null }))).toBe('not compared')
})

it('tells what changed first, and opens on rows', () => {
  const same = table({ name: 'same', status: 'same' })
  const bare = table({ name: 'bare' })
  const added = table({ name: 'added', status: 'added', rows: [row] })
  const changed = table({ name: 'changed', rows: [row] })
  expect(inOrder([same, bare, added]).map(({ name }) => name)).toEqual(['bare', 'added', 'same'])
  expect(firstOf([bare, added, changed])).toBe(changed)
  expect(firstOf([bare, added])).toBe(added)
  expect(firstOf([same])).toBe(same)
  expect(firstOf([])).toBeUndefined()
})

it('makes columns as wide as they need, and more room for what changed', () => {
  const cell = (text: string) => ({ type: 'text', text, length: null }) as const
  const columns = ['id', 'name', 'long'].map((name) => ({ name, type: '', key: false, in: 'both' as const }))
  const cells = [cell('1'), cell('a'.repeat(20)), cell('b'.repeat(500))]
  const of = (changed: number[]) =>
    columnWidths(table({ columns, rows: [{ kind: 'changed', before: cells, after: cells, changed }] }))
  const [id = 0, name = 0, long = 0] = of([])
  expect(id).toBeLessThan(name)
  expect(name).toBeLessThan(long)
  expect(long).toBeLessThan(500)
  expect(of([1])[1]).toBeGreaterThan(name)
})

it('shows what names a row, then what differs, then the rest as it is declared', () => {
  const column = (name: string, made: Partial<DatabaseTable['columns'][number]> = {}) =>
    ({ name, type: 'TEXT', key: false, in: 'both', ...made }) as const
  const columns = [
    column('note'),
    column('id', { key: true }),
    column('email'),
    column('credits'),
    column('new', { in: 'after' }),
  ]
  const rows: DatabaseRow[] = [{ ...row, kind: 'changed', changed: [3] }]
  const names = columnOrder(table({ columns, rows })).map((at) => columns[at]?.name)
  expect(names).toEqual(['id', 'credits', 'new', 'note', 'email'])
})
