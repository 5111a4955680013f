/**
 * Everything that the window holds about the session that is open: its timeline, commands and ledger, kept current
 * by events alone. What has to be asked for anew (changes, messages) is only marked by a counter here.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type {
  CommandRecord,
  CommitRecord,
  FileCounts,
  LedgerEntry,
  Point,
  RewindError,
  SessionDetails,
  SessionEvent,
  Timeline,
  ToolCall,
  Verdict,
} from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import type { Rpc } from '../host/link.ts'

export interface OpenSession {
  id: string | null
  load: 'loading' | 'ready' | 'failed'
  problem: RewindError | null
  details: SessionDetails | null
  timeline: Timeline | null
  /** Oldest first. */
  commands: readonly CommandRecord[]
  /** Oldest first. */
  ledger: readonly LedgerEntry[]
  /** What agents did by tools, oldest first. */
  toolCalls: readonly ToolCall[]
  /** The demo's story, as far as it was told while the window watched. */
  story: { step: number; of: number; text: string } | null
  /** The verifier's attempt that runs. */
  attempt: { attempt: number; of: number; verdict: Verdict | null } | null
  /** Raised when what stands at `now` is different. */
  files: number
  /** Raised when the history at `now` is different. */
  messages: number
  /** To the host, oldest first; those that were undone too. */
  commits: readonly CommitRecord[]
}

export const nothingOpen: OpenSession = {
  id: null,
  load: 'loading',
  problem: null,
  details: null,
  timeline: null,
  commands: [],
  ledger: [],
  toolCalls: [],
  story: null,
  attempt: null,
  files: 0,
  messages: 0,
  commits: [],
}

/** By id, in the order in which they came; what is there already is replaced in its place. */
export function upsert<T extends { id: string | number }>(items: readonly T[], item: T): T[] {
  const at = items.findLastIndex(({ id }) => id === item.id)
  return at < 0 ? [...items, item] : items.with(at, item)
}

/** The state after an event of this session; applying one twice changes nothing more than the counters. */
export function afterSessionEvent(state: OpenSession, event: SessionEvent): OpenSession {
  const { timeline, details } = state
  switch (event.type) {
    case 'sessionChanged':
      return { ...state, details: details && { ...details, ...event.summary } }
    case 'pointAdded':
    case 'pointChanged':
      return { ...state, timeline: timeline && withPoint(timeline, event.point) }
    case 'pointRemoved':
      return { ...state, timeline: timeline && withoutPoint(timeline, event.point, event.parent) }
    case 'headMoved':
      return {
        ...state,
        files: state.files + 1,
        timeline: timeline && { ...timeline, head: event.head },
        details: details && { ...details, head: event.head },
      }
    case 'rewound': {
      const { head, epoch, undo } = event
      return {
        ...state,
        files: state.files + 1,
        messages: state.messages + 1,
        timeline: timeline && { ...timeline, head, epoch, undo },
        details: details && { ...details, head, epoch },
      }
    }
    case 'filesChanged':
      return { ...state, files: state.files + 1 }
    case 'messagesChanged':
      return { ...state, messages: state.messages + 1, details: details && { ...details, messages: event.count } }
    case 'commandStarted':
    case 'commandEnded':
      return { ...state, commands: upsert(state.commands, event.command) }
    case 'committed':
      return { ...state, commits: upsert(state.commits, event.commit) }
    case 'ledgerAdded':
      return { ...state, ledger: upsert(state.ledger, event.entry) }
    case 'toolCallStarted':
    case 'toolCallEnded':
      return { ...state, toolCalls: upsert(state.toolCalls, event.call) }
    case 'verifierAttempt':
      return { ...state, attempt: event.verdict ? null : { attempt: event.attempt, of: event.of, verdict: null } }
    case 'demoStep':
      return { ...state, story: { step: event.step, of: event.of, text: event.text } }
    default:
      return state
  }
}

function withPoint(timeline: Timeline, point: Point): Timeline {
  const points = upsert(timeline.points, point)
  return { ...timeline, points }
}

/** What hung below it hangs below its parent. */
function withoutPoint(timeline: Timeline, id: string, parent: string | null): Timeline {
  const points = timeline.points
    .filter((point) => point.id !== id)
    .map((point) => (point.parent === id ? { ...point, parent, files: null } : point))
  return { ...timeline, points }
}

const sameCounts = (a: FileCounts | null, b: FileCounts | null): boolean =>
  a?.added === b?.added && a?.modified === b?.modified && a?.deleted === b?.deleted

export interface SessionStore extends StoreApi<OpenSession> {
  /** Show this session: load it whole. */
  show(id: string | null): Promise<void>
  reload(): Promise<void>
  apply(event: SessionEvent): void
}

/** How long a burst of writes may go on before the counts at `now` are asked for again. */
const COUNT_AGAIN_MS = 150
/** While a command runs it may write at any time, and no event tells: looked at so often at first and at the least. */
const WATCH_FIRST_MS = 1000
const WATCH_LEAST_MS = 10_000

export function createSessionStore(rpc: Rpc): SessionStore {
  const store = createStore<OpenSession>(() => nothingOpen)
  /** Events that come while a load is on its way: its answer may be older or newer than they are. */
  let waiting: SessionEvent[] | null = null
  let recount: { at: number; timer: ReturnType<typeof setTimeout> } | undefined

  async function load(session: string): Promise<void> {
    const held: SessionEvent[] = []
    waiting = held
    try {
      const [details, timeline, commands, ledger, toolCalls, commits] = await Promise.all([
        rpc.sessions.get({ session }),
        rpc.timeline.get({ session }),
        rpc.commands.list({ session }),
        rpc.ledger.list({ session }),
        rpc.tools.list({ session }),
        rpc.commit.list({ session }),
      ])
      if (store.getState().id !== session || waiting !== held) return
      const loaded: OpenSession = {
        ...store.getState(),
        load: 'ready',
        problem: null,
        details,
        timeline,
        commands: commands.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime()),
        ledger,
        toolCalls,
        commits,
      }
      store.setState(held.reduce(afterSessionEvent, loaded))
      if (details.running.length > 0) countAgain(session, WATCH_FIRST_MS)
    } catch (error) {
      if (store.getState().id === session && waiting === held)
        store.setState({ load: 'failed', problem: fromRpcError(error) })
    } finally {
      if (waiting === held) waiting = null
    }
  }

  /** Counts and processes at `now` have no event of their own: one small question after a burst of events. */
  function countAgain(session: string, delayMs = COUNT_AGAIN_MS, watchMs = WATCH_FIRST_MS): void {
    const at = Date.now() + delayMs
    if (recount && recount.at <= at) return
    clearTimeout(recount?.timer)
    const timer = setTimeout(async () => {
      recount = undefined
      const details = await rpc.sessions.get({ session }).catch(() => null)
      const before = store.getState()
      if (!details || before.id !== session) return
      const same = sameCounts(before.details?.uncommitted ?? null, details.uncommitted)
      const running = details.running.length > 0
      store.setState({ details, files: same && !running ? before.files : before.files + 1 })
      const next = same ? Math.min(watchMs * 2, WATCH_LEAST_MS) : WATCH_FIRST_MS
      if (running) countAgain(session, next, next)
    }, delayMs)
    recount = { at, timer }
  }

  return {
    ...store,
    async show(id) {
      if (store.getState().id === id) return
      store.setState({ ...nothingOpen, id })
      if (id) await load(id)
    },
    async reload() {
      const { id } = store.getState()
      if (!id) return
      await load(id)
      store.setState((now) => ({ files: now.files + 1, messages: now.messages + 1 }))
    },
    apply(event) {
      const { id } = store.getState()
      if (event.session !== id) return
      if (waiting && event.type !== 'demoStep') waiting.push(event)
      else store.setState((now) => afterSessionEvent(now, event))
      if (event.type === 'filesChanged' || event.type === 'headMoved' || event.type === 'rewound') countAgain(id)
      if (event.type === 'commandStarted' || event.type === 'commandEnded') countAgain(id)
    },
  }
}
