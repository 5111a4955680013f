/** Differences read from the layers, against the same found by brute force through real overlay mounts. */
import * as fs from 'node:fs'
import { join } from 'node:path'
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
        for (let count = 0; count < EDITS_PER_LAYER * (last ? 3 : 1); count++) editor.edit()
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
  if (modesHere.includes('root')) {
    test('folders renamed in a live layer: beside each other, elsewhere, within each other, swapped', async () => {
      overlay = new Overlay('root')
      for (const name of ['beside', 'moved', 'outer/inner', 'left', 'right', 'twice', 'emptied', 'parent']) {
        fs.mkdirSync(join(overlay.base, name), { recursive: true })
        for (const file of ['1', '2']) fs.writeFileSync(join(overlay.base, name, file), `${name} ${file}`)
      }
      const older = await overlay.mountWritable()
      for (const name of ['beside', 'left', 'outer/inner']) fs.writeFileSync(join(older.tree, name, '3'), 'older')
      await overlay.freeze(older.upper, older.tree)
      const { upper, tree } = await overlay.mountWritable({ redirects: true })
      const rename = (from: string, to: string) => fs.renameSync(join(tree, from), join(tree, to))
      rename('beside', 'next')
      rename('moved', 'parent/moved')
      rename('outer/inner', 'outer/within')
      rename('outer', 'parent/outer')
      rename('left', 'between')
      rename('right', 'left')
      rename('between', 'right')
      rename('twice', 'once')
      rename('once', 'parent/twice')
      rename('emptied/1', 'emptied-1')
      fs.rmSync(join(tree, 'emptied'), { recursive: true })
      fs.mkdirSync(join(tree, 'emptied'))
      fs.writeFileSync(join(tree, 'next/2'), 'edited after')
      fs.unlinkSync(join(tree, 'parent/outer/within/1'))

      const live = [upper, ...overlay.frozen]
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      for (const from of [overlay.frozen, overlay.frozen.slice(1)]) {
        const merged = await overlay.mountReadOnly(from)
        const expected = bruteForce(treeOf(merged), treeOf(tree))
        await overlay.unmount(merged)
        expect(expected.length).toBeGreaterThan(20)
        expect(await reader.changes(from, live)).toEqual(expected)
      }
      const read = await reader.read('parent/outer/within/3', live, { workspaceInside: '/ws' })
      expect(Buffer.from(read).toString()).toBe('older')
    })
  }
})
