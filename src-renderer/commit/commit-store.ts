/** The commit sheet: what becomes of a commit that was asked for, and of its undo. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { CommitResult, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'
import type { SessionStore } from '../timeline/session-store.ts'
import type { Request } from './choice.ts'

export interface Commit {
  /** Whether the sheet is open. */
  open: boolean
  busy: boolean
  problem: RewindError | null
  /** What came of the last commit or undo while the sheet is open. */
  result: CommitResult | null
  /** Raised when the host may have other files than the preview says. */
  looks: number
}

export interface CommitStore extends StoreApi<Commit> {
  ask(): void
  close(): void
  commit(request: Request): Promise<void>
  /** Take back this commit, and no other one. */
  undo(id: string): Promise<void>
}

const closed = { open: false, busy: false, problem: null, result: null } as const

export function createCommitStore(rpc: Pick<Rpc, 'commit'>, session: SessionStore): CommitStore {
  const store = createStore<Commit>(() => ({ ...closed, looks: 0 }))

  async function settle(work: (session: string) => Promise<CommitResult>): Promise<void> {
    const { id } = session.getState()
    if (!id || store.getState().busy) return
    store.setState({ busy: true, problem: null })
    try {
      store.setState({ result: await work(id) })
    } catch (error) {
      store.setState({ problem: fromRpcError(error) })
    } finally {
      store.setState(({ looks }) => ({ busy: false, looks: looks + 1 }))
    }
  }

  return {
    ...store,
    ask: () => store.setState(({ looks }) => ({ ...closed, open: true, looks: looks + 1 })),
    close: () => store.setState(({ busy }) => (busy ? {} : closed)),
    commit(request) {
      const epoch = session.getState().timeline?.epoch
      return settle((id) => rpc.commit.apply({ session: id, ...request, ...(epoch === undefined ? {} : { epoch }) }))
    },
    undo: (commit) => settle((id) => rpc.commit.undo({ session: id, id: commit })),
  }
}
