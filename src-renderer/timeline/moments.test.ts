import { describe, expect, test } from 'vitest'
import { point } from '../fixtures/points.ts'
import { comparisonOf, endOf, newestOf } from './moments.ts'
import { createSelectionStore, extended, NOW } from './selection-store.ts'

const timeline = {
  session: 's',
  head: 'two',
  epoch: 0,
  undo: null,
  points: [point('base', null, 0), point('one', 'base', 1), point('two', 'one', 2)],
}
const single = { moment: NOW, other: null, against: 'parent', tab: 'changes' } as const

describe('what is compared', () => {
  test('now: against the last point', () => {
    expect(comparisonOf(timeline, single)).toEqual({ from: 'two', to: NOW })
  })

  test('now after an undone rewind: what it brought back is in no point yet, a tip is none', () => {
    const left = { ...point('left', 'one', 3), kind: 'tip' as const }
    const undone = { ...timeline, head: 'left', points: [...timeline.points, left] }
    expect(comparisonOf(undone, single)).toEqual({ from: 'one', to: NOW })
  })

  test('a point: its own step, or everything since', () => {
    expect(comparisonOf(timeline, { ...single, moment: 'two' })).toEqual({ from: 'one', to: 'two' })
    expect(comparisonOf(timeline, { ...single, moment: 'one', against: 'now' })).toEqual({ from: 'one', to: NOW })
  })

  test('base has no step of its own', () => {
    expect(comparisonOf(timeline, { ...single, moment: 'base' })).toBeNull()
  })

  test('two moments: the older first, whichever was chosen first', () => {
    expect(comparisonOf(timeline, { ...single, moment: 'two', other: 'base' })).toEqual({ from: 'base', to: 'two' })
    expect(comparisonOf(timeline, { ...single, moment: NOW, other: 'one' })).toEqual({ from: 'one', to: NOW })
  })
})

test('a point lasts until the next one is taken, the last one until now', () => {
  expect(endOf(timeline, 'one')).toEqual(timeline.points[2]?.at)
  expect(endOf(timeline, 'two')).toBeNull()
  expect(endOf(timeline, NOW)).toBeNull()
})

test('of two moments the newer one tells the history', () => {
  expect(newestOf(timeline, { moment: 'two', other: 'base' })).toBe('two')
  expect(newestOf(timeline, { moment: 'one', other: NOW })).toBe(NOW)
  expect(newestOf(timeline, { moment: 'one', other: null })).toBe('one')
})

describe('the selection', () => {
  test('a second moment makes a range, and taking it back makes one moment again', () => {
    expect(extended({ ...single, moment: 'one' }, 'two')).toMatchObject({ moment: 'one', other: 'two' })
    expect(extended({ ...single, moment: 'one', other: 'two' }, 'one')).toMatchObject({ moment: 'one', other: null })
  })

  test('choosing anew or going to now ends a range', () => {
    const store = createSelectionStore()
    store.select('one')
    store.extend('two')
    store.select('base')
    expect(store.getState()).toMatchObject({ moment: 'base', other: null })
    store.extend('two')
    store.toNow()
    expect(store.getState()).toMatchObject({ moment: NOW, other: null })
  })
})
