/** Which state a ledger row is about, as a point that there is. Pure. */
import type { LedgerEntry, Point, Timeline } from '../../src-main/contract/index.ts'

/** A verdict is written to the ledger and marked on its point one after the other. */
const APART_MS = 5_000

export type Row = Pick<LedgerEntry, 'point' | 'status' | 'timestamp'>

/** @returns a point's id; null where the state is no longer held, or the row is about none */
export type AboutOf = (row: Row) => string | null

/**
 * A row that names its point leads there. One that judged files which no point held by then leads to the point that froze
 * them, and has the verdict.
 */
export function aboutOf(timeline: Timeline | null): AboutOf {
  const points = timeline?.points ?? []
  const known = new Set(points.map(({ id }) => id))
  const judged = points.filter(({ verdict }) => verdict !== null)
  return ({ point, status, timestamp }) => {
    if (point !== null) return known.has(point) ? point : null
    const apart = ({ verdict }: Point) => Math.abs((verdict?.at.getTime() ?? 0) - timestamp.getTime())
    const [nearest] = judged
      .filter((one) => one.verdict?.status === status && apart(one) <= APART_MS)
      .sort((a, b) => apart(a) - apart(b))
    return nearest?.id ?? null
  }
}
