import { describe, expect, test } from 'vitest'
import type { CommitEntry, CommitPreview } from '../../src-main/contract/index.ts'
import { canBeTaken, chosenOf, countsOf, isContested, mayHaveHunks, type Picks, requestFor, rowsOf } from './choice.ts'

const entry = (path: string, rest: Partial<CommitEntry> = {}): CommitEntry => ({
  path,
  rawPath: null,
  status: 'modified',
  kind: 'file',
  before: 1,
  after: 2,
  conflict: null,
  obstacle: null,
  warning: null,
  ...rest,
})
const folder = (path: string): CommitEntry =>
  entry(path, { status: 'added', kind: 'folder', before: null, after: null })
const rows = (...entries: CommitEntry[]) => rowsOf({ entries })
const asked = (of: ReturnType<typeof rows>, ...turned: string[]) => {
  const request = requestFor(of, new Set(turned))
  if (!request) return null
  const { hunks, ...rest } = request
  expect(hunks).toEqual([])
  return { ...rest, paths: request.paths?.map(({ path }) => path) ?? null }
}
const picks = (given: Record<string, [take: string[], of: number]>): Picks =>
  new Map(Object.entries(given).map(([key, [take, of]]) => [key, { take: new Set(take), of }]))

test('a repository is one row, whatever lies in it; another name is another row', () => {
  const found = rows(
    entry('.git/config'),
    entry('.git/refs/heads/main'),
    entry('.github/x'),
    entry('a.git/x'),
    folder('lib/.git'),
    entry('lib/.git/HEAD'),
    entry('lib/x'),
    entry('\\xff', { rawPath: btoa('\xff') }),
    entry('\\xff/.git/x', { rawPath: btoa('\xff/.git/x') }),
    entry('ü', {}),
  )
  expect(found.map(({ path, entries }) => [path.path, path.rawPath, entries.length])).toEqual([
    ['.git', null, 2],
    ['.github/x', null, 1],
    ['a.git/x', null, 1],
    ['lib/.git', null, 2],
    ['lib/x', null, 1],
    ['\\xff', btoa('\xff'), 1],
    ['\\xff/.git', btoa('\xff/.git'), 1],
    ['ü', null, 1],
  ])
})

describe('what is asked for', () => {
  test('at first everything, without what is in conflict or cannot be written', () => {
    expect(asked(rows(entry('a'), entry('b')))).toEqual({ paths: null, force: false, skipConflicts: false })
    const some = rows(entry('a'), entry('b', { conflict: 'both-changed' }), entry('c', { obstacle: 'special' }))
    expect(asked(some)).toEqual({ paths: null, force: false, skipConflicts: true })
    expect(some.map((row) => chosenOf(row, new Set()))).toEqual(['all', 'none', 'none'])
  })

  test('the sandbox’s side of one conflict, and no other’s', () => {
    const some = rows(
      entry('a'),
      entry('b', { conflict: 'both-changed' }),
      entry('c', { conflict: 'both-added' }),
      entry('d', { obstacle: 'special' }),
    )
    expect(asked(some, 'b')).toEqual({ paths: ['a', 'b'], force: true, skipConflicts: false })
    expect(asked(some, 'd')).toEqual(asked(some))
    const both = rows(entry('a'), entry('b', { conflict: 'both-changed' }))
    expect(asked(both, 'b')).toEqual({ paths: null, force: true, skipConflicts: false })
  })

  test('insisting overrides no conflict that nobody decided', () => {
    const some = rows(entry('a'), entry('b', { conflict: 'both-changed' }))
    expect(requestFor(some, new Set(), picks({}), true)).toMatchObject({
      paths: [{ path: 'a' }],
      force: true,
      skipConflicts: false,
    })
    expect(requestFor(rows(entry('a')), new Set(), picks({}), true)).toMatchObject({ paths: null, force: true })
  })

  test('what the sandbox never saw cannot be had removed', () => {
    const [row] = rows(entry('a', { conflict: 'folder-in-use', status: 'deleted', kind: 'folder' }))
    expect(row && [isContested(row), canBeTaken(row), chosenOf(row, new Set(['a']))]).toEqual([true, false, 'none'])
    expect(asked(rows(entry('a', { conflict: 'folder-in-use' })))).toBeNull()
  })

  test('a folder is named only where all in it is chosen', () => {
    const some = rows(folder('new'), entry('new/a'), entry('new/b'), folder('new/sub'), entry('new/sub/c'))
    expect(asked(some, 'new/b')?.paths).toEqual(['new/a', 'new/sub', 'new/sub/c'])
    expect(asked(some, ...some.map(({ key }) => key))).toBeNull()
    expect(asked(rows(folder('new'), folder('newer')), 'newer')?.paths).toEqual(['new'])
  })
})

describe('hunks', () => {
  const some = rows(entry('a'), entry('b'), entry('c', { conflict: 'both-changed' }))

  test('some of a file go before its path; all of them are the file, none of them leaves it out', () => {
    expect(requestFor(some, new Set(), picks({ b: [['1'], 2] }))).toEqual({
      paths: null,
      hunks: [{ path: 'b', rawPath: null, take: ['1'] }],
      force: false,
      skipConflicts: true,
    })
    expect(requestFor(some, new Set(), picks({ b: [['1', '2'], 2] }))).toMatchObject({ paths: null, hunks: [] })
    expect(requestFor(some, new Set(), picks({ b: [[], 2] }))).toMatchObject({
      paths: [{ path: 'a' }],
      hunks: [],
      skipConflicts: false,
    })
    expect(requestFor(some, new Set(['a']), picks({ b: [['1'], 2] }))).toMatchObject({
      paths: [],
      hunks: [{ path: 'b' }],
    })
    expect(
      ['a', 'b', 'c'].map((key) =>
        chosenOf(some.find((row) => row.key === key) as never, new Set(), picks({ b: [['1'], 2] })),
      ),
    ).toEqual(['all', 'some', 'none'])
  })

  test('merging what both changed needs no force, whole or not', () => {
    const merging = picks({ c: [['1', '2'], 2] })
    expect(requestFor(some, new Set(), merging)).toEqual({
      paths: null,
      hunks: [{ path: 'c', rawPath: null, take: ['1', '2'] }],
      force: false,
      skipConflicts: false,
    })
    // The host's are left where none of the sandbox's are taken.
    expect(requestFor(some, new Set(), picks({ c: [[], 2] }))).toMatchObject({
      paths: null,
      hunks: [],
      skipConflicts: true,
    })
    const two = rows(entry('c', { conflict: 'both-changed' }), entry('d', { conflict: 'both-changed' }))
    expect(requestFor(two, new Set(['d']), merging)).toMatchObject({ paths: null, hunks: [{ path: 'c' }], force: true })
  })

  test('a folder that comes is named although of a file in it some hunks go', () => {
    const inFolder = rows(folder('new'), entry('new/a'), entry('x'))
    expect(requestFor(inFolder, new Set(['x']), picks({ 'new/a': [['1'], 2] }))).toMatchObject({
      paths: [{ path: 'new' }],
    })
  })

  test('only one text file that was edited may have them', () => {
    expect(rows(entry('a'), entry('b', { conflict: 'both-changed' })).every(mayHaveHunks)).toBe(true)
    const none = rows(
      entry('a', { status: 'added' }),
      entry('b', { status: 'mode' }),
      entry('c', { conflict: 'other-kind' }),
      entry('d', { obstacle: 'mount' }),
      entry('e', { kind: 'symlink' }),
      entry('.git/x'),
      entry('.git/y'),
    )
    expect(none.some(mayHaveHunks)).toBe(false)
  })

  test('the counts are of what was chosen', () => {
    const preview = { counts: { added: 1, modified: 3, deleted: 1 } } as CommitPreview
    const of = rows(
      entry('a'),
      entry('b'),
      entry('c', { conflict: 'both-changed' }),
      entry('d', { status: 'deleted' }),
      folder('e'),
      entry('e/f', { status: 'added' }),
    )
    expect(countsOf(preview, of, new Set(), picks({}))).toEqual({ added: 1, modified: 2, deleted: 1 })
    expect(countsOf(preview, of, new Set(['d', 'e']), picks({ a: [[], 2], c: [['1'], 2] }))).toEqual({
      added: 1,
      modified: 2,
      deleted: 0,
    })
  })
})
