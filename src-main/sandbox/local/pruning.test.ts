/** The plan of what goes, for timelines of any shape. */
import { expect, test } from 'vitest'
import { LayerTree } from './layer-tree.ts'
import { planPruning } from './pruning.ts'

/** @param chains layers, top first, without the base */
function planned(chains: number[][], ends: number[]) {
  const tree = new LayerTree([], () => {})
  for (const chain of chains) {
    for (const [at, layer] of [...chain].reverse().entries()) tree.add(layer, [...chain].reverse()[at - 1] ?? 0)
  }
  const { needed, folds } = planPruning(tree, new Set(ends))
  return { needed: [...needed].sort(), folds: folds.map(({ older, newer }) => `${newer} into ${older}`) }
}

test('a layer in the middle goes into the one beneath it that nobody needs', () => {
  // Points at 1, 2 and 3; 1 and 2 are pruned.
  expect(planned([[3, 2, 1]], [0, 3])).toEqual({ needed: [1, 2, 3], folds: ['2 into 1', '3 into 1'] })
})

test('what a point ends at stays apart, and the base is never folded into', () => {
  expect(planned([[3, 2, 1]], [0, 1, 3]).folds).toEqual(['3 into 2'])
  expect(planned([[1]], [1]).folds).toEqual([])
})

test('where two branches stand on a layer, it stays; a branch that is gone goes whole', () => {
  const branches = [
    [2, 1],
    [3, 1],
  ]
  expect(planned(branches, [2, 3])).toEqual({ needed: [1, 2, 3], folds: [] })
  expect(planned(branches, [2])).toEqual({ needed: [1, 2], folds: ['2 into 1'] })
})

test('numbers do not tell the order: a written layer is younger than the live one it stands for', () => {
  expect(planned([[5, 6, 7, 8, 9]], [9, 5, 7]).folds).toEqual(['7 into 8', '5 into 6'])
})
