/** Files that moved, and lines, in a real sandbox. */
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { joined } from './moved-files.ts'
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
