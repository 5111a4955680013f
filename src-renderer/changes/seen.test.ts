import { expect, test } from 'vitest'
import type { Change } from '../../src-main/contract/index.ts'
import { matching } from './filter.ts'
import { whatChanged, wordOf } from './letters.tsx'
import { nameThen, seen } from './seen.ts'

const change = (path: string, status: Change['status'], mode: number | null = 0o100644): Change => ({
  path,
  rawPath: null,
  status,
  kind: 'file',
  before: status === 'added' ? null : 10,
  after: status === 'deleted' ? null : 20,
  modes: { before: status === 'added' ? null : mode, after: status === 'deleted' ? null : mode },
})
const name = (path: string, rawPath: string | null = null) => ({ path, rawPath })

const changes = [change('a', 'modified'), change('old', 'deleted'), change('src/new', 'added', 0o100755)]

test('a file that moved is one row at its new path, with both sides', () => {
  const rows = seen(changes, [{ from: name('old'), to: name('src/new') }])
  expect(rows.map(({ path }) => path)).toEqual(['a', 'src/new'])
  const moved = rows[1]
  if (!moved) throw new Error('no row')
  expect(moved).toMatchObject({ before: 10, after: 20, modes: { before: 0o100644, after: 0o100755 } })
  expect(nameThen(moved)).toEqual(name('old'))
  expect(wordOf(moved)).toBe('renamed from old')
  expect(whatChanged(moved)).toBe('renamed from old, permissions 0644 to 0755')
  expect(matching(rows, 'OLD')).toEqual([moved])
})

test('where a half of it is not listed, the other stays what it is', () => {
  const renames = [
    { from: name('elsewhere'), to: name('src/new') },
    { from: name('old'), to: name('a') },
    { from: name('old', 'b2z/'), to: name('src/new') },
  ]
  expect(seen(changes, renames)).toEqual(changes)
  expect(seen(changes, [])).toEqual(changes)
})

test('what did not move is told as before', () => {
  const [one] = seen(changes, [])
  expect(one && wordOf(one)).toBe('modified')
  expect(one && whatChanged(one)).toBe('modified')
  expect(whatChanged({ ...change('a', 'mode'), modes: { before: 0o100644, after: 0o100600 } })).toBe(
    'permissions 0644 to 0600',
  )
})
