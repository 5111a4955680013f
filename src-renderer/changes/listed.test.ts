import { expect, test } from 'vitest'
import type { Change, Rename } from '../../src-main/contract/index.ts'
import { listed } from './listed.ts'

const change = (path: string, status: Change['status']): Change => ({
  path,
  rawPath: null,
  status,
  kind: 'file',
  before: status === 'added' ? null : 1,
  after: status === 'deleted' ? null : 1,
})
const changes = [change('a', 'deleted'), change('b', 'added')]
const between = { session: 's', from: 'one', to: 'two' }
const counts = { added: 1, modified: 0, deleted: 1 }

const list = (renames: () => Promise<{ renames: Rename[] }>, all = async () => changes) =>
  listed(
    { changes: async () => ({ from: 'one', to: 'two', changes: await all(), counts, truncated: false }), renames },
    between,
    new AbortController().signal,
  )
const paths = (changes: readonly Change[]) => changes.map(({ path }) => path)

test('a file that moved is one row, and two where nobody can say that it did', async () => {
  const name = (path: string) => ({ path, rawPath: null })
  const moved = await list(async () => ({ renames: [{ from: name('a'), to: name('b') }] }))
  expect(paths(moved.changes)).toEqual(['b'])
  const apart = await list(() => Promise.reject(new Error('not to be read')))
  expect([paths(apart.changes), apart.counts, apart.more]).toEqual([['a', 'b'], counts, 0])
})

test('where the changes themselves are not known there is no list', async () => {
  const none = list(
    async () => ({ renames: [] }),
    () => Promise.reject(new Error('away')),
  )
  await expect(none).rejects.toThrow('away')
})
