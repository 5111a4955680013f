/** Differences read from the layers, against the same found by brute force through real overlay mounts. */
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { bruteForce, type Tree, treeOf } from './brute-force.ts'
import { createLayerReader, type LayerFolder } from './index.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'
import { Editor, random } from './random-edits.ts'

/** More of them, or one again: LAYERS_SEEDS=200 LAYERS_FIRST_SEED=17 */
const SEEDS = Number(process.env.LAYERS_SEEDS ?? 12)
const FIRST_SEED = Number(process.env.LAYERS_FIRST_SEED ?? 1)
const LAYERS = 5
const EDITS_PER_LAYER = 8

let overlay: Overlay | null = null
afterEach(async () => {
  await overlay?.remove()
  overlay = null
})

interface State {
  stack: readonly LayerFolder[]
  tree: Tree
}

suiteNeeding(['local'], 'changes between stacks', () => {
  for (const mode of modesHere) {
    const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)
    test.each(seeds)(`random edits as ${mode}, seed %i: equal to brute force`, async (seed) => {
      overlay = new Overlay(mode)
      const numbers = random(seed)
      new Editor(overlay.base, numbers, mode === 'root').fill()
      const states: State[] = [{ stack: overlay.frozen, tree: treeOf(overlay.base) }]
      const edit = async (last: boolean) => {
        if (overlay === null) return
        const { upper, tree } = await overlay.mountWritable({ redirects: last })
        const editor = new Editor(tree, numbers, mode === 'root')
        for (let count = 0; count < EDITS_PER_LAYER; count++) editor.edit()
        if (last) {
          states.push({ stack: [upper, ...overlay.frozen], tree: treeOf(tree) })
          return
        }
        await overlay.freeze(upper, tree)
        const merged = await overlay.mountReadOnly(overlay.frozen)
        states.push({ stack: overlay.frozen, tree: treeOf(merged) })
        await overlay.unmount(merged)
      }
      for (let layer = 1; layer <= LAYERS; layer++) await edit(false)
      // A second branch from the middle, and on top of it a live layer, in which renames leave redirects.
      overlay.frozen = overlay.frozen.slice(2)
      await edit(false)
      await edit(true)

      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      let differences = 0
      for (const [i, from] of states.entries()) {
        for (const [j, to] of states.entries()) {
          const expected = bruteForce(from.tree, to.tree)
          differences += expected.length
          expect(await reader.changes(from.stack, to.stack), `seed ${seed}, state ${i} to ${j}`).toEqual(expected)
        }
      }
      expect(differences).toBeGreaterThan(0)
    })
  }
})
