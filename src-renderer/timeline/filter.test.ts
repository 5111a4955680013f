import { expect, test } from 'vitest'
import { autoPoint, point } from '../fixtures/points.ts'
import { type Filter, isFiltering, NO_FILTER, passing, toggled } from './filter.ts'

const verdict = (status: 'pass' | 'fail') => ({ status, text: '', at: new Date() })
const points = [
  point('base', null, 0),
  point('good', 'base', 1, { verdict: verdict('pass'), pinned: true }),
  autoPoint('auto', 'good', 2),
  point('bad', 'auto', 3, { takenBy: 'agent', verdict: verdict('fail') }),
  point('next', 'good', 4),
]
const passed = (filter: Filter) => [...(passing(filter, points, 'next', new Set(['next'])) ?? [])]

test('without a choice nothing is filtered', () => {
  expect(passing(NO_FILTER, points, 'next', new Set())).toBeNull()
  expect(isFiltering(toggled(toggled(NO_FILTER, 'only', 'pinned'), 'only', 'pinned'))).toBe(false)
})

test('within a group one choice must hold', () => {
  const either = toggled(toggled(NO_FILTER, 'takenBy', 'auto'), 'takenBy', 'agent')
  expect(passed(either)).toEqual(['auto', 'bad'])
  expect(passed(toggled(NO_FILTER, 'verdict', 'fail'))).toEqual(['bad'])
})

test('each group must hold, and each that stands alone', () => {
  const line = toggled(NO_FILTER, 'only', 'line')
  expect(passed(line)).toEqual(['base', 'good', 'next'])
  expect(passed(toggled(line, 'only', 'committed'))).toEqual(['next'])
  expect(passed(toggled(line, 'only', 'pinned'))).toEqual(['good'])
  expect(passed(toggled(line, 'verdict', 'fail'))).toEqual([])
})
