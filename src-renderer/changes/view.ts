/** From compared rows to what is drawn: unchanged stretches folded, and for the inline view one line per side. */
import type { Cell, DiffRow } from './compare.ts'

export type Side = 'left' | 'right' | 'both'

export type DiffItem =
  | { kind: 'row'; id: string; row: DiffRow }
  | { kind: 'line'; id: string; side: Side; cell: Cell; other: number | null; eol: boolean }
  | { kind: 'fold'; id: string; from: number; to: number; first: number }

/** Unchanged lines around a change that stay in view. */
const CONTEXT = 3
/** Shorter stretches are not worth a fold. */
const SHORTEST_FOLD = 4

/** Stretches of rows that a fold stands for, as [from, to) indices. */
export function foldsOf(
  rows: readonly DiffRow[],
  opened: ReadonlySet<string>,
): Map<number, { id: string; to: number }> {
  const folds = new Map<number, { id: string; to: number }>()
  for (let at = 0; at < rows.length; ) {
    if (rows[at]?.kind !== 'same') {
      at++
      continue
    }
    let end = at
    while (end < rows.length && rows[end]?.kind === 'same') end++
    const from = at === 0 ? 0 : at + CONTEXT
    const to = end === rows.length ? end : end - CONTEXT
    const id = `fold:${at}`
    if (to - from >= SHORTEST_FOLD && !opened.has(id)) folds.set(from, { id, to })
    at = end
  }
  return folds
}

/** A run of items that differ: where it begins and ends (not included), and what it holds. */
export interface Stretch {
  from: number
  to: number
  kind: 'added' | 'deleted' | 'both'
}

export function stretchesOf(items: readonly DiffItem[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const [at, item] of items.entries()) {
    const kind = stretchKind(item)
    if (kind === null) continue
    const last = stretches.at(-1)
    if (last?.to === at) {
      last.to = at + 1
      if (last.kind !== kind) last.kind = 'both'
    } else stretches.push({ from: at, to: at + 1, kind })
  }
  return stretches
}

function stretchKind(item: DiffItem): Stretch['kind'] | null {
  if (item.kind === 'fold') return null
  if (item.kind === 'line')
    return item.side === 'both' ? (item.eol ? 'both' : null) : item.side === 'left' ? 'deleted' : 'added'
  const { kind, left, right } = item.row
  return kind === 'same' ? null : kind === 'eol' || (left && right) ? 'both' : left ? 'deleted' : 'added'
}

export function itemsOf(rows: readonly DiffRow[], layout: 'inline' | 'split', opened: ReadonlySet<string>): DiffItem[] {
  const folds = foldsOf(rows, opened)
  const items: DiffItem[] = []
  let gone: DiffItem[] = []
  let come: DiffItem[] = []
  const settle = () => {
    items.push(...gone, ...come)
    gone = []
    come = []
  }
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as DiffRow
    const fold = folds.get(at)
    if (fold) {
      settle()
      items.push({ kind: 'fold', id: fold.id, from: at, to: fold.to, first: row.right?.line ?? row.left?.line ?? 1 })
      at = fold.to - 1
    } else if (layout === 'split') items.push({ kind: 'row', id: `row:${at}`, row })
    else if (row.kind === 'change') {
      if (row.left) gone.push({ kind: 'line', id: `left:${at}`, side: 'left', cell: row.left, other: null, eol: false })
      if (row.right)
        come.push({ kind: 'line', id: `right:${at}`, side: 'right', cell: row.right, other: null, eol: false })
    } else {
      settle()
      if (row.right)
        items.push({
          kind: 'line',
          id: `both:${at}`,
          side: 'both',
          cell: row.right,
          other: row.left?.line ?? null,
          eol: row.kind === 'eol',
        })
    }
  }
  settle()
  return items
}
