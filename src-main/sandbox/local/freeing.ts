/**
 * Freeing the layers that no kept state needs: at once what nothing has mounted, the rest while the mounts are away for a
 * moment. Compact layers that a fold spoils are forgotten, on disk too, before anything is moved; so whatever the trees
 * name shows the right thing wherever this ends.
 */
import { InternalError } from '../../contract/index.ts'
import { crashPoint } from '../../store/index.ts'
import type { FilesState, PruneOutcome } from '../sandbox.ts'
import type { Commands } from './commands.ts'
import type { Folding } from './folding.ts'
import { BASE, type Fold } from './layer-tree.ts'
import type { Layers, Overlay } from './layers.ts'
import { type Plan, planPruning } from './pruning.ts'
import { OVERLAYS, type Standing } from './standing.ts'
import type { OperationResult, SandboxState, StateFile } from './state.ts'

export interface FreeingOptions {
  standing: Standing
  stateFile: StateFile
  layers: Layers
  folding: Folding
  commands: Commands
  /** Puts the view back that the state has. */
  reopen: () => Promise<void>
}

type Folds = Record<Overlay, Fold[]>

/** A compact layer that stands for fewer layers is of no use. */
const LEAST_SPAN = 4

export class Freeing {
  readonly #options: FreeingOptions

  constructor(options: FreeingOptions) {
    this.#options = options
  }

  /** As the interface has it; runs alone. */
  async prune(kept: readonly FilesState[]): Promise<PruneOutcome> {
    const { standing, commands, reopen } = this.#options
    this.#mustHold(kept)
    const plans = { workspace: this.#plan('workspace', kept), machine: this.#plan('machine', kept) }
    const [now, later] = [this.#part(plans, false), this.#part(plans, true)]
    await this.#fold(now, standing.state.ended)
    let waits = false
    const mounted = OVERLAYS.filter((overlay) => later[overlay].length > 0)
    if (mounted.length > 0) {
      if (commands.agentProcesses().length > 0 || !(await standing.down(mounted))) waits = true
      else {
        crashPoint('prune:unmounted')
        try {
          await this.#fold(later, true)
        } finally {
          // What the state says by now, whatever became of the fold.
          await reopen()
        }
      }
    }
    await this.#sweep()
    return { became: this.#became(kept), waits }
  }

  /** What is not in the trees would be taken for something that nobody needs. */
  #mustHold(kept: readonly FilesState[]): void {
    const { trees } = this.#options.stateFile
    for (const overlay of OVERLAYS) {
      const missing = kept.find((state) => !trees[overlay].has(trees[overlay].resolve(state[overlay])))
      if (missing)
        throw new InternalError(`A point stands on layer ${missing[overlay]}, which this sandbox does not know.`, {
          data: { overlay, layer: missing[overlay] },
        })
    }
  }

  #plan(overlay: Overlay, kept: readonly FilesState[]): Plan {
    const { standing, stateFile } = this.#options
    const tree = stateFile.trees[overlay]
    const { on, head } = standing.state[overlay]
    const plan = planPruning(tree, new Set([...kept.map((one) => tree.resolve(one[overlay])), on, head]))
    const gone = [...tree.layers].filter((layer) => !plan.needed.has(layer))
    tree.remove([...gone, ...[...tree.compacts].flatMap(([number, { top }]) => (plan.needed.has(top) ? [] : [number]))])
    return plan
  }

  /** What can be folded while all stands, or what has to be taken away first. */
  #part(plans: Record<Overlay, Plan>, mounted: boolean): Folds {
    const { state } = this.#options.standing
    const part = (overlay: Overlay): Fold[] => {
      // Points under live processes stand on layers that are not mounted yet; those in a compact layer are not either.
      const busy = new Set(state.ended ? [] : state[overlay].lowers)
      return plans[overlay].folds.filter(({ older, newer }) => {
        const isMounted = busy.has(older) || busy.has(newer)
        // What is folded into the same layer later has to wait for this one.
        if (isMounted) busy.add(older)
        return isMounted === mounted
      })
    }
    return { workspace: part('workspace'), machine: part('machine') }
  }

  /** @param down whether nothing has them mounted, so that the state may say anew what is to be */
  async #fold(folds: Folds, down: boolean): Promise<void> {
    const { standing, stateFile, folding } = this.#options
    const overlays = OVERLAYS.filter((overlay) => folds[overlay].length > 0)
    if (overlays.length === 0) return
    let next: SandboxState = standing.state
    for (const overlay of overlays) {
      const tree = stateFile.trees[overlay]
      tree.remove(tree.spoiledBy(folds[overlay]))
      if (down) next = { ...next, [overlay]: this.#restacked(overlay, next) }
    }
    standing.commit(next)
    const done: [Overlay, Fold[]][] = []
    for (const overlay of overlays) done.push([overlay, await folding.fold(overlay, folds[overlay])])
    crashPoint('prune:folded')
    for (const [overlay, some] of done) stateFile.trees[overlay].fold(some)
    next = this.#renamed(standing.state)
    for (const overlay of overlays) {
      if (down) next = { ...next, [overlay]: this.#restacked(overlay, next) }
    }
    standing.commit(next)
    crashPoint('prune:committed')
  }

  #restacked(overlay: Overlay, state: SandboxState): SandboxState['workspace'] {
    const { on } = state[overlay]
    return { ...state[overlay], lowers: this.#options.stateFile.trees[overlay].stack(on) }
  }

  /** The state, with what its layers have become. */
  #renamed(state: SandboxState): SandboxState {
    const { trees } = this.#options.stateFile
    const overlayOf = (overlay: Overlay): SandboxState['workspace'] => {
      const { on, head } = state[overlay]
      return { ...state[overlay], on: trees[overlay].resolve(on), head: trees[overlay].resolve(head) }
    }
    const stateOf = ({ workspace, machine }: FilesState): FilesState => ({
      workspace: trees.workspace.resolve(workspace),
      machine: trees.machine.resolve(machine),
    })
    return {
      ...state,
      workspace: overlayOf('workspace'),
      machine: overlayOf('machine'),
      operations: state.operations.map((operation) => restated(operation, stateOf)),
    }
  }

  /** What kept states still name; the rest is forgotten. */
  #became(kept: readonly FilesState[]): PruneOutcome['became'] {
    const { trees } = this.#options.stateFile
    const known = (overlay: Overlay): [number, number][] => {
      const tree = trees[overlay]
      const named = new Set(kept.map((one) => one[overlay]))
      const all = tree.renamed.filter(([number]) => number !== BASE)
      // Another one may mean it by way of this.
      const meant = new Set([
        ...tree.meanings(BASE),
        ...all.flatMap(([number]) => (named.has(number) ? tree.meanings(number) : [])),
      ])
      tree.remove(all.flatMap(([number]) => (meant.has(number) ? [] : [number])))
      return all.filter(([number]) => named.has(number))
    }
    return { workspace: known('workspace'), machine: known('machine') }
  }

  /** Removes what no tree names any more, and what nothing ever did. */
  async #sweep(): Promise<void> {
    const { standing, stateFile, layers, folding } = this.#options
    for (const overlay of OVERLAYS) {
      const tree = stateFile.trees[overlay]
      const idle = [...tree.compacts.keys()].filter((number) => tree.span(number) < LEAST_SPAN)
      tree.remove(idle)
    }
    standing.commit(standing.state)
    for (const overlay of OVERLAYS) {
      const tree = stateFile.trees[overlay]
      const { upper, lowers } = standing.state[overlay]
      const held = new Set([
        BASE,
        upper,
        layers.spareNumber(overlay) ?? upper,
        ...lowers,
        ...standing.state.aside[overlay],
      ])
      const isHeld = (number: number): boolean => held.has(number) || tree.has(number) || tree.compacts.has(number)
      await folding.remove(
        overlay,
        layers.numbers(overlay).filter((number) => !isHeld(number)),
      )
    }
    for (const overlay of OVERLAYS) await this.#options.folding.removeStrays(overlay)
  }
}

function restated({ id, kind, outcome }: OperationResult, stateOf: (state: FilesState) => FilesState): OperationResult {
  if (kind === 'checkpoint') return { id, kind, outcome: { ...outcome, state: stateOf(outcome.state) } }
  return { id, kind, outcome: { ...outcome, left: { ...outcome.left, state: stateOf(outcome.left.state) } } }
}
