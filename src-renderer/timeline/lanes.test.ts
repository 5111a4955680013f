import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Point } from '../../src-main/contract/index.ts'
import { autoPoint, point } from '../fixtures/points.ts'
import { lanesOf } from './lanes.ts'
import { rowsOf } from './rows.ts'

const rowsFor = (points: readonly Point[], head: string, fold = false) =>
  rowsOf(points, head, { opened: new Set(), keep: new Set(), fold, shown: null })

describe('lanes', () => {
  test('without a branch there is one lane, from now to base', () => {
    const rows = rowsFor([point('base', null, 0), point('one', 'base', 1)], 'one')
    const { rows: lines, count } = lanesOf(rows)
    expect(count).toBe(1)
    expect(lines.map(({ up, down }) => [up, down])).toEqual([
      [false, true],
      [true, true],
      [true, false],
    ])
  })

  test('a branch stands beside the line and joins it at the point it hangs from', () => {
    const points = [
      point('base', null, 0),
      point('good', 'base', 1),
      point('lost', 'good', 2),
      point('next', 'good', 3),
    ]
    const rows = rowsFor(points, 'next')
    const { rows: lines } = lanesOf(rows)
    const at = (id: string) => lines[rows.findIndex((row) => row.id === id)]
    expect(at('lost')).toMatchObject({ lane: 1, up: false, down: true, through: [0] })
    expect(at('good')).toMatchObject({ lane: 0, joins: [1] })
    expect(at('base')).toMatchObject({ joins: [], through: [] })
  })

  test('a branch whose origin is filtered away is a line of its own', () => {
    const points = [
      point('base', null, 0),
      point('good', 'base', 1),
      point('lost', 'good', 2),
      point('more', 'lost', 3),
      point('next', 'good', 4),
    ]
    const shown = new Set(['lost', 'more'])
    const rows = rowsOf(points, 'next', { opened: new Set(), keep: new Set(), fold: false, shown })
    expect(rows.map(({ id }) => id)).toEqual(['now', 'more', 'lost'])
    expect(lanesOf(rows).rows.slice(1)).toMatchObject([
      { lane: 1, up: false, down: true },
      { lane: 1, up: true, down: false },
    ])
  })

  test('two branches of one point take two lanes; later ones take freed lanes again', () => {
    const points = [
      point('base', null, 0),
      point('good', 'base', 1),
      point('x', 'good', 2),
      point('y', 'good', 3),
      point('on', 'good', 4),
      point('z', 'on', 5),
      point('end', 'on', 6),
    ]
    const rows = rowsFor(points, 'end')
    const lane = (id: string) => lanesOf(rows).rows[rows.findIndex((row) => row.id === id)]?.lane
    expect(lane('x')).not.toBe(lane('y'))
    expect(lane('z')).toBe(1)
  })

  test('a branch joins the fold that hides nothing it hangs from', () => {
    const points = [point('base', null, 0)]
    for (let n = 1; n <= 12; n++) points.push(autoPoint(`a${n}`, n === 1 ? 'base' : `a${n - 1}`, n))
    points.push(point('lost', 'a2', 13))
    const rows = rowsFor(points, 'a12', true)
    const { rows: lines } = lanesOf(rows)
    expect(lines[rows.findIndex((row) => row.id === 'a2')]?.joins).toEqual([1])
  })

  test('whatever the tree: lines never break off, and the gutter stays narrow', () => {
    const trees = fc.array(fc.nat(), { minLength: 1, maxLength: 60 }).map((parents) => {
      const points = [point('p0', null, 0)]
      for (const [index, parent] of parents.entries())
        points.push(point(`p${index + 1}`, `p${parent % (index + 1)}`, index + 1))
      return points
    })
    fc.assert(
      fc.property(trees, fc.nat(), (points, pick) => {
        const head = points[pick % points.length]?.id ?? 'p0'
        const { rows: lines, count } = lanesOf(rowsFor(points, head))
        expect(count).toBeLessThanOrEqual(5)
        for (let at = 0; at + 1 < lines.length; at++) {
          const above = lines[at]
          const below = lines[at + 1]
          if (!above || !below) continue
          const out = new Set([...above.through, ...(above.down ? [above.lane] : [])])
          const into = new Set([...below.through, ...below.joins, ...(below.up ? [below.lane] : [])])
          expect([...into].filter((lane) => !out.has(lane))).toEqual([])
          expect([...out].filter((lane) => !into.has(lane))).toEqual([])
        }
      }),
    )
  })
})
