import { describe, expect, test } from 'vitest'
import type { CommitEntry } from '../../src-main/contract/index.ts'
import { canBeTaken, isChosen, isContested, requestFor, rowsOf } from './choice.ts'

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
  return request && { ...request, paths: request.paths?.map(({ path }) => path) ?? null }
}

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
    expect(some.map((row) => isChosen(row, new Set()))).toEqual([true, false, false])
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
    expect(requestFor(some, new Set(), true)).toMatchObject({
      paths: [{ path: 'a' }],
      force: true,
      skipConflicts: false,
    })
    expect(requestFor(rows(entry('a')), new Set(), true)).toMatchObject({ paths: null, force: true })
  })

  test('what the sandbox never saw cannot be had removed', () => {
    const [row] = rows(entry('a', { conflict: 'folder-in-use', status: 'deleted', kind: 'folder' }))
    expect(row && [isContested(row), canBeTaken(row), isChosen(row, new Set(['a']))]).toEqual([true, false, false])
    expect(asked(rows(entry('a', { conflict: 'folder-in-use' })))).toBeNull()
  })

  test('a folder is named only where all in it is chosen', () => {
    const some = rows(folder('new'), entry('new/a'), entry('new/b'), folder('new/sub'), entry('new/sub/c'))
    expect(asked(some, 'new/b')?.paths).toEqual(['new/a', 'new/sub', 'new/sub/c'])
    expect(asked(some, ...some.map(({ key }) => key))).toBeNull()
    expect(asked(rows(folder('new'), folder('newer')), 'newer')?.paths).toEqual(['new'])
  })
})
