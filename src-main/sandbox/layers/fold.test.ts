/** Folding against the kernel: whichever layer goes into its neighbour, and wherever it is interrupted, no tree changes. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { described, treeOf } from './brute-force.ts'
import { createLayerReader, type LayerFolder, type LayerReader } from './index.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'
import { Editor, type Random, random } from './random-edits.ts'

/** More of them, or one again: LAYERS_SEEDS=200 LAYERS_FIRST_SEED=17 */
const SEEDS = Number(process.env.LAYERS_SEEDS ?? 10)
const FIRST_SEED = Number(process.env.LAYERS_FIRST_SEED ?? 1)
const LAYERS = 6

let overlay: Overlay
afterEach(() => overlay.remove())

async function mounted(layers: readonly LayerFolder[]): Promise<string[]> {
  const tree = await overlay.mountReadOnly(layers)
  try {
    return described(treeOf(tree))
  } finally {
    await overlay.unmount(tree)
  }
}

/** The upper as a layer that was written, which has no marks. */
async function written(reader: LayerReader, upper: LayerFolder, tree: string): Promise<LayerFolder> {
  const target = `${upper.path}-written`
  fs.mkdirSync(target)
  await overlay.script(`rm -f ${overlay.folder}/whiteout; mknod ${overlay.folder}/whiteout c 0 0`)
  const delta = await reader.delta(overlay.frozen, [upper, ...overlay.frozen], {
    target,
    view: tree,
    quiet: true,
    since: null,
    except: null,
    whiteout: async () => join(overlay.folder, 'whiteout'),
  })
  expect(delta.copies).toEqual([])
  delta.seal()
  return { path: target, frozen: true }
}

const silent = { moved: () => {}, folded: () => {} }

class Interrupted extends Error {}

async function foldSomewhere(reader: LayerReader, numbers: Random): Promise<void> {
  const at = Math.floor(numbers() * (overlay.frozen.length - 2))
  const [newer, older] = overlay.frozen.slice(at, at + 2)
  if (newer === undefined || older === undefined) throw new Error('too few layers to fold')
  const beneath = overlay.frozen.slice(at + 2)
  // Every tree that is kept: with both, and with neither.
  const stacks = overlay.frozen.map((_, from) => overlay.frozen.slice(from)).filter((_, from) => from !== at + 1)
  const trees: string[][] = []
  for (const stack of stacks) trees.push(await mounted(stack))
  const steps = 1 + Math.floor(numbers() * 6)
  let left = steps
  const interrupt = (): void => {
    if (--left === 0) throw new Interrupted()
  }
  const whole = await reader.fold(older, [newer], beneath, { moved: interrupt, folded: () => {} }).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof Interrupted)) throw error
      return false
    },
  )
  for (const [index, stack] of stacks.entries())
    expect(await mounted(stack), `interrupted after ${steps}`).toEqual(trees[index])
  if (!whole) await reader.fold(older, [newer], beneath, silent)
  expect(fs.readdirSync(newer.path)).toEqual([])
  const without = (stack: LayerFolder[]): LayerFolder[] => stack.filter(({ path }) => path !== newer.path)
  for (const [index, stack] of stacks.entries()) expect(await mounted(without(stack))).toEqual(trees[index])
  overlay.frozen = without(overlay.frozen)
}

suiteNeeding(['local'], 'folding layers', () => {
  for (const mode of modesHere) {
    const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)
    test.each(seeds)(`random layers as ${mode}, seed %i: no tree changes`, async (seed) => {
      overlay = new Overlay(mode)
      const numbers = random(seed)
      new Editor(overlay.base, numbers, mode === 'root').fill()
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      for (let layer = 0; layer < LAYERS; layer++) {
        const { upper, tree } = await overlay.mountWritable({ redirects: false })
        const editor = new Editor(tree, numbers, mode === 'root')
        for (let edit = 0; edit < 10; edit++) editor.edit()
        const frozen = numbers() < 0.4 ? await written(reader, upper, tree) : upper
        await overlay.freeze(frozen, tree)
      }
      while (overlay.frozen.length > 4) await foldSomewhere(reader, numbers)
      // The rest at once.
      const [top, ...others] = overlay.frozen
      const base = others.pop()
      const oldest = others.pop()
      if (!top || !oldest || !base) throw new Error('four layers')
      const before = await mounted(overlay.frozen)
      await reader.fold(oldest, [...others.reverse(), top], [base], silent)
      expect(await mounted([oldest, base])).toEqual(before)
    })

    test(`what was made and removed again leaves nothing, as ${mode}`, async () => {
      overlay = new Overlay(mode)
      fs.writeFileSync(join(overlay.base, 'lower'), '')
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const first = await overlay.mountWritable()
      fs.writeFileSync(join(first.tree, 'passing'), 'x')
      await overlay.freeze(first.upper, first.tree)
      const second = await overlay.mountWritable()
      for (const name of ['passing', 'lower']) fs.rmSync(join(second.tree, name))
      await overlay.freeze(second.upper, second.tree)
      const [newer, older, base] = overlay.frozen
      if (!newer || !older || !base) throw new Error('three layers')
      await reader.fold(older, [newer], [base], silent)
      expect(fs.readdirSync(older.path)).toEqual(['lower'])
    })
  }
})
