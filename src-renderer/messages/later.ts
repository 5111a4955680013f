/** What was said after the moment that is looked at, on the same line. */
import type { Message, Timeline } from '../../src-main/contract/index.ts'
import { branchesOf, currentLine } from '../../src-main/contract/timeline.ts'
import { type Moment, NOW } from '../timeline/selection-store.ts'
import { cutMessages } from './cut.ts'

/** Where the line of a point ends: now, or what a rewind left of it. Null where the moment is that end. */
export function endOfLine({ points, head }: Timeline, moment: Moment): Moment | null {
  if (moment === NOW) return null
  if (currentLine(points, head).some(({ id }) => id === moment)) return NOW
  const branch = branchesOf(points, head).find((one) => one.points.some(({ id }) => id === moment))
  const end = branch?.points.at(-1)?.id ?? null
  return end === moment ? null : end
}

export interface Later {
  message: Message
  /** In the history at the end of the line. */
  index: number
}

/** Messages at the end of the line that were not there yet, whatever else of the history was rewritten meanwhile. */
export function laterMessages(end: readonly Message[], present: readonly Message[]): Later[] {
  const later = new Set(cutMessages(end, present))
  return end.flatMap((message, index) => (later.has(message) ? [{ message, index }] : []))
}
