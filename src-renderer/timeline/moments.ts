/** Which two states the panes compare for what is selected, and in which words. */
import type { Point, Timeline } from '../../src-main/contract/index.ts'
import { lastSaved } from '../../src-main/contract/timeline.ts'
import { type Looking, NOW } from './selection-store.ts'
import { titleOf } from './words.ts'

export interface Comparison {
  from: string
  to: string
}

const seqOf = (timeline: Timeline, moment: string): number =>
  moment === NOW ? Number.POSITIVE_INFINITY : (timeline.points.find(({ id }) => id === moment)?.seq ?? -1)

/** The older of two moments first. */
export function ordered(timeline: Timeline, a: string, b: string): [string, string] {
  return seqOf(timeline, a) <= seqOf(timeline, b) ? [a, b] : [b, a]
}

/** The moment itself; of two the newer, whose history holds the older one's as far as no rewind lies between. */
export const newestOf = (timeline: Timeline, { moment, other }: Pick<Looking, 'moment' | 'other'>): string =>
  other === null ? moment : ordered(timeline, moment, other)[1]

/**
 * Now: what is not yet in a point. A point: what led to it, or what happened since. Two moments: between them.
 * @returns null where there is nothing to compare with (base has no parent)
 */
export function comparisonOf(timeline: Timeline, selection: Looking): Comparison | null {
  const { moment, other, against } = selection
  if (other !== null) {
    const [from, to] = ordered(timeline, moment, other)
    return { from, to }
  }
  if (moment === NOW) return { from: lastSaved(timeline.points, timeline.head)?.id ?? timeline.head, to: NOW }
  if (against === 'now') return { from: moment, to: NOW }
  const point = timeline.points.find(({ id }) => id === moment)
  return point?.parent ? { from: point.parent, to: moment } : null
}

/** When the point after this one was taken; null for now and for the last point. */
export function endOf(timeline: Timeline, moment: string): Date | null {
  const at = timeline.points.findIndex(({ id }) => id === moment)
  return at < 0 ? null : (timeline.points[at + 1]?.at ?? null)
}

export const pointOf = (timeline: Timeline | null, moment: string): Point | null =>
  timeline?.points.find(({ id }) => id === moment) ?? null

export function momentName(timeline: Timeline | null, moment: string): string {
  if (moment === NOW) return 'Now'
  const point = pointOf(timeline, moment)
  return point ? titleOf(point) : moment
}
