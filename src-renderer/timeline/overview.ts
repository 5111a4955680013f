/** The whole run as a strip of time: where points crowd, where checks failed, and which part of it is looked at. Pure. */
import type { Point, VerdictStatus } from '../../src-main/contract/index.ts'

/** A stretch of time, milliseconds since 1970. */
export interface Span {
  from: number
  to: number
}

/** Closer than this nothing can be told apart. */
const SHORTEST_MS = 60_000

/** From the first point to the last, also where the clock was put back meanwhile; null for fewer than two moments. */
export function extentOf(points: readonly Point[]): Span | null {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const { at } of points) {
    from = Math.min(from, at.getTime())
    to = Math.max(to, at.getTime())
  }
  return from < to ? { from, to } : null
}

export interface Bar {
  /** Points in it. */
  count: number
  /** The gravest of its verdicts. */
  verdict: VerdictStatus | null
}

const GRAVITY = { pass: 1, unknown: 2, fail: 3 } as const

/** The span cut into so many bars of equal time. */
export function barsOf(points: readonly Point[], span: Span, bars: number): Bar[] {
  const all = Array.from({ length: bars }, (): Bar => ({ count: 0, verdict: null }))
  for (const { at, verdict } of points) {
    const bar = all[Math.min(bars - 1, Math.floor(shareOf(span, at.getTime()) * bars))]
    if (!bar || at.getTime() < span.from || at.getTime() > span.to) continue
    bar.count++
    if (verdict && GRAVITY[verdict.status] > (bar.verdict ? GRAVITY[bar.verdict] : 0)) bar.verdict = verdict.status
  }
  return all
}

/** 0 at the beginning of the span, 1 at its end. */
export const shareOf = ({ from, to }: Span, time: number): number => (time - from) / (to - from)

export const timeAt = ({ from, to }: Span, share: number): number => from + share * (to - from)

const lengthOf = ({ from, to }: Span): number => to - from

/** Moved so that it lies within the whole. */
function within(span: Span, whole: Span): Span {
  const length = Math.min(lengthOf(span), lengthOf(whole))
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length)
  return { from, to: from + length }
}

/** @param factor below 1 is nearer @param around a time that stays where it is @returns null for the whole */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span | null {
  const length = Math.max(Math.min(SHORTEST_MS, lengthOf(whole)), lengthOf(span) * factor)
  if (length >= lengthOf(whole)) return null
  const share = Math.min(1, Math.max(0, shareOf(span, around)))
  const from = around - share * length
  return within({ from, to: from + length }, whole)
}

/** @param share of its own length, to the right where it is positive */
export const panned = (span: Span, whole: Span, share: number): Span => {
  const by = share * lengthOf(span)
  return within({ from: span.from + by, to: span.to + by }, whole)
}

/** What was drawn with the mouse, in either direction; null where it is so short that it was a click. */
export function drawn(a: number, b: number, whole: Span): Span | null {
  const [from, to] = a < b ? [a, b] : [b, a]
  if (to - from < lengthOf(whole) / 100) return null
  const middle = (from + to) / 2
  const half = Math.max(to - from, Math.min(SHORTEST_MS, lengthOf(whole))) / 2
  return within({ from: middle - half, to: middle + half }, whole)
}

/** The point taken closest to a time; of two the earlier. */
export function nearest(points: readonly Point[], time: number): Point | undefined {
  const distance = (point: Point) => Math.abs(point.at.getTime() - time)
  const [first, ...rest] = points
  return first && rest.reduce((best, point) => (distance(point) < distance(best) ? point : best), first)
}

export const inSpan = ({ from, to }: Span, { at }: Point): boolean => at.getTime() >= from && at.getTime() <= to
