/** The rewind sheet, the undo, and the toast that follows either. Only these change a session. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { Point, RewindError, RollbackResult } from '../../src-main/contract/index.ts'
import { nameOf } from '../../src-main/contract/timeline.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'
import type { SelectionStore } from '../timeline/selection-store.ts'
import type { SessionStore } from '../timeline/session-store.ts'

export type Half = 'both' | 'files' | 'messages'

export interface Toast {
  /** Told apart from the one before, so that its time begins anew. */
  key: number
  kind: 'rewound' | 'undone' | 'nothing' | 'checkpoint' | 'problem'
  text: string
  nextStep: string | null
  /** Offer Undo. */
  undo: boolean
}

export interface Rewind {
  /** The point that the sheet is open for. */
  sheet: Point | null
  busy: boolean
  problem: RewindError | null
  toast: Toast | null
}

export interface RewindStore extends StoreApi<Rewind> {
  ask(to: Point): void
  cancel(): void
  rewind(half: Half): Promise<void>
  /** Undo the last rewind. Never asks. */
  undo(): Promise<void>
  /** Take a checkpoint. Throws a RewindError. */
  checkpoint(label: string | null): Promise<void>
  /** Say something in the toast. */
  say(toast: Omit<Toast, 'key'>): void
  dismiss(): void
}

export function toastFor(result: RollbackResult, kind: 'rewound' | 'undone'): Omit<Toast, 'key'> {
  const name = nameOf(result.point)
  const ms = `${Math.max(1, Math.round(result.ms))} ms`
  if (result.status === 'skipped_noop')
    return { kind: 'nothing', text: `Nothing to take back: this is ${name} already`, nextStep: null, undo: false }
  return kind === 'rewound'
    ? { kind, text: `Rewound to ${name} in ${ms}`, nextStep: null, undo: true }
    : { kind, text: `Rewind undone in ${ms}`, nextStep: null, undo: false }
}

export function createRewindStore(
  rpc: Pick<Rpc, 'timeline'>,
  session: SessionStore,
  selection: Pick<SelectionStore, 'toNow'>,
): RewindStore {
  const store = createStore<Rewind>(() => ({ sheet: null, busy: false, problem: null, toast: null }))
  let key = 0
  const toast = (toast: Omit<Toast, 'key'>) => store.setState({ toast: { ...toast, key: ++key } })
  const problemToast = (error: RewindError) =>
    toast({ kind: 'problem', text: error.message, nextStep: error.nextStep, undo: false })

  return {
    ...store,
    ask: (sheet) => store.setState({ sheet, problem: null }),
    cancel: () => store.setState({ sheet: null, problem: null }),
    say: toast,
    dismiss: () => store.setState({ toast: null }),
    async rewind(half) {
      const { sheet, busy } = store.getState()
      const { id } = session.getState()
      if (!sheet || !id || busy) return
      store.setState({ busy: true, problem: null })
      try {
        const only = half === 'both' ? null : half
        const result = await rpc.timeline.rollback({ session: id, to: sheet.id, only })
        store.setState({ sheet: null })
        selection.toNow()
        toast(toastFor(result, 'rewound'))
      } catch (error) {
        store.setState({ problem: fromRpcError(error) })
      } finally {
        store.setState({ busy: false })
      }
    },
    async undo() {
      const { id, timeline } = session.getState()
      if (!id || !timeline?.undo || store.getState().busy) return
      store.setState({ busy: true })
      try {
        toast(toastFor(await rpc.timeline.undo({ session: id }), 'undone'))
      } catch (error) {
        problemToast(fromRpcError(error))
      } finally {
        store.setState({ busy: false })
      }
    },
    async checkpoint(label) {
      const { id } = session.getState()
      if (!id) return
      try {
        const point = await rpc.timeline.checkpoint({ session: id, label })
        toast({
          kind: 'checkpoint',
          text: `${nameOf(point)} taken in ${Math.max(1, Math.round(point.ms))} ms`,
          nextStep: null,
          undo: false,
        })
      } catch (error) {
        throw fromRpcError(error)
      }
    },
  }
}
