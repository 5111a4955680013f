/** Freeing layers: what is planned (pruning.ts) done to the folders and to the state, in an order that a crash may end anywhere. */
import { existsSync } from 'node:fs'
import { crashPoint } from '../../store/index.ts'
import type { LayerFolder, LayerReader } from '../layers/index.ts'
import type { FilesState } from '../sandbox.ts'
import type { Layers, Overlay } from './layers.ts'
import { type Fold, type Plan, planPruning } from './pruning.ts'
import { type LayerNumbers, type OperationResult, type SandboxState, type StoredSpec, withoutFolded } from './state.ts'

export interface FoldingOptions {
  stored: StoredSpec
  layers: Layers
  reader: LayerReader
  /** Host folder of the lowest workspace layer. */
  base: string
  /** Told of a layer whose bytes are others now. */
  forget: (path: string) => void
}

type Plans = Record<Overlay, Plan>

const OVERLAYS = ['workspace', 'machine'] as const

export class Folding {
  readonly #options: FoldingOptions

  constructor(options: FoldingOptions) {
    this.#options = options
  }

  plan(kept: readonly FilesState[], state: SandboxState): Plans {
    const { layers } = this.#options
    const states = kept.map((one) => withoutFolded(one, state.folded))
    const planOf = (overlay: Overlay): Plan => {
      const { upper, lowers, head } = state[overlay]
      const spared = new Set([upper, layers.spareNumber(overlay) ?? upper, ...state.aside[overlay]])
      return planPruning([...states.map((one) => one[overlay]), lowers, head], layers.numbers(overlay), spared)
    }
    return { workspace: planOf('workspace'), machine: planOf('machine') }
  }

  /** Layers that nobody needs, which nothing has mounted. */
  async remove(plans: Plans): Promise<void> {
    for (const overlay of OVERLAYS) for (const number of plans[overlay].removed) await this.#discard(overlay, number)
  }

  /**
   * Folds what none of these overlays has mounted by now.
   * @returns what went into the layer beneath it, each left as an empty folder while the state may still name it
   */
  async fold(plans: Plans, overlays: readonly Overlay[]): Promise<LayerNumbers> {
    const done: LayerNumbers = { workspace: [], machine: [] }
    for (const overlay of overlays) {
      for (const one of plans[overlay].folds) {
        if (!(await this.#foldOne(overlay, one))) break
        done[overlay].push(one.newer)
      }
    }
    crashPoint('prune:folded')
    return done
  }

  /** The state without what was folded; numbers that no kept state names any more are forgotten. */
  without(folded: LayerNumbers, kept: readonly FilesState[], state: SandboxState): SandboxState {
    const known = (overlay: Overlay): number[] => {
      const named = new Set(kept.flatMap((one) => one[overlay]))
      return [...new Set([...state.folded[overlay], ...folded[overlay]])].filter((number) => named.has(number))
    }
    const left = (overlay: Overlay): SandboxState['workspace'] => {
      const rest = (numbers: readonly number[]) => numbers.filter((number) => !folded[overlay].includes(number))
      return { ...state[overlay], lowers: rest(state[overlay].lowers), head: rest(state[overlay].head) }
    }
    return {
      ...state,
      workspace: left('workspace'),
      machine: left('machine'),
      folded: { workspace: known('workspace'), machine: known('machine') },
      operations: state.operations.map((operation) => restated(operation, folded)),
    }
  }

  /** Removes the folders that folding left empty, once the state does not name them. */
  async sweep(folded: LayerNumbers): Promise<void> {
    for (const overlay of OVERLAYS) for (const number of folded[overlay]) await this.#discard(overlay, number)
  }

  /** @returns false where a folder is closed to us (the agent is the same user there) or lies too deep: both stay */
  async #foldOne(overlay: Overlay, { older, newer, beneath }: Fold): Promise<boolean> {
    const { reader, forget } = this.#options
    const folder = (number: number): LayerFolder => this.#folder(overlay, number)
    try {
      await reader.fold(folder(older), folder(newer), beneath.map(folder), () => crashPoint('prune:half-folded'))
      return true
    } catch (error) {
      if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(codeOf(error))) throw error
      return false
    } finally {
      for (const number of [older, newer]) {
        reader.forget(folder(number).path)
        forget(folder(number).path)
      }
    }
  }

  async #discard(overlay: Overlay, number: number): Promise<void> {
    const { layers, reader, forget } = this.#options
    const path = layers.path(overlay, number)
    if (!existsSync(path)) return
    await layers.discard(overlay, number)
    reader.forget(path)
    forget(path)
  }

  #folder(overlay: Overlay, number: number): LayerFolder {
    const { layers, base, stored } = this.#options
    if (overlay === 'workspace' && number === 0) return { path: base, frozen: stored.facts.base === 'copy' }
    return { path: layers.path(overlay, number), frozen: true }
  }
}

/** The code of an error, or of what it explains. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return cause?.code ?? code ?? ''
}

function restated(operation: OperationResult, folded: LayerNumbers): OperationResult {
  const { id, kind, outcome } = operation
  if (kind === 'checkpoint') return { id, kind, outcome: { ...outcome, state: withoutFolded(outcome.state, folded) } }
  return {
    id,
    kind,
    outcome: { ...outcome, left: { ...outcome.left, state: withoutFolded(outcome.left.state, folded) } },
  }
}
