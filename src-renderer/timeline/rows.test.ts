import { describe, expect, test } from 'vitest'
import type { Point } from '../../src-main/contract/index.ts'
import { autoPoint, point } from '../fixtures/points.ts'
import { rangeOf, rowsOf, type TimelineRow } from './rows.ts'

const view = { opened: new Set<string>(), keep: new Set<string>(), fold: true, shown: null }
const ids = (rows: readonly TimelineRow[]) => rows.map((row) => row.id)

/** base, then `count` automatic points, then `named`. */
function line(count: number): Point[] {
  const points = [point('base', null, 0)]
  for (let n = 1; n <= count; n++) points.push(autoPoint(`a${n}`, n === 1 ? 'base' : `a${n - 1}`, n))
  return points
}

describe('rows of the timeline', () => {
  test('newest first, with now on top', () => {
    const points = [point('base', null, 0), point('one', 'base', 1), point('two', 'one', 2)]
    expect(ids(rowsOf(points, 'two', view))).toEqual(['now', 'two', 'one', 'base'])
  })

  test('the newest automatic points stay in view, older ones are one fold', () => {
    expect(ids(rowsOf(line(12), 'a12', view))).toEqual(['now', 'a12', 'a11', 'a10', 'a9', 'a8', 'fold:a1', 'base'])
  })

  test('a fold keeps its name while it grows, so that an opened one stays open', () => {
    const opened = new Set(['fold:a1'])
    expect(ids(rowsOf(line(12), 'a12', { ...view, opened }))).not.toContain('fold:a1')
    expect(ids(rowsOf(line(13), 'a13', { ...view, opened }))).toHaveLength(15)
  })

  test('what is selected is never folded away, nor what a branch hangs from, nor a verdict', () => {
    const points = line(14)
    expect(ids(rowsOf(points, 'a14', { ...view, keep: new Set(['a5']) }))).toContain('a5')
    const judged = points.map((one) =>
      one.id === 'a4' ? { ...one, verdict: { status: 'fail' as const, text: '', at: new Date() } } : one,
    )
    expect(ids(rowsOf(judged, 'a14', view))).toContain('a4')
    const branched = [...points, point('tip', 'a3', 20, { kind: 'tip', label: null })]
    expect(ids(rowsOf(branched, 'a14', view))).toContain('a3')
  })

  test('of a filtered timeline there is what passes, and what is kept', () => {
    const shown = new Set(['a2', 'a3'])
    expect(ids(rowsOf(line(14), 'a14', { ...view, shown }))).toEqual(['now', 'a3', 'a2'])
    expect(ids(rowsOf(line(14), 'a14', { ...view, shown, keep: new Set(['a9']) }))).toEqual(['now', 'a9', 'a3', 'a2'])
  })

  test('the last point of a branch says that it was left', () => {
    const points = [point('base', null, 0), point('one', 'base', 1), point('lost', 'one', 2), point('tip', 'lost', 3)]
    const rows = rowsOf(points, 'one', view)
    const left = rows.filter((row) => row.kind === 'point' && row.left)
    expect(ids(left)).toEqual(['tip'])
    expect(left[0]).toMatchObject({ branch: { letter: 'A', from: 'one' } })
  })

  test('a range is found from either end, also inside a fold', () => {
    const rows = rowsOf(line(12), 'a12', view)
    expect(rangeOf(rows, 'a10', 'a12')).toEqual({ from: 1, to: 3 })
    expect(rangeOf(rows, 'a12', 'a2')).toEqual({ from: 1, to: 6 })
    expect(rangeOf(rows, 'a12', 'gone')).toBeNull()
  })

  test('a hundred thousand points on three thousand branches are laid out in a time that their square could not hold', () => {
    const points = [point('base', null, 0)]
    let head = 'base'
    for (let n = 1; n < 100_000; n++) {
      const parent = n % 33 === 0 ? (points[Math.max(0, n - 6)]?.id ?? head) : head
      points.push(n % 10 === 0 ? point(`p${n}`, parent, n) : autoPoint(`p${n}`, parent, n))
      head = `p${n}`
    }
    const begun = performance.now()
    rowsOf(points, head, view)
    expect(performance.now() - begun).toBeLessThan(20_000)
  })
})
