import { describe, expect, test } from 'vitest'
import { point } from '../fixtures/points.ts'
import { barsOf, drawn, extentOf, inSpan, nearest, panned, zoomed } from './overview.ts'

const MINUTE_MS = 60_000
const at = (minute: number) => new Date(minute * MINUTE_MS)
const verdict = (status: 'pass' | 'fail') => ({ status, text: '', at: at(0) })
const points = [
  point('base', null, 0, { at: at(0) }),
  point('one', 'base', 1, { at: at(10), verdict: verdict('pass') }),
  point('two', 'one', 2, { at: at(11), verdict: verdict('fail') }),
  point('three', 'two', 3, { at: at(100) }),
]
const whole = { from: 0, to: 100 * MINUTE_MS }

describe('the strip of a run', () => {
  test('reaches from the first point to the last', () => {
    expect(extentOf(points)).toEqual(whole)
    expect(extentOf([])).toBeNull()
    expect(extentOf(points.slice(0, 1))).toBeNull()
  })

  test('each bar counts its points and tells the gravest verdict; the last point is in the last bar', () => {
    const bars = barsOf(points, whole, 10)
    expect(bars.map(({ count }) => count)).toEqual([1, 2, 0, 0, 0, 0, 0, 0, 0, 1])
    expect(bars[1]?.verdict).toBe('fail')
    expect(barsOf(points, { from: 10 * MINUTE_MS, to: 20 * MINUTE_MS }, 10).map(({ count }) => count)).toEqual([
      1, 1, 0, 0, 0, 0, 0, 0, 0, 0,
    ])
  })

  test('zooming keeps what it is about in its place, from a minute to the whole', () => {
    const nearer = zoomed(whole, whole, 0.5, 10 * MINUTE_MS)
    expect(nearer).toEqual({ from: 5 * MINUTE_MS, to: 55 * MINUTE_MS })
    let span = nearer
    for (let times = 0; times < 20; times++) span = span && zoomed(span, whole, 0.5, 10 * MINUTE_MS)
    expect(span && span.to - span.from).toBe(MINUTE_MS)
    expect(zoomed(nearer ?? whole, whole, 4, 0)).toBeNull()
  })

  test('moving ends at the ends', () => {
    const span = { from: 20 * MINUTE_MS, to: 40 * MINUTE_MS }
    expect(panned(span, whole, 0.5)).toEqual({ from: 30 * MINUTE_MS, to: 50 * MINUTE_MS })
    expect(panned(span, whole, -9)).toEqual({ from: 0, to: 20 * MINUTE_MS })
    expect(panned(span, whole, 9)).toEqual({ from: 80 * MINUTE_MS, to: 100 * MINUTE_MS })
  })

  test('what is drawn is a stretch in either direction, or a click', () => {
    expect(drawn(50 * MINUTE_MS, 20 * MINUTE_MS, whole)).toEqual({ from: 20 * MINUTE_MS, to: 50 * MINUTE_MS })
    expect(drawn(20 * MINUTE_MS, 20.5 * MINUTE_MS, whole)).toBeNull()
  })

  test('a click is about the point that was taken closest', () => {
    expect(nearest(points, 10.4 * MINUTE_MS)?.id).toBe('one')
    expect(nearest(points, 10.6 * MINUTE_MS)?.id).toBe('two')
    expect(nearest(points, -5)?.id).toBe('base')
    expect(nearest(points, 1000 * MINUTE_MS)?.id).toBe('three')
    expect(
      points.filter((one) => inSpan({ from: 10 * MINUTE_MS, to: 11 * MINUTE_MS }, one)).map(({ id }) => id),
    ).toEqual(['one', 'two'])
  })
})
