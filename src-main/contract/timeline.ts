/** What follows from points, head and state alone; host, window and CLI ask here, so they always agree. */
import type { Point, SessionSummary } from './model.ts'

type Node = Pick<Point, 'id' | 'parent' | 'seq' | 'kind' | 'takenBy'>

/** The points from base to the head, oldest first. */
export function currentLine<P extends Node>(points: readonly P[], head: string): P[] {
  const byId = new Map(points.map((point) => [point.id, point]))
  const line: P[] = []
  for (let at = byId.get(head); at; at = at.parent === null ? undefined : byId.get(at.parent)) line.push(at)
  return line.reverse()
}

/** A run of points off the current line, from where it left the line (or another branch) to its last point. */
export interface Branch<P> {
  /** A, B, ... Z, AA, ... in the order in which they were begun. */
  letter: string
  /** Id of the point it hangs from. */
  from: string
  /** Oldest first. */
  points: P[]
}

const letters = (n: number): string =>
  (n < 26 ? '' : letters(Math.floor(n / 26) - 1)) + String.fromCharCode(65 + (n % 26))

/** Everything off the current line, as branches: each is one unforked run. */
export function branchesOf<P extends Node>(points: readonly P[], head: string): Branch<P>[] {
  const onLine = new Set(currentLine(points, head).map((point) => point.id))
  const byTip = new Map<string, Branch<P>>()
  const branches: Branch<P>[] = []
  for (const point of points) {
    if (onLine.has(point.id) || point.parent === null) continue
    const grown = byTip.get(point.parent)
    if (grown) {
      grown.points.push(point)
      byTip.delete(point.parent)
      byTip.set(point.id, grown)
      continue
    }
    const branch = { letter: letters(branches.length), from: point.parent, points: [point] }
    branches.push(branch)
    byTip.set(point.id, branch)
  }
  return branches
}

/**
 * What `now` is compared with: the newest checkpoint of the current line, base where there is none. Never a tip: it
 * holds what stood there when a rewind left it, and after an undo that is work which is in no checkpoint yet.
 * @param points oldest first: a parent stands before its children, so one look back finds the line
 */
export function lastSaved<P extends Node>(points: readonly P[], head: string): P | undefined {
  let wanted: string | null = head
  return points.findLast((point) => {
    if (point.id !== wanted) return false
    if (point.kind !== 'tip') return true
    wanted = point.parent
    return false
  })
}

/** Where a bare `rewind` goes: it takes back what differs from there. */
export const bareRewindTarget = <P extends Node>(points: readonly P[], head: string): P | undefined =>
  lastSaved(points, head)

/** What `latest` means: the newest automatic checkpoint on the current line, else the newest checkpoint on it. */
export function latestOf<P extends Node>(points: readonly P[], head: string): P | undefined {
  const checkpoints = currentLine(points, head).filter((point) => point.kind === 'checkpoint')
  return checkpoints.findLast((point) => point.takenBy === 'auto') ?? checkpoints.at(-1)
}

/** What a point is called: its label, else its id. */
export const nameOf = ({ label, id }: Pick<Point, 'label' | 'id'>): string => label ?? id

/** Whether a session can still be worked with; an ended or destroyed one can only be looked at. */
export const isLive = ({ status }: Pick<SessionSummary, 'status'>): boolean =>
  status !== 'ended' && status !== 'destroyed'
