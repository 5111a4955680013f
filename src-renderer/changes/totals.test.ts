import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SeenChange } from './seen.ts'
import { createTotaller, type Totals } from './totals.ts'

const file = (path: string, rest: Partial<SeenChange> = {}): SeenChange => ({
  path,
  rawPath: null,
  status: 'modified',
  kind: 'file',
  before: 1,
  after: 1,
  ...rest,
})

let asked: string[][] = []
let known: Totals = new Map()
beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  known = new Map()
})
afterEach(() => vi.useRealTimers())

const totaller = (answer = (path: string) => (path === 'binary' ? null : { added: path.length, deleted: 0 })) =>
  createTotaller(
    async (changes) => {
      asked.push(changes.map(({ path }) => path))
      return changes.map(({ path }) => answer(path))
    },
    (totals) => {
      known = totals
    },
  )
const rest = () => vi.advanceTimersByTimeAsync(2_000)

test('what is in view when scrolling rests is asked for, once', async () => {
  const { want } = totaller()
  want([file('passing')], 0)
  want([file('aa'), file('binary'), file('folder', { kind: 'folder' }), file('only', { status: 'mode' })], 0)
  await rest()
  want([file('aa'), file('b')], 0)
  await rest()
  expect(asked).toEqual([['aa', 'binary'], ['b']])
  expect([...known]).toEqual([
    ['aa', { added: 2, deleted: 0 }],
    ['b', { added: 1, deleted: 0 }],
  ])
})

test('many are asked for in parts', async () => {
  totaller().want(
    Array.from({ length: 60 }, (_, at) => file(`${at}`)),
    0,
  )
  await rest()
  expect(asked.map(({ length }) => length)).toEqual([25, 25, 10])
})

test('files that changed again are asked for again, and show what they had until the answer comes', async () => {
  let added = 1
  const { want } = totaller(() => ({ added, deleted: 0 }))
  want([file('a')], 0)
  await rest()
  added = 2
  want([file('a')], 1)
  expect(known.get('a')?.added).toBe(1)
  await rest()
  expect(known.get('a')?.added).toBe(2)
})

test('a host that cannot say is asked again by whoever looks again, not without end; nothing is told after the end', async () => {
  let fails = 0
  const failing = createTotaller(
    async () => {
      fails++
      throw new Error('away')
    },
    (totals) => {
      known = totals
    },
  )
  failing.want([file('a')], 0)
  await rest()
  expect(fails).toBe(1)
  expect(known.size).toBe(0)
  failing.want([file('a')], 0)
  await rest()
  expect(fails).toBe(2)

  const closed = totaller()
  closed.want([file('a')], 0)
  closed.close()
  await rest()
  expect(asked).toEqual([])
})
