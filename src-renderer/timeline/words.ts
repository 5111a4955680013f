/** What a row says of itself, to the eye and to a screen reader. */
import type { Point } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { nameOf } from '../../src-main/contract/timeline.ts'
import { count } from '../elements/format.ts'
import type { Mark } from './graph.tsx'
import type { FoldRow, PointRow } from './rows.ts'

const takers = { you: 'you', agent: 'an agent', auto: 'a rule' } as const

export const takenBy = (point: Point): string => (point.takenBy === 'agent' ? 'agent' : point.takenBy)

/** The point's name for a person. */
export function titleOf(point: Point): string {
  if (point.kind === 'tip' && point.label === null) return leftBy(point)
  return visibleName(nameOf(point))
}

/** How a branch was left: `Left by the rewind to stable`, else by whom. */
export function leftBy(tip: Point): string {
  const why = visibleName(tip.why ?? '')
  if (why.startsWith('left by ')) return `L${why.slice(1)}`
  return why ? `Left: ${why}` : `Left by ${takers[tip.takenBy]}`
}

export function markOf({ point, left }: PointRow): Mark {
  if (point.verdict) return point.verdict.status
  if (point.kind === 'base') return 'base'
  if (point.kind === 'tip') return 'tip'
  if (left && point.takenBy === 'auto') return 'tip'
  return point.takenBy === 'auto' ? 'tick' : 'named'
}

/**
 * `stable, checkpoint, pass, 2 minutes ago`.
 * @param ago the spoken time
 * @param committed whether the host has its files
 */
export function spokenPoint(row: PointRow, ago: string, committed = false): string {
  const { point, branch } = row
  const kind = point.kind === 'checkpoint' && point.takenBy === 'auto' ? 'automatic checkpoint' : kinds[point.kind]
  const parts = [titleOf(point), kind, point.pinned ? 'pinned' : '', point.verdict?.status]
  if (committed) parts.push('committed')
  parts.push(ago)
  if (branch) parts.push(`branch ${branch.letter}`)
  return parts.filter(Boolean).join(', ')
}

const kinds = { base: 'the workspace as it was', checkpoint: 'checkpoint', tip: 'left by a rewind' } as const

export const spokenFold = (row: FoldRow): string =>
  `${count(row.points.length, 'automatic checkpoint')}, folded${row.branch ? `, branch ${row.branch.letter}` : ''}`
