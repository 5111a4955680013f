/** Folders that agents ask for: followed for as long as the window lives, so that the host knows whom it can ask. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { FolderRequest, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'

export interface FolderRequests {
  waiting: readonly FolderRequest[]
  /** The one that is being answered. */
  answering: string | null
  problem: RewindError | null
}

export interface FolderRequestsStore extends StoreApi<FolderRequests> {
  /** Runs until `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>
  answer(id: string, allow: boolean): Promise<void>
}

const RETRY_MS = 1_000

export function createFolderRequestsStore(rpc: Pick<Rpc, 'host'>, retryMs = RETRY_MS): FolderRequestsStore {
  const store = createStore<FolderRequests>(() => ({ waiting: [], answering: null, problem: null }))
  return {
    ...store,
    async follow(signal) {
      while (!signal.aborted) {
        try {
          const lists: AsyncIterable<FolderRequest[]> = await rpc.host.folderRequests(undefined, { signal })
          for await (const waiting of lists) store.setState({ waiting })
        } catch {
          // The line broke, and the window says so elsewhere: asked again below.
        }
        // Where nobody listens any more, nothing can be answered.
        store.setState({ waiting: [] })
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    },
    /** Once, however fast the clicks are. */
    async answer(id, allow) {
      if (store.getState().answering !== null) return
      store.setState({ answering: id, problem: null })
      try {
        await rpc.host.answerFolder({ id, allow })
        store.setState(({ waiting }) => ({ waiting: waiting.filter((request) => request.id !== id) }))
      } catch (error) {
        store.setState({ problem: fromRpcError(error) })
      } finally {
        store.setState({ answering: null })
      }
    },
  }
}
