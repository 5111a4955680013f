/**
 * The timeline as rows, newest first: `now`, points, and folds that stand for runs of automatic points. Pure: from
 * points, head and what the person has opened.
 */
import type { Branch, Point } from '../../src-main/contract/index.ts'
import { branchesOf, currentLine } from '../../src-main/contract/timeline.ts'
import { NOW } from './selection-store.ts'

export interface PointRow {
  kind: 'point'
  id: string
  point: Point
  /** null on the current line. */
  branch: Branch<Point> | null
  /** The last point of a branch: says that and how the branch was left. */
  left: boolean
}

export interface FoldRow {
  kind: 'fold'
  id: string
  /** Oldest first. */
  points: Point[]
  branch: Branch<Point> | null
}

export type TimelineRow = { kind: 'now'; id: typeof NOW } | PointRow | FoldRow

/** Shorter runs stay as they are: a fold would hide more than it saves. */
const SHORTEST_FOLD = 4
/** So many of the newest automatic points of the line stay in view: they are what the agent is doing. */
const KEPT_IN_VIEW = 5

interface View {
  /** Folds that the person opened. */
  opened: ReadonlySet<string>
  /** Points that must be seen: what is selected or looked for. */
  keep: ReadonlySet<string>
  fold: boolean
  /** Points that there is a row for, besides what is kept; null for all. */
  shown: ReadonlySet<string> | null
}

export function rowsOf(points: readonly Point[], head: string, view: View): TimelineRow[] {
  const line = new Set(currentLine(points, head))
  const branches = branchesOf(points, head)
  const branchOf = new Map(branches.flatMap((branch) => branch.points.map((point) => [point.id, branch] as const)))
  const origins = new Set(branches.map(({ from }) => from))
  const inView = new Set([...line].slice(-KEPT_IN_VIEW).map(({ id }) => id))
  const foldable = (point: Point) =>
    view.fold &&
    point.kind === 'checkpoint' &&
    point.takenBy === 'auto' &&
    point.verdict === null &&
    !origins.has(point.id) &&
    !inView.has(point.id) &&
    !view.keep.has(point.id)

  const rows: TimelineRow[] = []
  const newestFirst = points
    .filter(({ id }) => view.shown === null || view.shown.has(id) || view.keep.has(id))
    .sort((a, b) => b.seq - a.seq)
  for (let at = 0; at < newestFirst.length; ) {
    const run = runFrom(newestFirst, at, (point) => foldable(point), branchOf)
    const first = newestFirst[at] as Point
    const branch = branchOf.get(first.id) ?? null
    if (run.length >= SHORTEST_FOLD) {
      const id = `fold:${run.at(-1)?.id}`
      if (view.opened.has(id)) rows.push(...run.map((point) => pointRow(point, branch)))
      else rows.push({ kind: 'fold', id, points: run.toReversed(), branch })
      at += run.length
    } else {
      rows.push(pointRow(first, branch))
      at++
    }
  }
  return [{ kind: 'now', id: NOW }, ...rows]
}

function runFrom(
  points: readonly Point[],
  from: number,
  foldable: (point: Point) => boolean,
  branchOf: ReadonlyMap<string, Branch<Point>>,
): Point[] {
  const branch = branchOf.get(points[from]?.id ?? '')
  let end = from
  while (end < points.length) {
    const point = points[end] as Point
    if (!foldable(point) || branchOf.get(point.id) !== branch) break
    end++
  }
  return points.slice(from, end)
}

const pointRow = (point: Point, branch: Branch<Point> | null): PointRow => ({
  kind: 'point',
  id: point.id,
  point,
  branch,
  left: branch?.points.at(-1)?.id === point.id,
})

/** Ids that a row stands for. */
export const idsOf = (row: TimelineRow): string[] => (row.kind === 'fold' ? row.points.map(({ id }) => id) : [row.id])

const TALL_PX = 44
const NOW_PX = 48
const LOW_PX = 28

export function heightOf(row: TimelineRow | undefined): number {
  if (!row) return 0
  if (row.kind === 'now') return NOW_PX
  if (row.kind === 'fold') return LOW_PX
  return isLow(row) ? LOW_PX : TALL_PX
}

/** One line is enough for an automatic point without a verdict or a pin. */
export const isLow = (row: PointRow): boolean =>
  row.point.kind === 'checkpoint' &&
  row.point.takenBy === 'auto' &&
  row.point.verdict === null &&
  !row.point.pinned &&
  !row.left

/** Indices of the rows from one moment to the other, in either order. */
export function rangeOf(rows: readonly TimelineRow[], a: string, b: string): { from: number; to: number } | null {
  const indexOf = (id: string) => rows.findIndex((row) => idsOf(row).includes(id))
  const [first, second] = [indexOf(a), indexOf(b)]
  return first < 0 || second < 0 ? null : { from: Math.min(first, second), to: Math.max(first, second) }
}
