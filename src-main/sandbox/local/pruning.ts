/**
 * Which layers can go when only some states are kept: those that no kept state stands on, and one that no state ends at and
 * a single layer stands on is made one with that. The newer one's number vanishes, and whatever named it means the older
 * one. Where two branches stand on a layer, it stays.
 */
import { BASE, type Fold, type LayerTree } from './layer-tree.ts'

export interface Plan {
  /** All layers that stay, or are folded into one that does. */
  needed: Set<number>
  /** In this order. */
  folds: Fold[]
}

/** @param ends the topmost layers of the kept states and of all that is mounted */
export function planPruning(tree: LayerTree, ends: ReadonlySet<number>): Plan {
  const needed = new Set<number>()
  for (const end of ends) {
    for (let at = end; at !== BASE && !needed.has(at); at = tree.beneath(at) ?? BASE) needed.add(at)
  }
  const children = tree.children()
  const above = (layer: number): number[] => (children.get(layer) ?? []).filter((one) => needed.has(one))
  const folds: Fold[] = []
  for (const waiting = above(BASE); ; ) {
    const older = waiting.pop()
    if (older === undefined) return { needed, folds }
    let last = older
    let over = above(last)
    for (; !ends.has(last) && over.length === 1; over = above(last)) {
      last = over[0] ?? last
      folds.push({ older, newer: last })
    }
    waiting.push(...over)
  }
}
