import { expect, test } from 'vitest'
import { autoPoint, point } from '../fixtures/points.ts'
import { choicesFor } from './choices.ts'

const points = [
  point('base', null, 0),
  ...Array.from({ length: 40 }, (_, n) => autoPoint(`auto ${n + 1}`, n === 0 ? 'base' : `auto ${n}`, n + 1)),
  point('before the migration', 'auto 40', 41),
]
const offer = (typed: string, can: (action: string) => boolean = () => true) => {
  const { actions, points: moments } = choicesFor(typed, can, [], points)
  return { actions: actions.map(({ what }) => what.action), points: moments.map(({ text }) => text) }
}

test('before anything is typed: what can be done now, and the named points', () => {
  const { actions, points } = offer('', (action) => action === 'rewind' || action === 'palette')
  expect(actions).toEqual(['rewind'])
  expect(points).toEqual(['before the migration', 'base'])
})

test('a few letters of it are enough, the best first', () => {
  expect(offer('commit').actions[0]).toBe('commit')
  expect(offer('undo').actions).toEqual(['undo'])
  expect(offer('mess').actions).toContain('messages')
  expect(offer('qqq')).toEqual({ actions: [], points: [] })
})

test('points are found by their words, the newest first, and not more than can be looked through', () => {
  expect(offer('migration').points).toEqual(['before the migration'])
  expect(offer('write_file').points).toHaveLength(20)
  expect(offer('write_file').points[0]).toBe('auto 40')
})
