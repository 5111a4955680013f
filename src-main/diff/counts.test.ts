import { expect, test } from 'vitest'
import type { Change } from '../contract/index.ts'
import { changeLetter, countChanges } from './index.ts'

const change = (status: Change['status'], kind: Change['kind'] = 'file'): Change => ({
  path: 'a',
  rawPath: null,
  status,
  kind,
  before: null,
  after: null,
})

test('counts entries that are no folders, by what became of them', () => {
  const changes = [
    change('added'),
    change('added', 'symlink'),
    change('added', 'folder'),
    change('modified'),
    change('mode'),
    change('mode', 'folder'),
    change('type'),
    change('deleted', 'other'),
    change('deleted', 'folder'),
  ]
  expect(countChanges(changes)).toEqual({ added: 2, modified: 3, deleted: 1 })
  expect(countChanges([])).toEqual({ added: 0, modified: 0, deleted: 0 })
})

test('a file in whose place there is a folder now was deleted', () => {
  expect(countChanges([change('type', 'folder')])).toEqual({ added: 0, modified: 0, deleted: 1 })
})

test('each status has its letter', () => {
  expect((['added', 'modified', 'deleted', 'type', 'mode'] as const).map(changeLetter).join('')).toBe('AMDTP')
})
