/**
 * state.json as it was before layers had trees: every state in it was the whole list of its layers, top first, and what
 * stood beside them was known to the store alone, which has left it here as the file `layers-0`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FilesState } from '../sandbox.ts'
import type { Overlay } from './layers.ts'
import type { LayerNumbers, OperationResult, OverlayState, SandboxState } from './state.ts'
import type { Change, FiledChanges } from './tree-file.ts'

type Lists = Record<Overlay, number[]>

interface OlderOverlay {
  upper: number
  lowers: number[]
  head: number[]
  copiedAt: string | null
}

interface OlderCheckpoint {
  state: Lists
  changed: boolean
  bytes: number | null
}

type OlderOperation =
  | { id: string; kind: 'checkpoint'; outcome: OlderCheckpoint }
  | { id: string; kind: 'rollback'; outcome: { left: OlderCheckpoint; stopped: [] } }

export interface OlderState
  extends Omit<SandboxState, 'version' | 'workspace' | 'machine' | 'aside' | 'operations' | 'frozen'> {
  workspace: OlderOverlay
  machine: OlderOverlay
  operations: OlderOperation[]
  /** Layers that went into the one beneath them, while somebody might still name them. */
  folded?: LayerNumbers
  aside?: LayerNumbers
}

const OVERLAYS = ['workspace', 'machine'] as const

/** The same state as it is written today. @param folder the sandbox's */
export function upgrade(older: OlderState, folder: string): SandboxState & { layers: FiledChanges } {
  const { workspace, machine, operations, folded, aside, ...rest } = older
  const none: LayerNumbers = { workspace: [], machine: [] }
  const path = join(folder, 'layers-0')
  const handed = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : null
  const known = (handed ?? []).map((line) => JSON.parse(line) as Change)
  const highest = Math.max(...workspace.head, ...machine.head)
  return {
    ...rest,
    version: 2,
    workspace: overlayOf(workspace),
    machine: overlayOf(machine),
    operations: operations.map(operationOf),
    aside: aside ?? none,
    frozen: 1,
    syncedThrough: highest > older.syncedThrough ? 0 : 1,
    layers: {
      file: handed === null ? null : 0,
      recent: OVERLAYS.flatMap((overlay) => {
        const chains = [older[overlay].lowers, older[overlay].head, ...operations.map((one) => listOf(one)[overlay])]
        return [...foldedOf(overlay, known, folded?.[overlay] ?? []), ...chains.flatMap((one) => chainOf(overlay, one))]
      }),
    },
  }
}

const overlayOf = ({ upper, lowers, head, copiedAt }: OlderOverlay): OverlayState => ({
  upper,
  on: lowers[0] ?? 0,
  lowers,
  head: head[0] ?? 0,
  copiedAt,
})

const stateOf = ({ workspace, machine }: Lists): FilesState => ({
  workspace: workspace[0] ?? 0,
  machine: machine[0] ?? 0,
})

const listOf = (operation: OlderOperation): Lists =>
  operation.kind === 'checkpoint' ? operation.outcome.state : operation.outcome.left.state

function operationOf({ id, kind, outcome }: OlderOperation): OperationResult {
  if (kind === 'checkpoint') return { id, kind, outcome: { ...outcome, state: stateOf(outcome.state) } }
  return { id, kind, outcome: { ...outcome, left: { ...outcome.left, state: stateOf(outcome.left.state) } } }
}

const chainOf = (overlay: Overlay, chain: readonly number[]): Change[] =>
  chain.slice(0, -1).map((layer, at) => [overlay, 'on', layer, chain[at + 1] ?? 0])

/** What the store still had as layers of their own. */
function foldedOf(overlay: Overlay, known: readonly Change[], folded: readonly number[]): Change[] {
  const beneath = new Map(
    known.flatMap(([of, kind, layer, on]) => (of === overlay && kind === 'on' ? [[layer, on]] : [])),
  )
  const goneInto = (layer: number): number => (folded.includes(layer) ? goneInto(beneath.get(layer) ?? 0) : layer)
  const changes: Change[] = []
  for (const [layer, on] of beneath) {
    if (folded.includes(layer)) changes.push([overlay, 'became', layer, goneInto(layer)])
    else if (folded.includes(on)) changes.push([overlay, 'on', layer, goneInto(on)])
  }
  return changes
}
