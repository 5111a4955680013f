/**
 * Random programs of edits, checkpoints, rewinds and live writers against one sandbox: after every step each point's
 * tree, as the kernel mounts its layers, is what it was when the point was taken, and no frozen layer has changed.
 */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { type Box, type ProviderSource, World } from '../conformance/world.ts'
import { type Tree, treeOf } from '../layers/brute-force.ts'
import { Overlay } from '../layers/overlay-for-tests.ts'
import { Editor, type Random, random } from '../layers/random-edits.ts'
import type { FilesState } from '../sandbox.ts'
import { viewOf } from './view-for-tests.ts'

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
  readonly points: { state: FilesState; tree: string[] }[] = []
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

  async check(step: string): Promise<void> {
    for (const [at, { state, tree }] of this.points.entries()) {
      const layers = state.workspace.map((number) => ({ path: join(this.folder, 'w', String(number)), frozen: true }))
      const mounted = await this.#mounts.mountReadOnly(layers, { redirects: false })
      expect(described(treeOf(mounted)), `${step}: point ${at} [${state.workspace}]`).toEqual(tree)
      await this.#mounts.unmount(mounted)
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
        holder = await box.sandbox.exec({ id: `holder-${step}`, command: 'exec 3>>held; echo x >&3; exec sleep 300' })
        while (holder !== null && !fs.existsSync(join(program.view, 'held')))
          await new Promise((go) => setTimeout(go, 5))
      } else if (what < 0.3 && holder !== null) {
        await holder.kill('cancelled')
        holder = null
      }
      program.edit(1 + Math.floor(numbers() * 8))
      if (numbers() < 0.25) {
        await program.rollback()
        holder = null
      } else await program.checkpoint()
      await program.check(`seed ${seed}, step ${step}`)
    }
    expect(new Set(program.points.map(({ tree }) => tree.join())).size).toBeGreaterThan(3)
  })
})
