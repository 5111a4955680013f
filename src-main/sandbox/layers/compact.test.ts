/** Compacting against the kernel: whichever run of layers becomes one, over a base that stays or changes, no tree changes. */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { treeOf } from './brute-force.ts'
import { createLayerReader, type LayerFolder } from './index.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'
import { Editor, random } from './random-edits.ts'

/** More of them, or one again: LAYERS_SEEDS=200 LAYERS_FIRST_SEED=17 */
const SEEDS = Number(process.env.LAYERS_SEEDS ?? 10)
const FIRST_SEED = Number(process.env.LAYERS_FIRST_SEED ?? 1)
const LAYERS = 7
const COMPACTS = 4

let overlay: Overlay
afterEach(() => overlay.remove())

/** Path, kind, bytes, mode, owner and time: to the hundredth of a second, as those of folders are rounded. */
const described = (tree: string, phantoms = false): string[] =>
  [...treeOf(tree, { phantoms })]
    .map(([path, { stat, kind, content }]) =>
      JSON.stringify([path, kind, content, stat.mode, stat.uid, stat.gid, stat.mtimeMs.toFixed(2)]),
    )
    .sort()

async function mounted(layers: readonly LayerFolder[], phantoms = false): Promise<string[]> {
  const tree = await overlay.mountReadOnly(layers)
  try {
    return described(tree, phantoms)
  } finally {
    await overlay.unmount(tree)
  }
}

const own = (layer: LayerFolder | undefined): string[] => (layer ? described(layer.path) : [])

/** A folder for a new layer, beside the others. */
function empty(name: string): string {
  const target = join(overlay.folder, name)
  fs.mkdirSync(target)
  return target
}

async function freezeAfter(edit: (tree: string) => void): Promise<void> {
  const { upper, tree } = await overlay.mountWritable({ redirects: false })
  edit(tree)
  await overlay.freeze(upper, tree)
}

suiteNeeding(['local'], 'compacting layers', () => {
  for (const mode of modesHere) {
    const reader = () => createLayerReader({ opaqueXattr: overlay.opaqueXattr })
    const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)

    test.each(seeds)(`random layers as ${mode}, seed %i: no tree changes, and no layer`, async (seed) => {
      overlay = new Overlay(mode)
      const numbers = random(seed)
      new Editor(overlay.base, numbers, mode === 'root').fill()
      const live = seed % 2 === 0
      for (let layer = 0; layer < LAYERS; layer++) {
        await freezeAfter((tree) => {
          const editor = new Editor(tree, numbers, mode === 'root')
          for (let edit = 0; edit < 10; edit++) editor.edit()
        })
      }
      const layers = overlay.frozen.slice(0, -1)
      const base = { path: overlay.base, frozen: !live }
      const before = layers.map(own)
      let stack: LayerFolder[] = [...layers, base]
      for (let count = 0; count < COMPACTS; count++) {
        const from = Math.floor(numbers() * (stack.length - 2))
        const to = from + 2 + Math.floor(numbers() * (stack.length - 2 - from))
        const target = empty(`compact-${count}`)
        await reader().compact(stack.slice(from, to), stack.slice(to), target, () => {})
        const next = [...stack.slice(0, from), { path: target, frozen: true }, ...stack.slice(to)]
        for (let top = 0; top <= from; top++)
          expect(await mounted(next.slice(top)), `${from}-${to} from ${top}`).toEqual(await mounted(stack.slice(top)))
        stack = next
        if (stack.length === 2) break
      }
      expect(layers.map(own)).toEqual(before)
      if (!live) return
      // What a host does to files and folders that are there: both show the same of it.
      const editor = new Editor(overlay.base, numbers, mode === 'root')
      for (let edit = 0; edit < 5; edit++) editor.edit()
      expect(await mounted(stack, true)).toEqual(await mounted([...layers, base], true))
    })

    test(`a file that is linked is copied up before it is written, as ${mode}`, async () => {
      overlay = new Overlay(mode)
      await freezeAfter((tree) => fs.writeFileSync(join(tree, 'f'), 'one'))
      await freezeAfter((tree) => fs.writeFileSync(join(tree, 'g'), 'two'))
      const [newer, older, base] = overlay.frozen
      if (!newer || !older || !base) throw new Error('three layers')
      const target = empty('compact')
      await reader().compact([newer, older], [base], target, () => {})
      expect(fs.lstatSync(join(target, 'f')).ino).toBe(fs.lstatSync(join(older.path, 'f')).ino)
      overlay.frozen = [{ path: target, frozen: true }, base]
      await freezeAfter((tree) => {
        fs.appendFileSync(join(tree, 'f'), ' and more')
        fs.chmodSync(join(tree, 'g'), 0o600)
        fs.utimesSync(join(tree, 'g'), 1, 1)
      })
      for (const folder of [target, older.path]) expect(fs.readFileSync(join(folder, 'f'), 'utf8')).toBe('one')
      expect(fs.lstatSync(join(newer.path, 'g'))).toMatchObject({ mode: 0o100644 })
      expect(fs.lstatSync(join(newer.path, 'g')).mtimeMs).toBeGreaterThan(1_000)
    })

    test(`attributes of folders are kept, as ${mode}`, async () => {
      overlay = new Overlay(mode)
      const python = (script: string, ...args: string[]): string =>
        execFileSync('python3', ['-c', `import os, sys\n${script}`, ...args], { encoding: 'utf8' })
      const set = (path: string, value: string) =>
        python('os.setxattr(sys.argv[1], "user.note", sys.argv[2].encode())', path, value)
      const get = (path: string) => python('print(os.getxattr(sys.argv[1], "user.note").decode(), end="")', path)
      await freezeAfter((tree) => {
        fs.mkdirSync(join(tree, 'odd\nname/inner'), { recursive: true })
        set(join(tree, 'odd\nname/inner'), 'older')
        set(tree, 'root')
      })
      await freezeAfter((tree) => {
        fs.writeFileSync(join(tree, 'odd\nname/f'), '')
        set(join(tree, 'odd\nname'), 'newer')
        set(tree, 'root')
      })
      const [newer, older, base] = overlay.frozen
      if (!newer || !older || !base) throw new Error('three layers')
      const target = empty('compact')
      await reader().compact([newer, older], [base], target, () => {})
      expect(['', 'odd\nname', 'odd\nname/inner'].map((path) => get(join(target, path)))).toEqual([
        'root',
        'newer',
        'older',
      ])
      expect(await mounted([{ path: target, frozen: true }, base])).toEqual(await mounted(overlay.frozen))
    })

    test(`what was made and removed within it leaves nothing, as ${mode}`, async () => {
      overlay = new Overlay(mode)
      fs.writeFileSync(join(overlay.base, 'lower'), '')
      await freezeAfter((tree) => {
        fs.mkdirSync(join(tree, 'd'))
        for (const name of ['passing', 'd/passing']) fs.writeFileSync(join(tree, name), 'x')
      })
      await freezeAfter((tree) => {
        for (const name of ['passing', 'd/passing', 'lower']) fs.rmSync(join(tree, name))
      })
      const [newer, older, base] = overlay.frozen
      if (!newer || !older || !base) throw new Error('three layers')
      for (const frozen of [true, false]) {
        const target = empty(`compact-${frozen}`)
        await reader().compact([newer, older], [{ ...base, frozen }], target, () => {})
        // A base that may get that name one day must not show it then.
        expect(fs.readdirSync(target).sort()).toEqual(frozen ? ['d', 'lower'] : ['d', 'lower', 'passing'])
        expect(fs.readdirSync(join(target, 'd'))).toEqual([])
        expect(await mounted([{ path: target, frozen: true }, base])).toEqual(await mounted(overlay.frozen))
      }
    })
  }
})
