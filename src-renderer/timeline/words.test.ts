import { expect, test } from 'vitest'
import { point } from '../fixtures/points.ts'
import type { PointRow } from './rows.ts'
import { leftBy, markOf, spokenPoint, titleOf } from './words.ts'

const row = (rest: Partial<PointRow> & Pick<PointRow, 'point'>): PointRow => ({
  kind: 'point',
  id: rest.point.id,
  branch: null,
  left: false,
  ...rest,
})
const pass = { status: 'pass' as const, text: '', at: new Date() }

test('a point is spoken as label, kind, verdict and time', () => {
  const stable = row({ point: point('stable', 'base', 1, { verdict: pass }) })
  expect(spokenPoint(stable, '2 minutes ago')).toBe('stable, checkpoint, pass, 2 minutes ago')
  expect(spokenPoint(stable, 'just now', true)).toBe('stable, checkpoint, pass, committed, just now')
})

test('a branch is spoken with its letter and how it was left', () => {
  const tip = point('t', 'x', 4, { kind: 'tip', label: null, takenBy: 'auto', why: 'left by the rewind to stable' })
  const branch = { letter: 'A', from: 'x', points: [tip] }
  expect(spokenPoint(row({ point: tip, branch, left: true }), 'just now')).toBe(
    'Left by the rewind to stable, left by a rewind, just now, branch A',
  )
})

test('who left a branch is said where no reason was given', () => {
  expect(leftBy(point('t', 'x', 4, { takenBy: 'agent' }))).toBe('Left by an agent')
  expect(leftBy(point('t', 'x', 4, { why: 'tests failed' }))).toBe('Left: tests failed')
})

test('the verdict decides the shape of the mark', () => {
  expect(markOf(row({ point: point('a', 'base', 1, { verdict: pass, takenBy: 'auto' }) }))).toBe('pass')
  expect(markOf(row({ point: point('a', 'base', 1, { takenBy: 'auto' }) }))).toBe('tick')
  expect(markOf(row({ point: point('base', null, 0) }))).toBe('base')
})

test('a label cannot turn the reading direction or break the line', () => {
  expect(titleOf(point('a', 'base', 1, { label: 'x\u202ey\nz' }))).toBe('x\\u{202e}y\\nz')
})
