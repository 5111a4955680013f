/**
 * One cursor for every pane: which moment a message, a command or a tool call belongs to, and what belongs to a moment.
 * What was done is seen at the first point after it, in the step that leads there. Pure.
 */
import type { Timeline } from '../../src-main/contract/index.ts'
import { currentLine, lastSaved } from '../../src-main/contract/timeline.ts'
import { pointOf } from './moments.ts'
import { type Moment, NOW } from './selection-store.ts'

/** From after the point before until the moment itself; null where there is no such end. */
export interface Step {
  after: Date | null
  until: Date | null
}

/** It begins with whatever point was taken last, on any branch: what a rewind took away is not done again after it. */
export function stepOf(timeline: Timeline, moment: Moment): Step {
  const point = moment === NOW ? null : pointOf(timeline, moment)
  const before = timeline.points.findLast(({ seq }) => point === null || seq < point.seq)
  return { after: before?.at ?? null, until: point?.at ?? null }
}

/** @param ended null while it goes on */
export const isInStep = ({ after, until }: Step, ended: Date | null): boolean =>
  ended === null ? until === null : (after === null || ended > after) && (until === null || ended <= until)

/** Where what ended then is seen. @param ended null while it goes on */
export const momentAfter = ({ points }: Timeline, ended: Date | null): Moment =>
  (ended === null ? undefined : points.find(({ at }) => at >= ended)?.id) ?? NOW

/**
 * Where a message of the only conversation is seen, and what it asked for.
 * @param index of the message in the history as it stands at `moment`
 */
export function momentOfMessage({ points, head }: Timeline, moment: Moment, index: number): Moment {
  const present = currentLine(points, head)
  const line = moment === NOW || present.some(({ id }) => id === moment) ? present : currentLine(points, moment)
  const at = line.findIndex(({ messages }) => messages > index)
  const point = line[at]
  if (!point) return NOW
  // A rule took it before the call that is its last message: what the call did is in the step after it.
  const isBefore = point.takenBy === 'auto' && point.messages === index + 1
  return isBefore ? (line[at + 1]?.id ?? NOW) : point.id
}

/** How many messages of the only conversation were there before a moment's step; null where no step leads to it. */
export function messagesBefore(timeline: Timeline, moment: Moment): number | null {
  const { points, head } = timeline
  if (moment === NOW) return lastSaved(points, head)?.messages ?? null
  const point = pointOf(timeline, moment)
  return point?.parent ? (pointOf(timeline, point.parent)?.messages ?? null) : null
}
