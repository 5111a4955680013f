/** Whether the host can be reached, and what it says about itself. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { HostInfo } from '../../src-main/contract/index.ts'
import type { Refusal, Rpc } from './link.ts'
import type { SocketState } from './socket.ts'

export interface Connection {
  state: SocketState
  refusal: Refusal | null
  info: HostInfo | null
  /** Raised each time the line comes back: what was asked for while it was away is asked for again. */
  line: number
}

export interface ConnectionStore extends StoreApi<Connection> {
  lineState(state: SocketState, refusal: Refusal | null): void
  streaming(on: boolean): void
  loadInfo(): Promise<void>
}

export function createConnectionStore(rpc: Pick<Rpc, 'host'>): ConnectionStore {
  const store = createStore<Connection>(() => ({ state: 'connecting', refusal: null, info: null, line: 0 }))
  return {
    ...store,
    lineState: (state, refusal) => store.setState({ state, refusal }),
    streaming: (on) =>
      store.setState((now) => {
        if (on) return { state: 'open', refusal: null, line: now.line + 1 }
        return now.state === 'refused' ? now : { state: 'lost' }
      }),
    async loadInfo() {
      const info = await rpc.host.info().catch(() => null)
      store.setState({ info })
    },
  }
}
