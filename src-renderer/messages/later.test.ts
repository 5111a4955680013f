import { expect, test } from 'vitest'
import { point } from '../fixtures/points.ts'
import { endOfLine, laterMessages } from './later.ts'

const points = [
  point('base', null, 0),
  point('stable', 'base', 1),
  point('lost', 'stable', 2),
  point('tipA', 'lost', 3, { kind: 'tip' }),
  point('again', 'stable', 4),
]
const timeline = { session: 's', head: 'again', epoch: 1, undo: 'tipA', points }

test('a point of the current line goes on until now, one of a branch until a rewind left it', () => {
  expect(['now', 'base', 'stable', 'again', 'lost', 'tipA'].map((moment) => endOfLine(timeline, moment))).toEqual([
    null,
    'now',
    'now',
    'now',
    'tipA',
    null,
  ])
})

test('what was not there yet, with its place in the later history', () => {
  const say = (content: string) => ({ role: 'user', content })
  const [a, b, c] = [say('a'), say('b'), say('c')]
  expect(laterMessages([a, b, say('a'), c], [say('a'), say('b')])).toEqual([
    { message: say('a'), index: 2 },
    { message: c, index: 3 },
  ])
  expect(laterMessages([a, b], [a, b])).toEqual([])
  expect(laterMessages([a], [])).toEqual([{ message: a, index: 0 }])
  // The history was compacted since.
  expect(laterMessages([say('summary'), c], [a, b]).map(({ message }) => message.content)).toEqual(['summary', 'c'])
})
