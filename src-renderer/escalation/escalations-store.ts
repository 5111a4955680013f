/**
 * Verdicts that wait for a person: followed for as long as the window lives, so that the host knows whom it can ask. The
 * oldest is put in front, and stays there until somebody decides, here or elsewhere, or the person lays it aside to look.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { Escalation, Resolution, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'

export interface Escalations {
  waiting: readonly Escalation[]
  /** Those that the person looks into before deciding. */
  aside: readonly string[]
  /** What is being sent as the answer. */
  answering: Resolution | null
  problem: RewindError | null
}

export interface EscalationsStore extends StoreApi<Escalations> {
  /** Runs until `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>
  answer(id: string, resolution: Resolution): Promise<void>
  layAside(id: string): void
  takeUp(id: string): void
}

const RETRY_MS = 1_000
/** What is pressed so soon was meant for what was there before, milliseconds. */
const DEAF_MS = 500

const KEYS: Record<string, Resolution> = { c: 'continue', r: 'rollback', s: 'stop' }

/**
 * What a key does in the sheet.
 * @param openMs for how long the sheet has been there
 * @returns the answer that it chooses; `nothing` where it is not to have any effect; null where it is not the sheet's
 */
export function keyMeans(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'repeat'>,
  openMs: number,
): Resolution | 'nothing' | null {
  if (openMs < DEAF_MS) return 'nothing'
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // One that is held down since before.
  if (event.repeat && event.key === 'Enter') return 'nothing'
  return KEYS[event.key.toLowerCase()] ?? null
}

/** The one that is in front. */
export const inFront = ({ waiting, aside }: Escalations): Escalation | undefined =>
  waiting.find(({ id }) => !aside.includes(id))

export function createEscalationsStore(rpc: Pick<Rpc, 'escalations'>, retryMs = RETRY_MS): EscalationsStore {
  const store = createStore<Escalations>(() => ({ waiting: [], aside: [], answering: null, problem: null }))
  return {
    ...store,
    async follow(signal) {
      while (!signal.aborted) {
        try {
          const lists: AsyncIterable<Escalation[]> = await rpc.escalations.watch({ as: 'window' }, { signal })
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
    async answer(id, resolution) {
      if (store.getState().answering !== null) return
      store.setState({ answering: resolution, problem: null })
      try {
        await rpc.escalations.answer({ id, resolution, via: 'window' })
        store.setState(({ waiting }) => ({ waiting: waiting.filter((one) => one.id !== id) }))
      } catch (error) {
        store.setState({ problem: fromRpcError(error) })
      } finally {
        store.setState({ answering: null })
      }
    },
    layAside: (id) => store.setState(({ aside }) => ({ aside: [...aside, id], problem: null })),
    takeUp: (id) => store.setState(({ aside }) => ({ aside: aside.filter((one) => one !== id) })),
  }
}
