import { expect, test } from 'vitest'
import type { Change, ChangeStatus } from '../../src-main/contract/index.ts'
import { firstFile, listOf, parentOf, type Row, rowsOf, treeOf } from './tree.ts'

const change = (path: string, status: ChangeStatus = 'modified', kind: Change['kind'] = 'file'): Change => ({
  path,
  rawPath: null,
  status,
  kind,
  before: 1,
  after: 1,
})
const drawn = (rows: readonly Row[]) =>
  rows.map(
    ({ name, level, folder }) =>
      `${'  '.repeat(level - 1)}${name}${folder ? (folder.isOpen ? '/ v' : `/ > ${folder.files}`) : ''}`,
  )
const rows = (paths: string[], closed: string[] = []) =>
  rowsOf(treeOf(paths.map((path) => change(path))), (path) => closed.includes(path))

test('folders come before files, and a chain of folders is one row', () => {
  expect(drawn(rows(['README.md', 'src/app/lib/a.ts', 'src/app/lib/b.ts', 'test/x.ts', 'test/y/z.ts']))).toEqual([
    'src/app/lib/ v',
    '  a.ts',
    '  b.ts',
    'test/ v',
    '  y/ v',
    '    z.ts',
    '  x.ts',
    'README.md',
  ])
})

test('a closed folder hides what is in it and says how many files that is', () => {
  const paths = ['src/a.ts', 'src/in/b.ts', 'src/in/deep/c.ts', 'z']
  expect(drawn(rows(paths, ['src/in']))).toEqual(['src/ v', '  in/ > 2', '  a.ts', 'z'])
  expect(drawn(rows(paths, ['src']))).toEqual(['src/ > 3', 'z'])
})

test('a folder that changed itself is told on its row, and joins a chain of what changed alike', () => {
  const all = [
    change('new', 'added', 'folder'),
    change('new/in', 'added', 'folder'),
    change('new/in/a', 'added'),
    change('old', 'mode', 'folder'),
    change('old/in/b'),
    change('was-a-file', 'type', 'folder'),
    change('was-a-file/c', 'added'),
  ]
  const found = rowsOf(treeOf(all))
  expect(drawn(found)).toEqual(['new/in/ v', '  a', 'old/ v', '  in/ v', '    b', 'was-a-file/ v', '  c'])
  expect(found.map((row) => row.change?.status)).toEqual([
    'added',
    'added',
    'mode',
    undefined,
    'modified',
    'type',
    'added',
  ])
  // An empty one has nothing to fold.
  expect(rowsOf(treeOf([change('empty', 'added', 'folder')]))[0]?.folder).toBeNull()
})

test('a folder that became a file keeps what was in it beneath it', () => {
  const found = rowsOf(treeOf([change('a', 'type'), change('a/b', 'deleted')]))
  expect(drawn(found)).toEqual(['a/ v', '  b'])
  expect(found[0]?.change?.kind).toBe('file')
})

test('names that only read alike have rows of their own', () => {
  const raw = (rawPath: string | null): Change => ({ ...change('d/a\\n'), rawPath })
  const keys = rowsOf(treeOf([raw(null), raw('ZC9hCg==')])).map(({ key }) => key)
  expect(new Set(keys).size).toBe(3)
})

test('a folder and a file that read alike are two, and each has what is in it', () => {
  const raw = (path: string, bytes: string, status?: ChangeStatus): Change => ({
    ...change(path, status),
    rawPath: btoa(bytes),
  })
  // A file named with a backslash beside a folder with the name of one byte; é is in both, as text and as bytes.
  const changes = [
    change('é/\\xFF'),
    change('é/\\xFF2/a'),
    raw('é/\\xFF/a', '\xc3\xa9/\xff/a'),
    raw('é/\\xFF/b\\n', '\xc3\xa9/\xff/b\n'),
    raw('é/\\xFF2/b', '\xc3\xa9/\xff2/b'),
  ]
  const found = rowsOf(treeOf(changes))
  expect(drawn(found)).toEqual([
    'é/ v',
    '  \\xFF/ v',
    '    a',
    '    b\\n',
    '  \\xFF2/ v',
    '    a',
    '  \\xFF2/ v',
    '    b',
    '  \\xFF',
  ])
  expect(new Set(found.map(({ key }) => key)).size).toBe(found.length)
  expect(found.flatMap((row) => row.change ?? [])).toHaveLength(changes.length)
  // Only the one of the two is closed.
  expect(drawn(rowsOf(treeOf(changes), (key) => key === found[6]?.key)).slice(4)).toEqual([
    '  \\xFF2/ v',
    '    a',
    '  \\xFF2/ > 1',
    '  \\xFF',
  ])
  // Bytes as base64 are also somebody's file name.
  expect(listOf([change('Lw=='), raw('/', '/')]).map(({ key }) => key)).toEqual(['Lw==', '/'])
})

test('each row knows its place, and the folder that it is in', () => {
  const found = rows(['a/b', 'a/c', 'd'])
  expect(found.map(({ place }) => `${place.at + 1} of ${place.of}`)).toEqual(['1 of 2', '1 of 2', '2 of 2', '2 of 2'])
  expect(found.map((_, at) => parentOf(found, at))).toEqual([-1, 0, 0, -1])
})

test('what is shown first is the first file of the rows', () => {
  const changes = [change('a.txt'), change('b', 'mode', 'folder'), change('b/c.txt')]
  expect(firstFile(rowsOf(treeOf(changes)))?.path).toBe('b/c.txt')
  expect(firstFile(listOf(changes))?.path).toBe('a.txt')
  expect(firstFile(listOf([change('only', 'added', 'folder')]))?.path).toBe('only')
  expect(firstFile([])).toBeNull()
})

test('ten thousand files, and a path of a thousand folders, are a moment', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => change(`src/${at % 100}/part-${at % 7}/${at}.ts`))
  const deep = change(`${Array.from({ length: 1000 }, (_, at) => at).join('/')}/end`)
  const started = performance.now()
  expect(rowsOf(treeOf([...many, deep])).length).toBeGreaterThan(10_000)
  expect(performance.now() - started).toBeLessThan(2000)
})
