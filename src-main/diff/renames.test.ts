import { expect, test } from 'vitest'
import type { Change } from '../contract/index.ts'
import { type Candidate, renamesAmong } from './index.ts'

const file = (path: string, content: string | Uint8Array): Candidate => {
  const bytes = Buffer.from(content as string)
  const change: Change = { path, rawPath: null, status: 'added', kind: 'file', before: null, after: bytes.length }
  return { change, bytes }
}
const lines = (seed: string, count = 20) => Array.from({ length: count }, (_, at) => `${seed} line ${at}\n`).join('')
const found = (gone: Candidate[], come: Candidate[]) =>
  renamesAmong(gone, come).map(({ from, to }) => `${from.path} -> ${to.path}`)

test('the same bytes elsewhere are the same file, whatever they are', () => {
  const bytes = Uint8Array.from([0, 255, 3])
  expect(found([file('a', bytes), file('b', 'x')], [file('c', 'y'), file('d/e', bytes)])).toEqual(['a -> d/e'])
})

test('among copies, the one that kept its name; each file is one other', () => {
  const gone = [file('one/x.ts', 'same\n'), file('two/y.ts', 'same\n')]
  expect(found(gone, [file('new/y.ts', 'same\n'), file('new/z.ts', 'same\n'), file('new/w.ts', 'same\n')])).toEqual([
    'two/y.ts -> new/y.ts',
    'one/x.ts -> new/z.ts',
  ])
})

test('most of the same lines are the same file; half of another is not', () => {
  const edited = lines('a').replace('a line 3', 'edited').replace('a line 9', 'edited too')
  const half = lines('b', 9) + lines('c', 11)
  expect(
    found([file('a.ts', lines('a')), file('b.ts', lines('b'))], [file('moved.ts', edited), file('half.ts', half)]),
  ).toEqual(['a.ts -> moved.ts'])
})

test('the likest is taken, and a small file is never alike by chance', () => {
  const gone = [file('near.ts', lines('a').replace('a line 1\n', '')), file('far.ts', lines('a', 14))]
  expect(found(gone, [file('new.ts', lines('a'))])).toEqual(['near.ts -> new.ts'])
  expect(found([file('a', '{}\n1\n')], [file('b', '{}\n2\n')])).toEqual([])
  expect(found([file('a', '')], [file('b', '')])).toEqual([])
  expect(found([file('a', 'x')], [])).toEqual([])
})

test('bytes that only look alike are not compared by lines', () => {
  const text = lines('a')
  expect(found([file('a', `\0${text}`)], [file('b', `\0\0${text}`)])).toEqual([])
})

test('a thousand files that are all alike end soon', () => {
  const make = (at: number) =>
    Array.from({ length: 1000 }, (_, line) => `${line % 990 === 0 ? at : 0} ${line}\n`).join('')
  const gone = Array.from({ length: 400 }, (_, at) => file(`old/${at}.ts`, make(at)))
  const come = Array.from({ length: 400 }, (_, at) => file(`new/${at}.ts`, `${make(at)}end\n`))
  const started = performance.now()
  // Files that kept their name come first, before the budget is spent.
  expect(found(gone, come)).toContain('old/3.ts -> new/3.ts')
  expect(performance.now() - started).toBeLessThan(2_000)
})
