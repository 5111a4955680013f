/**
 * Which layers can go when only some states are kept: those that no kept state holds are removed, and one that no state
 * ends at and a single layer stands on is made one with that. The newer one's number vanishes, so every stack becomes
 * what it was without the numbers that are gone. Where two branches stand on a layer, it stays.
 */

export interface Fold {
  /** Keeps its number and shows both afterwards. */
  older: number
  newer: number
  /** The layers beneath, as they are at this point of the plan, top first. */
  beneath: number[]
}

export interface Plan {
  removed: number[]
  /** In this order. */
  folds: Fold[]
}

/**
 * @param stacks the kept states of one overlay, top first, with everything that is mounted among them
 * @param there numbers of the layers on disk
 * @param spared numbers that no state holds and that stay all the same: live layers and those to come
 */
export function planPruning(
  stacks: readonly (readonly number[])[],
  there: readonly number[],
  spared: ReadonlySet<number>,
): Plan {
  const parents = new Map<number, number | null>()
  const children = new Map<number, Set<number>>()
  for (const stack of stacks) {
    for (const [at, number] of stack.entries()) {
      const below = stack[at + 1] ?? null
      parents.set(number, below)
      if (below !== null) children.set(below, (children.get(below) ?? new Set()).add(number))
    }
  }
  const ends = new Set(stacks.map((stack) => stack[0]))
  const folds: Fold[] = []
  const beneath = (number: number): number[] => {
    const below = parents.get(number) ?? null
    return below === null ? [] : [below, ...beneath(below)]
  }
  // A layer's number may be lower than that of one beneath it only where it was written later: the order is the stack's.
  const order = [...parents.keys()].sort((a, b) => beneath(a).length - beneath(b).length)
  for (const older of order) {
    if (!parents.has(older)) continue
    while (older !== 0 && !ends.has(older)) {
      const [newer, another] = children.get(older) ?? []
      if (newer === undefined || another !== undefined) break
      folds.push({ older, newer, beneath: beneath(older) })
      const above = children.get(newer) ?? new Set()
      for (const one of above) parents.set(one, older)
      children.set(older, above)
      children.delete(newer)
      parents.delete(newer)
      if (ends.delete(newer)) ends.add(older)
    }
  }
  const held = new Set([...stacks.flat(), ...spared])
  return { removed: there.filter((number) => number !== 0 && !held.has(number)), folds }
}
