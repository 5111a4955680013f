/**
 * Which layer of an overlay stands on which.
 *
 * A point names the topmost of its layers alone; what lies beneath is known here. So a point costs the same however many
 * came before it, in the store and in the sandbox. Three more things are kept with it, each a change to a line or two:
 *
 * - *What became of a number*: a layer that was folded went into the one beneath it, and whoever still names it means that
 *   one. The base becomes the layer of pre-images above it in the same way.
 * - *Compact layers*: one folder that shows what a whole run of layers shows. They are a cache, and they are what keeps
 *   mounts short: {@link LayerTree.stack} goes down a chain in as few folders as there are. Each is there for the layer
 *   that it begins with and stands on the one beneath the run; it is dropped when either comes to show something else.
 * - *Depth*, which tells how far two stacks go together.
 */

/** A folder that shows the layers from `top` down to the one above `on`. */
export interface Compact {
  readonly top: number
  readonly on: number
  /** How often the sandbox had been frozen when it was written: says whether it has reached the disk since. */
  readonly frozen: number
}

/** What can happen to a tree, as it is written down. Doing one again changes nothing. */
export type TreeChange =
  | readonly ['on', layer: number, beneath: number]
  | readonly ['became', layer: number, other: number]
  | readonly ['compact', number: number, top: number, on: number, frozen: number]
  | readonly ['gone', number: number]

export interface Fold {
  /** Keeps its number and shows both afterwards. */
  readonly older: number
  readonly newer: number
}

/** Lowest of every chain: the workspace as it was, or what the machine layer began with. */
export const BASE = 0

export class LayerTree {
  readonly #record: (change: TreeChange) => void
  readonly #beneath = new Map<number, number>()
  readonly #became = new Map<number, number>()
  readonly #compacts = new Map<number, Compact>()
  /** Derived: how many layers lie beneath one, and the compacts that begin with one. */
  readonly #depths = new Map<number, number>([[BASE, 0]])
  readonly #beginning = new Map<number, number[]>()

  /**
   * @param changes everything that happened to it so far
   * @param record told of what happens from now on
   */
  constructor(changes: Iterable<TreeChange>, record: (change: TreeChange) => void) {
    this.#record = record
    for (const change of changes) this.#apply(change)
    this.#derive()
  }

  /** All layers but the base, in no order. */
  get layers(): Iterable<number> {
    return this.#beneath.keys()
  }

  get compacts(): ReadonlyMap<number, Compact> {
    return this.#compacts
  }

  /** Numbers that mean another layer now, with that. */
  get renamed(): [number, number][] {
    return [...this.#became.keys()].map((number) => [number, this.resolve(number)])
  }

  /** The layer that a number means now. */
  resolve(number: number): number {
    const became = this.#became.get(number)
    return became === undefined ? number : this.resolve(became)
  }

  /** The numbers by way of which a number means what it means now, itself first. */
  meanings(number: number): number[] {
    const became = this.#became.get(number)
    return became === undefined ? [] : [number, ...this.meanings(became)]
  }

  has(layer: number): boolean {
    return layer === BASE || this.#beneath.has(layer)
  }

  /** Null for the base. */
  beneath(layer: number): number | null {
    return this.#beneath.get(layer) ?? null
  }

  /** Layers beneath it. */
  depth(layer: number): number {
    return this.#depths.get(layer) ?? 0
  }

  /** Layers that a folder shows. */
  span(folder: number): number {
    const compact = this.#compacts.get(folder)
    return compact === undefined ? 1 : this.depth(compact.top) - this.depth(compact.on)
  }

  /** The layers from `top` down to the base, as they were frozen. */
  chain(top: number): number[] {
    const chain: number[] = []
    for (let at: number | null = top; at !== null; at = this.beneath(at)) chain.push(at)
    return chain
  }

  /**
   * The fewest folders that show what a chain shows, top first.
   * @param until where to stop, not included: a layer beneath `top`; nothing to go down to the base
   */
  stack(top: number, until: number | null = null): number[] {
    const stack: number[] = []
    const floor = until === null ? 0 : this.depth(until)
    for (let at: number | null = top; at !== null && at !== until; ) {
      const compact = this.#longest(at, floor)
      stack.push(compact ?? at)
      at = compact === null ? this.beneath(at) : (this.#compacts.get(compact)?.on ?? null)
    }
    return stack
  }

  /** The topmost layer that both chains hold. */
  common(one: number, other: number): number {
    let [a, b] = [one, other]
    while (a !== b) {
      if (this.depth(a) < this.depth(b)) [a, b] = [b, a]
      a = this.beneath(a) ?? BASE
    }
    return a
  }

  /** Stacks of two layers that are the same folders from where their chains meet. */
  pair(one: number, other: number): [number[], number[]] {
    const common = this.common(one, other)
    const rest = this.stack(common)
    return [
      [...this.stack(one, common), ...rest],
      [...this.stack(other, common), ...rest],
    ]
  }

  /** What stands on each layer. */
  children(): Map<number, number[]> {
    const children = new Map<number, number[]>()
    for (const [layer, beneath] of this.#beneath) {
      const there = children.get(beneath)
      if (there) there.push(layer)
      else children.set(beneath, [layer])
    }
    return children
  }

  add(layer: number, beneath: number): void {
    this.#do(['on', layer, beneath])
    this.#depths.set(layer, this.depth(beneath) + 1)
  }

  /** A layer of pre-images: beneath all others, and in the place of the base for whoever names that. */
  addAboveBase(layer: number): void {
    const standing = [...this.#beneath].filter(([, beneath]) => beneath === BASE)
    this.#do(['on', layer, BASE])
    for (const [one] of standing) this.#do(['on', one, layer])
    // What one showed over the base it shows over the pre-images: they say what the base said.
    for (const [number, { top, on, frozen }] of [...this.#compacts])
      if (on === BASE) this.#do(['compact', number, top, layer, frozen])
    if (!this.#became.has(BASE)) this.#do(['became', BASE, layer])
    this.#derive()
  }

  addCompact(number: number, { top, on, frozen }: Compact): void {
    this.#do(['compact', number, top, on, frozen])
    this.#begins(number, top)
  }

  /** Forgets layers and compacts that nobody needs, and numbers that nobody names any more. */
  remove(numbers: Iterable<number>): void {
    for (const number of numbers) this.#do(['gone', number])
    this.#derive()
  }

  /** Compacts that would not show any more what they stand for once these layers were folded. */
  spoiledBy(folds: readonly Fold[]): Set<number> {
    const spoiled = new Set<number>()
    this.#afterFolds(folds, spoiled)
    return spoiled
  }

  /** The newer layer of each went into the older one, in this order. Nothing that it spoils may be left. */
  fold(folds: readonly Fold[]): void {
    const compacts = this.#afterFolds(folds, new Set())
    const children = this.children()
    for (const { older, newer } of folds) {
      const above = children.get(newer) ?? []
      for (const one of above) this.#do(['on', one, older])
      children.set(older, above)
      children.delete(newer)
      this.#do(['became', newer, older])
    }
    for (const [number, { top, on, frozen }] of compacts) {
      const now = this.#compacts.get(number)
      if (now?.top !== top || now.on !== on) this.#do(['compact', number, top, on, frozen])
    }
    this.#derive()
  }

  /** Everything that is known, in as few changes as say it. */
  *changes(): Iterable<TreeChange> {
    for (const [layer, beneath] of this.#beneath) yield ['on', layer, beneath]
    for (const [layer, other] of this.#became) yield ['became', layer, other]
    for (const [number, { top, on, frozen }] of this.#compacts) yield ['compact', number, top, on, frozen]
  }

  /** The compacts with the layers that they begin with and stand on after some folds. */
  #afterFolds(folds: readonly Fold[], spoiled: Set<number>): Map<number, Compact> {
    const compacts = new Map(this.#compacts)
    for (const { older, newer } of folds) {
      for (const [number, compact] of compacts) {
        const { top, on } = compact
        // What it begins with shows more than it does; or it stands on something with which it may show what it hid.
        if (top === older || on === older) {
          spoiled.add(number)
          compacts.delete(number)
        } else if (top === newer) compacts.set(number, { ...compact, top: older })
        else if (on === newer) compacts.set(number, { ...compact, on: older })
      }
    }
    return compacts
  }

  /** The compact that begins with a layer and goes deepest, but not below a depth. */
  #longest(top: number, floor: number): number | null {
    let best: number | null = null
    for (const number of this.#beginning.get(top) ?? []) {
      const on = this.#compacts.get(number)?.on ?? BASE
      if (this.depth(on) >= floor && (best === null || this.span(number) > this.span(best))) best = number
    }
    return best
  }

  #do(change: TreeChange): void {
    this.#apply(change)
    this.#record(change)
  }

  #apply(change: TreeChange): void {
    const [kind, number, other] = change
    switch (kind) {
      case 'on':
        this.#beneath.set(number, other)
        break
      case 'became':
        this.#became.set(number, other)
        this.#beneath.delete(number)
        break
      case 'compact':
        this.#compacts.set(number, { top: change[2], on: change[3], frozen: change[4] })
        break
      case 'gone':
        this.#beneath.delete(number)
        this.#became.delete(number)
        this.#compacts.delete(number)
    }
  }

  #begins(number: number, top: number): void {
    const there = this.#beginning.get(top)
    if (there) there.push(number)
    else this.#beginning.set(top, [number])
  }

  #derive(): void {
    const children = this.children()
    this.#depths.clear()
    this.#depths.set(BASE, 0)
    for (let level = [BASE], depth = 1; level.length > 0; depth++) {
      level = level.flatMap((layer) => children.get(layer) ?? [])
      for (const layer of level) this.#depths.set(layer, depth)
    }
    this.#beginning.clear()
    for (const [number, { top }] of this.#compacts) this.#begins(number, top)
  }
}
