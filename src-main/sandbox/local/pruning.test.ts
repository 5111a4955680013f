/** The plan of what goes, for timelines of any shape. */
import { expect, test } from 'vitest'
import { planPruning } from './pruning.ts'

const none = new Set<number>()

test('a layer in the middle goes into the one beneath it that nobody needs', () => {
  // Points at 1, 2 and 3; 1 and 2 are pruned.
  expect(planPruning([[0], [3, 2, 1, 0]], [0, 1, 2, 3], none)).toEqual({
    removed: [],
    folds: [
      { older: 1, newer: 2, beneath: [0] },
      { older: 1, newer: 3, beneath: [0] },
    ],
  })
})

test('what a point ends at stays apart, and the base is never folded into', () => {
  expect(planPruning([[0], [1, 0], [3, 2, 1, 0]], [0, 1, 2, 3], none).folds).toEqual([
    { older: 2, newer: 3, beneath: [1, 0] },
  ])
  expect(planPruning([[1, 0]], [0, 1], none).folds).toEqual([])
})

test('where two branches stand on a layer, it stays; a branch that is gone goes whole', () => {
  expect(planPruning([[0], [2, 1, 0], [3, 1, 0]], [0, 1, 2, 3], none)).toEqual({ removed: [], folds: [] })
  expect(planPruning([[0], [2, 1, 0]], [0, 1, 2, 3, 4], new Set([4]))).toEqual({
    removed: [3],
    folds: [{ older: 1, newer: 2, beneath: [0] }],
  })
})

test('the layers beneath are those that earlier folds have left', () => {
  // Numbers do not tell the order: a written layer is younger than the live one it stands for.
  expect(planPruning([[0], [9, 0], [5, 6, 7, 8, 9, 0], [7, 8, 9, 0]], [0, 5, 6, 7, 8, 9], none).folds).toEqual([
    { older: 8, newer: 7, beneath: [9, 0] },
    { older: 6, newer: 5, beneath: [8, 9, 0] },
  ])
})
