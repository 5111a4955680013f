/** Files that moved, and lines, in a real sandbox. */
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  type Change,
  EngineUnavailableError,
  FileNotFoundError,
  type FilePair,
  type LineTotals,
} from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import { joined, linesBetween, renamesBetween } from './moved-files.ts'
import { begin, checkpoint, run, testHome } from './testing.ts'

const lines = (seed: string, count = 30) => Array.from({ length: count }, (_, at) => `${seed} ${at}\n`).join('')
const bytes = (content: string) => Buffer.from(content).toString('base64')

suiteNeeding(['local'], 'files that moved', () => {
  test('are told by what is in them, and shown under both names', async () => {
    const place = testHome()
    const { manager, close } = await place.open()
    try {
      const session = await begin(manager, place.workspace)
      const write = (path: string, content: string, encoding: 'utf-8' | 'base64' = 'utf-8') =>
        session.write({ path, content, encoding, tool: null })
      await write('lib/same.bin', bytes('\0same'), 'base64')
      await write('lib/edited.ts', lines('a'))
      await write('lib/gone.ts', lines('b'))
      await run(session, "printf 'odd\\n' > \"$(printf 'lib/\\377')\"")
      await checkpoint(session, 'before')
      await run(session, 'mkdir src && mv lib/same.bin src/ && mv lib/edited.ts src/moved.ts && rm lib/gone.ts')
      await run(session, "chmod +x src/moved.ts; sed -i 's/^a 3$/edited/' src/moved.ts; echo new > src/new.ts")
      await run(session, 'mv "$(printf \'lib/\\377\')" src/even')
      const between = { from: 'before', to: 'now' }

      const { renames } = await session.renames(between)
      expect(renames.map(({ from }) => from.path)).toEqual(['lib/\\xFF', 'lib/edited.ts', 'lib/same.bin'])
      expect(renames[0]?.from.rawPath).toBe(Buffer.from('lib/\xff', 'latin1').toString('base64'))
      expect(renames.map(({ to }) => to)).toEqual([
        { path: 'src/even', rawPath: null },
        { path: 'src/moved.ts', rawPath: null },
        { path: 'src/same.bin', rawPath: null },
      ])

      const [, edited, same] = renames
      if (!edited || !same) throw new Error('not found')
      const pair = await session.pair({ ...edited.to, was: edited.from, ...between })
      expect(pair).toEqual({ kind: 'text', before: lines('a'), after: lines('a').replace('a 3\n', 'edited\n') })
      expect(await session.pair({ ...same.to, was: same.from, ...between })).toEqual({
        kind: 'binary',
        before: 5,
        after: 5,
      })
      expect(
        await session.lines({
          ...between,
          paths: [
            { ...edited.to, was: edited.from },
            { ...same.to, was: same.from },
            { path: 'src/new.ts', rawPath: null },
            { path: 'lib/gone.ts', rawPath: null },
          ],
        }),
      ).toEqual([{ added: 1, deleted: 1 }, null, { added: 1, deleted: 0 }, { added: 0, deleted: 30 }])

      // Two frozen points as well, also when the sandbox has ended.
      await checkpoint(session, 'after')
      await session.end()
      expect((await session.renames({ from: 'before', to: 'after' })).renames).toEqual(renames)
      expect((await session.renames({ from: 'after', to: 'after' })).renames).toEqual([])
    } finally {
      await close()
      await place.remove()
    }
  })
})

const MB = 1 << 20
const changed = (path: string, status: 'added' | 'deleted', size: number): Change => ({
  path,
  rawPath: null,
  status,
  kind: 'file',
  before: status === 'deleted' ? size : null,
  after: status === 'added' ? size : null,
})
const went = (path: string, size: number) => changed(path, 'deleted', size)
const came = (path: string, size: number) => changed(path, 'added', size)
const closed = new EngineUnavailableError('its mode keeps this user out', { data: { path: 'lib' } })
const gone = new FileNotFoundError('no file of that state any more')

/** By path: what is in a file, repeated up to its size, or why it cannot be read. Says what was read of each. */
function filesOf(files: Record<string, { of: string; size: number } | Error>) {
  const read: Record<string, number> = {}
  let calls = 0
  const pieces: Sandbox['pieces'] = async (_, paths, at, limit) => {
    if (++calls > 200) throw new Error('reads on and on')
    const found = []
    let left = limit
    for (let { index, offset } = at; index < paths.length; index++, offset = 0) {
      const path = Buffer.from(paths[index] ?? []).toString()
      const file = files[path] ?? gone
      if (file instanceof Error) throw file
      const length = Math.min(left, file.size - offset)
      found.push({ index, bytes: Buffer.alloc(length, file.of), writtenAt: 0 })
      read[path] = (read[path] ?? 0) + length
      left -= length
      if (offset + length < file.size) return { pieces: found, next: { index, offset: offset + length } }
    }
    return { pieces: found, next: null }
  }
  const moved = async (...changes: Change[]) =>
    (await renamesBetween({ pieces }, changes, 'now', 'now')).map(({ from, to }) => `${from.path} ${to.path}`)
  return { moved, read, calls: () => calls }
}
const small = (of: string) => ({ of, size: 100 })

test('a file that grew since it was listed is not read to its end, and hides none of the others', async () => {
  const files = filesOf({
    'old/a': small('a'),
    'old/z': small('z'),
    'new/a': { of: 'a', size: 2 ** 40 },
    'new/z': small('z'),
  })
  const listed = [went('old/a', 100), went('old/z', 100), came('new/a', 100), came('new/z', 100)]
  expect(await files.moved(...listed)).toEqual(['old/z new/z'])
  expect(files.read['new/a']).toBeLessThanOrEqual(MB)
})

test('of many that grew no more is read than of files that did not', async () => {
  const grown = Array.from({ length: 100 }, (_, at) => `new/${at}`)
  const files = filesOf({
    old: small('a'),
    ...Object.fromEntries(grown.map((path) => [path, { of: 'a', size: 2 ** 40 }])),
  })
  expect(await files.moved(went('old', 100), ...grown.map((path) => came(path, 100)))).toEqual([])
  expect(Object.values(files.read).reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(9 * MB + 100)
})

test('a file that cannot be read leaves the others as they are', async () => {
  const names = Array.from({ length: 300 }, (_, at) => `${at}`)
  const files = filesOf({
    ...Object.fromEntries(names.flatMap((name) => ['old/', 'new/'].map((where) => [where + name, small(`${name} `)]))),
    'new/7': closed,
    'new/250': gone,
    'old/40': closed,
  })
  const moved = await files.moved(...names.flatMap((name) => [went(`old/${name}`, 100), came(`new/${name}`, 100)]))
  const left = names.filter((name) => !['7', '40', '250'].includes(name))
  expect(moved).toEqual(left.map((name) => `old/${name} new/${name}`).sort())
  expect(files.calls()).toBeLessThan(100)
  // Not a file, but all of it.
  const away = new EngineUnavailableError('Docker is not running')
  await expect(filesOf({ old: away, new: small('a') }).moved(went('old', 100), came('new', 100))).rejects.toBe(away)
})

test('a file too large to be read takes no room from those after it', async () => {
  const files = filesOf({ 'a/old': small('a'), 'b/new': small('a') })
  const large = [went('0', 20 * MB), came('1', 20 * MB)]
  expect(await files.moved(...large, went('a/old', 100), came('b/new', 100))).toEqual(['a/old b/new'])
})

test('lines that cannot be counted are missing of their own file alone', async () => {
  const count = (pair: Sandbox['pair'], ...paths: string[]): Promise<(LineTotals | null)[]> =>
    linesBetween(
      { pair },
      paths.map((path) => ({ path: Buffer.from(path) })),
      'now',
      'now',
    )
  const one: FilePair = { kind: 'text', before: 'a\n', after: 'a\nb\n' }
  const pair: Sandbox['pair'] = async (path) => {
    const name = Buffer.from(path).toString()
    if (name === 'closed') throw closed
    if (name === 'gone') throw gone
    return one
  }
  const counted = { added: 1, deleted: 0 }
  expect(await count(pair, 'a', 'closed', 'gone', 'b')).toEqual([counted, null, null, counted])
  const away = new EngineUnavailableError('Docker is not running')
  await expect(count(() => Promise.reject(away), 'a')).rejects.toBe(away)
})

test('the two sides of a file that moved are one pair, whatever they are', () => {
  const text = { kind: 'text', before: 'ab', after: null } as const
  expect(joined(text, { kind: 'text', before: null, after: 'b' })).toEqual({ kind: 'text', before: 'ab', after: 'b' })
  expect(joined(text, { kind: 'binary', before: null, after: 9 })).toEqual({ kind: 'binary', before: 2, after: 9 })
  expect(joined({ kind: 'binary', before: 7, after: null }, { kind: 'large', before: null, after: 9 })).toEqual({
    kind: 'large',
    before: 7,
    after: 9,
  })
})
