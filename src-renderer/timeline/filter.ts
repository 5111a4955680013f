/** Which points the timeline shows: to narrow is another thing than to find. Pure. */
import type { Point, TakenBy, VerdictStatus } from '../../src-main/contract/index.ts'
import { currentLine } from '../../src-main/contract/timeline.ts'

export type Only = 'line' | 'pinned' | 'committed'

/** Of each group one must hold; a group in which nothing is chosen holds for every point. */
export interface Filter {
  takenBy: ReadonlySet<TakenBy>
  verdict: ReadonlySet<VerdictStatus>
  /** All of these must hold. */
  only: ReadonlySet<Only>
}

export const NO_FILTER: Filter = { takenBy: new Set(), verdict: new Set(), only: new Set() }

export const isFiltering = ({ takenBy, verdict, only }: Filter): boolean => takenBy.size + verdict.size + only.size > 0

/** With the choice where it was not, without it where it was. */
export function toggled<Group extends keyof Filter>(
  filter: Filter,
  group: Group,
  choice: Filter[Group] extends ReadonlySet<infer Choice> ? Choice : never,
): Filter {
  const chosen = new Set<unknown>(filter[group])
  if (!chosen.delete(choice)) chosen.add(choice)
  return { ...filter, [group]: chosen }
}

/** @returns null where nothing is filtered; base and what was left by a rewind are judged like every point */
export function passing(
  filter: Filter,
  points: readonly Point[],
  head: string,
  committed: ReadonlySet<string>,
): ReadonlySet<string> | null {
  if (!isFiltering(filter)) return null
  const { takenBy, verdict, only } = filter
  const line = only.has('line') ? new Set(currentLine(points, head).map(({ id }) => id)) : null
  const passes = (point: Point) =>
    (takenBy.size === 0 || takenBy.has(point.takenBy)) &&
    (verdict.size === 0 || (point.verdict !== null && verdict.has(point.verdict.status))) &&
    (line === null || line.has(point.id)) &&
    (!only.has('pinned') || point.pinned) &&
    (!only.has('committed') || committed.has(point.id))
  return new Set(points.filter(passes).map(({ id }) => id))
}
