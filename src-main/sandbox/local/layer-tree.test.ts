/** Trees of layers by random programs: what is written down says the same again, and stacks show what chains show. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { random } from '../layers/random-edits.ts'
import { LayerTree, type TreeChange } from './layer-tree.ts'
import { planPruning } from './pruning.ts'
import { BASE_STATE, type SandboxState, StateFile } from './state.ts'

/** What a folder shows: layers, each with those that went into it. */
class Shown {
  readonly #layers = new Map<number, number[]>([[0, [0]]])

  of = (folder: number): number[] => this.#layers.get(folder) ?? []

  made(folder: number, of: number[]): void {
    this.#layers.set(
      folder,
      of.flatMap((one) => this.of(one)),
    )
  }

  layer(number: number): void {
    this.#layers.set(number, [number])
  }

  folded(older: number, newer: number): void {
    this.#layers.set(older, [...this.of(newer), ...this.of(older)])
    this.#layers.set(newer, [])
  }
}

test.each(Array.from({ length: 30 }, (_, seed) => seed + 1))('random trees, seed %i', (seed) => {
  const numbers = random(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(numbers() * from.length)] as T
  const changes: TreeChange[] = []
  const tree = new LayerTree([], (change) => changes.push(change))
  const shown = new Shown()
  let next = 1
  /** Points with what they showed when they were taken. */
  let points: { top: number; content: number[] }[] = [{ top: 0, content: [0] }]
  const contentOf = (folders: number[]): number[] => folders.flatMap(shown.of)
  const check = (): void => {
    const again = new LayerTree(changes, () => {})
    for (const { top, content } of points) {
      const now = tree.resolve(top)
      expect(contentOf(tree.chain(now))).toEqual(content)
      expect(contentOf(tree.stack(now))).toEqual(content)
      expect(again.stack(again.resolve(top))).toEqual(tree.stack(now))
      for (const other of points) {
        const [one, two] = tree.pair(now, tree.resolve(other.top))
        expect([contentOf(one), contentOf(two)]).toEqual([content, other.content])
      }
    }
    expect(new LayerTree(tree.changes(), () => {}).stack(tree.resolve(points[0]?.top ?? 0))).toEqual(
      tree.stack(tree.resolve(points[0]?.top ?? 0)),
    )
  }
  for (let step = 0; step < 40; step++) {
    const what = numbers()
    const point = pick(points)
    const top = tree.resolve(point.top)
    if (what < 0.6) {
      shown.layer(next)
      tree.add(next, top)
      points.push({ top: next, content: [next, ...point.content] })
      next++
    } else if (what < 0.8) {
      const stack = tree.stack(top).slice(0, -1)
      const from = Math.floor(numbers() * stack.length)
      const run = stack.slice(from, from + 2 + Math.floor(numbers() * 3))
      if (run.length < 2) continue
      const below = tree.stack(top)[from + run.length] ?? 0
      shown.made(next, run)
      const topOf = (folder: number): number => tree.compacts.get(folder)?.top ?? folder
      tree.addCompact(next++, { top: topOf(run[0] ?? 0), on: topOf(below), frozen: 0 })
    } else {
      points = points.filter(() => numbers() < 0.7)
      if (points.length === 0) points = [{ top: 0, content: [0] }]
      const ends = new Set(points.map((one) => tree.resolve(one.top)))
      const { needed, folds } = planPruning(tree, ends)
      tree.remove([...tree.layers].filter((layer) => !needed.has(layer)))
      tree.remove([...tree.compacts].flatMap(([number, one]) => (needed.has(one.top) ? [] : [number])))
      tree.remove(tree.spoiledBy(folds))
      for (const { older, newer } of folds) shown.folded(older, newer)
      check()
      tree.fold(folds)
    }
    check()
  }
})

const state: SandboxState = {
  version: 2,
  generation: 1,
  workspace: { upper: 1, on: 0, lowers: [0], head: 0, copiedAt: null },
  machine: { upper: 2, on: 0, lowers: [0], head: 0, copiedAt: null },
  next: 3,
  aside: { workspace: [], machine: [] },
  operations: [],
  bootId: '',
  holder: null,
  frozen: 0,
  syncedThrough: 0,
  ended: false,
}

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-trees-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  StateFile.first(folder, state)
  return folder
}

test('the state stays small however many layers there are, and forgets none', () => {
  const folder = place()
  const file = new StateFile(folder)
  for (let layer = 1; layer <= 6_000; layer++) {
    file.trees.workspace.add(layer, layer - 1)
    if (layer % 10 === 0) {
      file.write(state)
      file.tidy()
    }
  }
  file.write(state)
  expect(statSync(join(folder, 'state.json')).size).toBeLessThan(4_096)
  expect(new StateFile(folder).trees.workspace.chain(6_000)).toHaveLength(6_001)
  expect(new StateFile(folder).read()).toEqual(state)
  // What was said of layers that are gone is left out one day.
  file.trees.workspace.remove(Array.from({ length: 5_990 }, (_, at) => at + 11))
  for (let layer = 11; layer <= 100; layer++) file.trees.workspace.add(layer, layer - 1)
  file.tidy()
  file.write(state)
  const [only, ...others] = readdirSync(folder).filter((name) => name.startsWith('layers-'))
  expect(others).toEqual([])
  expect(readFileSync(join(folder, only ?? ''), 'utf8').split('\n')).toHaveLength(100 + 1)
  expect(new StateFile(folder).trees.workspace.depth(100)).toBe(100)
})

test('a crash while changes are moved to their file loses none, wherever it cuts', () => {
  const folder = place()
  const file = new StateFile(folder)
  let layers = 0
  const grow = (to: number): void => {
    while (layers < to) file.trees.workspace.add(++layers, layers - 1)
  }
  grow(70)
  file.write(state)
  file.tidy()
  file.write(state)
  grow(140)
  file.write(state)
  const before = readFileSync(join(folder, 'state.json'))
  file.tidy()
  const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('layers-'))
  const whole = readFileSync(join(folder, name))
  for (const cut of [0, 1, 30, 200]) {
    writeFileSync(join(folder, 'state.json'), before)
    writeFileSync(join(folder, name), whole)
    truncateSync(join(folder, name), whole.length - cut)
    const again = new StateFile(folder)
    expect(again.trees.workspace.depth(140)).toBe(140)
    again.trees.workspace.add(141, 140)
    again.tidy()
    again.write(state)
    expect(new StateFile(folder).trees.workspace.depth(141)).toBe(141)
  }
})

test('what was written before there were trees is understood', () => {
  const folder = place()
  const before = {
    ...state,
    workspace: { ...state.workspace, lowers: [5, 1, 0], head: [6, 5, 1, 0] },
    syncedThrough: 9,
  }
  const { version: _, frozen: __, ...older } = { ...before, folded: { workspace: [3, 4], machine: [] } }
  const machine = { upper: 2, lowers: [0], head: [0], copiedAt: null }
  const left = { state: { workspace: [6, 5, 1, 0], machine: [0] }, changed: true, bytes: 1 }
  const operations = [{ id: 'r', kind: 'rollback', outcome: { left, stopped: [] } }]
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...older, machine, operations }))
  // The store did not know yet that 3 and 4 had gone into 1, nor of 6.
  const lines = [
    [1, 0],
    [3, 1],
    [4, 3],
    [5, 4],
    [7, 3],
  ].map(([layer, on]) => `${JSON.stringify(['workspace', 'on', layer, on])}\n`)
  writeFileSync(join(folder, 'layers-0'), lines.join(''))
  const file = new StateFile(folder)
  const { workspace } = file.trees
  expect([workspace.chain(6), workspace.chain(7)]).toEqual([
    [6, 5, 1, 0],
    [7, 1, 0],
  ])
  expect([workspace.resolve(4), workspace.resolve(3)]).toEqual([1, 1])
  const read = file.read()
  expect(read).toMatchObject({
    version: 2,
    workspace: { on: 5, lowers: [5, 1, 0], head: 6 },
    machine: { on: 0, head: 0 },
    operations: [{ id: 'r', outcome: { left: { state: { workspace: 6, machine: BASE_STATE.machine } } } }],
    syncedThrough: 1,
    frozen: 1,
  })
  file.write(read)
  const again = new StateFile(folder)
  expect([again.read(), again.trees.workspace.chain(7)]).toEqual([read, [7, 1, 0]])
})
