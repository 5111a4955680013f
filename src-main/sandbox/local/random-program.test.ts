/**
 * Random programs of edits, checkpoints, rewinds, prunes and live writers against one sandbox: after every step each point's
 * tree, as the kernel mounts its layers, is what it was when the point was taken, and no frozen layer has
 * changed but those that others were folded into.
 */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { type Box, eventually, type ProviderSource, World } from '../conformance/world.ts'
import { type Tree, treeOf } from '../layers/brute-force.ts'
import type { LayerFolder } from '../layers/index.ts'
import { Overlay } from '../layers/overlay-for-tests.ts'
import { Editor, type Random, random } from '../layers/random-edits.ts'
import type { FilesState } from '../sandbox.ts'
import { StateFile } from './state.ts'
import { chainOf, stackOf, viewOf } from './view-for-tests.ts'

/** More of them, or one again: LAYERS_SEEDS=200 LAYERS_FIRST_SEED=17 */
const SEEDS = Number(process.env.LAYERS_SEEDS ?? 4)
const FIRST_SEED = Number(process.env.LAYERS_FIRST_SEED ?? 1)
const STEPS = 14

const source: ProviderSource = { module: join(import.meta.dirname, 'index.ts'), factory: 'createLocalProvider' }
const asRoot = process.getuid?.() === 0

let mounts: Overlay | null = null
afterEach(async () => {
  await mounts?.remove()
  mounts = null
})

/** Path, kind, bytes, mode, owner and, of what is no folder, time. */
const described = (tree: Tree): string[] =>
  [...tree]
    .map(([path, { stat, kind, content }]) => {
      const time = kind === 'folder' ? '' : stat.mtimeMs.toFixed(2)
      return JSON.stringify([path, kind, content, stat.mode, stat.uid, stat.gid, time])
    })
    .sort()

class Program {
  readonly box: Box
  readonly world: World
  readonly folder: string
  readonly #random: Random
  readonly #mounts: Overlay
  points: { state: FilesState; tree: string[] }[] = []
  /** Every tree that a point was taken of. */
  readonly seen = new Set<string>()
  readonly #hashes = new Map<string, string>()

  constructor(world: World, box: Box, numbers: Random, overlay: Overlay) {
    this.world = world
    this.box = box
    this.folder = join(world.home, 'sandboxes', box.sandbox.id)
    this.#random = numbers
    this.#mounts = overlay
  }

  /** The workspace in the sandbox, for this process to write to. */
  get view(): string {
    return viewOf(this.folder, this.world.workspace)
  }

  edit(count: number): void {
    const editor = new Editor(this.view, this.#random, asRoot)
    for (; count > 0; count--) editor.edit()
  }

  async checkpoint(): Promise<void> {
    const tree = described(treeOf(this.view))
    this.seen.add(tree.join())
    const state = await this.box.point()
    this.points.push({ state, tree })
    expect(described(treeOf(this.view)), 'a checkpoint changes nothing').toEqual(tree)
  }

  async rollback(): Promise<void> {
    const to = this.points[Math.floor(this.#random() * this.points.length)]
    if (to === undefined) return
    const tree = described(treeOf(this.view))
    const { left } = await this.box.back(to.state)
    this.points.push({ state: left.state, tree })
    expect(described(treeOf(this.view)), 'the rewind').toEqual(to.tree)
  }

  /** Forgets some points, never the newest: a rewind may have left them all behind. */
  async prune(): Promise<{ waits: boolean }> {
    const kept = this.points.filter((_, at) => at === this.points.length - 1 || this.#random() < 0.5)
    const before = kept.map(({ state }) => chainOf(this.folder, state))
    const { became, waits } = await this.box.sandbox.prune(kept.map(({ state }) => state))
    const known = (number: number): number => became.workspace.find(([from]) => from === number)?.[1] ?? number
    this.points = kept.map(({ state, tree }) => ({ tree, state: { ...state, workspace: known(state.workspace) } }))
    for (const [at, chain] of before.entries()) {
      const left = new Set(chainOf(this.folder, this.points[at]?.state ?? { workspace: 0, machine: 0 }))
      // A layer that others went into shows them too.
      for (const [deep, number] of chain.entries()) {
        if (!left.has(chain[deep - 1] ?? number)) this.#hashes.delete(join(this.folder, 'w', String(number)))
      }
    }
    return { waits }
  }

  async #shown(layers: LayerFolder[]): Promise<string[]> {
    const mounted = await this.#mounts.mountReadOnly(layers, { redirects: false })
    try {
      return described(treeOf(mounted))
    } finally {
      await this.#mounts.unmount(mounted)
    }
  }

  async check(step: string): Promise<void> {
    for (const [at, { state, tree }] of this.points.entries()) {
      const folders = (numbers: number[]) =>
        numbers.map((number) => ({ path: join(this.folder, 'w', String(number)), frozen: true }))
      const chain = chainOf(this.folder, state)
      const layers = folders(chain)
      expect(await this.#shown(layers), `${step}: point ${at} [${chain}]`).toEqual(tree)
      for (let left = 3; ; left--) {
        const stack = folders(stackOf(this.folder, state))
        const shown = await this.#shown(stack).catch(() => null)
        // One that is written together with its neighbours goes away under us: nobody who mounts it in earnest sees that.
        if (left > 0 && stack.some(({ path }) => !fs.existsSync(path))) continue
        expect(shown, `${step}: point ${at} ${JSON.stringify(stack)}`).toEqual(tree)
        break
      }
      for (const { path } of layers) {
        const hash = createHash('sha256')
          .update(described(treeOf(path)).join('\n'))
          .digest('hex')
        expect(this.#hashes.get(path) ?? hash, `${step}: layer ${path} changed`).toBe(hash)
        this.#hashes.set(path, hash)
      }
    }
  }
}

suiteNeeding(['local'], 'random programs in a sandbox', () => {
  const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)
  test.each(seeds)('seed %i: every point stays what it was', async (seed) => {
    const world = await World.make(source)
    const numbers = random(seed)
    new Editor(world.workspace, numbers, asRoot).fill()
    const box = await world.sandbox({ base: 'copy' })
    mounts = new Overlay(asRoot ? 'root' : 'user')
    const program = new Program(world, box, numbers, mounts)
    let holder: Awaited<ReturnType<Box['sandbox']['exec']>> | null = null
    await program.checkpoint()
    for (let step = 1; step <= STEPS; step++) {
      const what = numbers()
      if (what < 0.2 && holder === null) {
        const held = join(program.view, `held-${step}`)
        const command = `exec 3>>held-${step}; echo x >&3; exec sleep 300`
        holder = await box.sandbox.exec({ id: `holder-${step}`, command })
        await eventually('it holds', () => fs.existsSync(held) && fs.lstatSync(held).size > 0)
      } else if (what < 0.3 && holder !== null) {
        await holder.kill('cancelled')
        holder = null
      }
      program.edit(1 + Math.floor(numbers() * 8))
      if (numbers() < 0.25) {
        await program.rollback()
        holder = null
      } else {
        await program.checkpoint()
        // Some more, so that there is something to compact.
        for (let more = numbers() < 0.3 ? 4 : 0; more > 0; more--) {
          program.edit(2)
          await program.checkpoint()
        }
      }
      await program.check(`seed ${seed}, step ${step}`)
      if (numbers() < 0.4) {
        const before = described(treeOf(program.view))
        const { waits } = await program.prune()
        expect(waits && holder === null, 'nothing holds the layers').toBe(false)
        expect(described(treeOf(program.view)), 'pruning changes nothing').toEqual(before)
        await program.check(`seed ${seed}, step ${step}, pruned`)
      }
    }
    // What is on disk is what the kept points and the live layer need.
    if (holder !== null) await holder.kill('cancelled')
    await program.prune()
    const { head } = await box.sandbox.status()
    const states = [head, ...program.points.map(({ state }) => state)]
    const needed = new Set(
      states.flatMap((state) => [...chainOf(program.folder, state), ...stackOf(program.folder, state)]),
    )
    const { lowers } = new StateFile(program.folder).read().workspace
    for (const number of lowers) needed.add(number)
    // The live layer and the next one; and what is written as one meanwhile, which the state does not name yet.
    const idle = 2 + 2
    const there = () => fs.readdirSync(join(program.folder, 'w')).filter((name) => /^\d+$/.test(name)).length
    await expect.poll(there).toBeLessThanOrEqual(needed.size + idle)
    expect(program.seen.size).toBeGreaterThan(3)
  })
})
