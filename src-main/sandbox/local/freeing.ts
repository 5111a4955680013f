/** Freeing the layers that no kept state needs: at once what nothing has mounted, the rest while the mounts are away for a moment. */
import { crashPoint } from '../../store/index.ts'
import type { FilesState, PruneOutcome } from '../sandbox.ts'
import type { Commands } from './commands.ts'
import type { Folding } from './folding.ts'
import type { Overlay } from './layers.ts'
import { OVERLAYS, type Standing } from './standing.ts'

export interface FreeingOptions {
  standing: Standing
  folding: Folding
  commands: Commands
  /** Puts the view back that the state has. */
  reopen: () => Promise<void>
}

export class Freeing {
  readonly #options: FreeingOptions

  constructor(options: FreeingOptions) {
    this.#options = options
  }

  /** As the interface has it; runs alone. */
  async prune(kept: readonly FilesState[]): Promise<PruneOutcome> {
    const { standing, folding, commands, reopen } = this.#options
    const plans = folding.plan(kept, standing.state)
    await folding.remove(plans)
    const wanting = OVERLAYS.filter((overlay) => plans[overlay].folds.length > 0)
    // Points under live processes stand on layers that are not mounted yet.
    const isMounted = (overlay: Overlay): boolean =>
      !standing.state.ended && plans[overlay].folds.some(({ newer }) => standing.state[overlay].lowers.includes(newer))
    const fold = async (overlays: readonly Overlay[]): Promise<void> => {
      const folded = await folding.fold(plans, overlays)
      standing.commit(folding.without(folded, kept, standing.state))
      crashPoint('prune:committed')
      await folding.sweep(folded)
    }
    await fold(wanting.filter((overlay) => !isMounted(overlay)))
    const mounted = wanting.filter(isMounted)
    if (mounted.length === 0) return { folded: standing.state.folded, waits: false }
    if (commands.agentProcesses().length > 0 || !(await standing.down(mounted))) {
      return { folded: standing.state.folded, waits: true }
    }
    crashPoint('prune:unmounted')
    try {
      await fold(mounted)
    } finally {
      // What the state says by now, whatever became of the fold.
      await reopen()
    }
    return { folded: standing.state.folded, waits: false }
  }
}
