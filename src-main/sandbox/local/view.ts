/** Making the view of a sandbox what its state says, whatever an interrupted operation left under the mounts. */
import { EngineUnavailableError } from '../../contract/index.ts'
import { call } from '../channel/index.ts'
import type { Layers } from './layers.ts'
import type { Namespace } from './namespace.ts'
import { overlayWords, standsAt } from './overlay.ts'
import { placePath, ROOT, type RootPlan } from './root-plan.ts'
import type { OverlayState, SandboxState, StoredSpec } from './state.ts'

export interface ViewParts {
  namespace: Namespace
  layers: Layers
  plan: RootPlan
  stored: StoredSpec
}

/** Unmounts what is wrong and mounts what is right; calls nothing where all stands already. */
export async function repairView(
  { workspace, machine }: Pick<SandboxState, 'workspace' | 'machine'>,
  { namespace, layers, plan, stored }: ViewParts,
): Promise<void> {
  const at = ROOT + stored.facts.workspace
  const places = plan.places.map(({ inside }) => ROOT + inside)
  const mounts = namespace.mounts()
  const isOverlay = (point: string): boolean =>
    mounts.some((mount) => mount.point === point && mount.fileSystem === 'overlay')
  const words = ({ upper, lowers }: OverlayState): string =>
    overlayWords({ upper, lowers, work: layers.work() }, stored.mode)
  const machineStands = standsAt(mounts, '/run/v', machine)
  const nested = placePath(plan, stored.facts.workspace) !== null
  const workspaceMoves = !standsAt(mounts, at, workspace) || (nested && !machineStands)
  const lines: string[] = []
  if (workspaceMoves && isOverlay(at)) lines.push('workspace_down')
  if (!machineStands) {
    // One may lie within another.
    const mounted = [...places.toReversed(), '/run/v'].filter(isOverlay)
    lines.push(...mounted.map((point) => call('umount', point)), `machine_up ${words(machine)}`)
  } else if (!places.every(isOverlay)) lines.push('machine_bind')
  if (workspaceMoves) lines.push(`workspace_up ${words(workspace)}`)
  if (lines.length === 0) return
  await namespace.must(lines.join(' &&\n'), 'Mounting the layers of the sandbox')
  const now = namespace.mounts()
  if (standsAt(now, at, workspace) && standsAt(now, '/run/v', machine)) return
  throw new EngineUnavailableError('The kernel mounted other layers than it was asked to.', {
    nextStep: 'Free space on the disk that holds the sandboxes, then attach again.',
  })
}
