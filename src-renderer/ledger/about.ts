/** Which points a ledger row can lead to. */
import type { Timeline } from '../../src-main/contract/index.ts'

export const idsOnTimeline = (timeline: Timeline | null): ReadonlySet<string> =>
  new Set(timeline?.points.map(({ id }) => id))
