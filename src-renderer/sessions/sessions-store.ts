/** The list of sessions and which of them is open in the window. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { RewindError, SessionEvent, SessionOptions, SessionSummary } from '../../src-main/contract/index.ts'
import { isLive } from '../../src-main/contract/timeline.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'

export interface Sessions {
  load: 'loading' | 'ready' | 'failed'
  problem: RewindError | null
  sessions: readonly SessionSummary[]
  /** Id of the session that the window shows. */
  open: string | null
}

export interface SessionsStore extends StoreApi<Sessions> {
  load(): Promise<void>
  apply(event: SessionEvent): void
  open(id: string): void
  /** Begin the demo and open it. Throws a RewindError. */
  demo(): Promise<void>
  /** Begin a session (or attach to the live one of that name and folder) and open it. Throws a RewindError. */
  create(options: Partial<SessionOptions> & { workspace: string }): Promise<void>
}

export function upsertSession(sessions: readonly SessionSummary[], summary: SessionSummary): SessionSummary[] {
  const others = sessions.filter((session) => session.id !== summary.id)
  return [...others, summary]
}

/** Live first, then newest first. */
export function inOrder(sessions: readonly SessionSummary[]): SessionSummary[] {
  return sessions.toSorted(
    (a, b) => Number(isLive(b)) - Number(isLive(a)) || b.createdAt.getTime() - a.createdAt.getTime(),
  )
}

/** Those whose name, folder, engine or status holds every word of the query. */
export function matching(sessions: readonly SessionSummary[], query: string): SessionSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return sessions.filter((session) => {
    const text = `${session.name} ${session.workspace} ${session.engine} ${session.status}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/**
 * What to show: what is open, else what was open last time, else the newest live one.
 * @param isShut none that took the window down is opened by itself
 */
export function toOpen(state: Sessions, remembered: string | null, isShut: IsShut = nothingIsShut): string | null {
  const has = (id: string | null) => state.sessions.some((session) => session.id === id)
  if (has(state.open)) return state.open
  if (remembered !== null && has(remembered) && !isShut(remembered)) return remembered
  return inOrder(state.sessions).find(({ id }) => !isShut(id))?.id ?? null
}

type IsShut = (session: string) => boolean
const nothingIsShut: IsShut = () => false

export function afterEvent(state: Sessions, event: SessionEvent, isShut: IsShut = nothingIsShut): Sessions {
  if (event.type !== 'sessionChanged') return state
  const { id } = event.summary
  return {
    ...state,
    sessions: upsertSession(state.sessions, event.summary),
    open: state.open ?? (isShut(id) ? null : id),
  }
}

interface Memory {
  get(): string | null
  set(id: string): void
}

export function createSessionsStore(
  rpc: Pick<Rpc, 'sessions'>,
  memory: Memory,
  isShut: IsShut = nothingIsShut,
): SessionsStore {
  const store = createStore<Sessions>(() => ({ load: 'loading', problem: null, sessions: [], open: null }))
  const open = (id: string) => {
    memory.set(id)
    store.setState({ open: id })
  }
  const openNew = (summary: SessionSummary) => {
    store.setState((now) => ({ sessions: upsertSession(now.sessions, summary) }))
    open(summary.id)
  }
  const asRewindError = (error: unknown): never => {
    throw fromRpcError(error)
  }
  return {
    ...store,
    open,
    async load() {
      try {
        const sessions = await rpc.sessions.list()
        store.setState((now) => {
          const next: Sessions = { ...now, load: 'ready', problem: null, sessions }
          return { ...next, open: toOpen(next, memory.get(), isShut) }
        })
      } catch (error) {
        store.setState({ load: 'failed', problem: fromRpcError(error) })
      }
    },
    apply: (event) => store.setState((now) => afterEvent(now, event, isShut)),
    demo: () => rpc.sessions.demo().then(openNew).catch(asRewindError),
    create: (options) =>
      rpc.sessions
        .create(options)
        .then(({ session }) => openNew(session))
        .catch(asRewindError),
  }
}
