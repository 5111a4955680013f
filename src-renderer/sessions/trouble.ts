/**
 * Sessions that took the window down. What of one cannot be drawn may crash the page, and a page that opens what was
 * open last would crash again and again: a session in view at two falls within a short time is marked, is not opened
 * by itself, and is asked about first. Where it then stands for a while the mark goes.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { Remembered } from '../host/remembered.ts'

/** Two falls within this are no accident. */
const SHORT_MS = 10 * 60_000
/** Let in, and in view for so long without a fall, it can be drawn after all. */
const STANDS_MS = 60_000

export interface Trouble {
  /** When it fell, by session; the last two. */
  falls: Readonly<Record<string, readonly number[]>>
  /** A person opened it all the same. */
  admitted: string | null
}

export interface TroubleStore extends StoreApi<Trouble> {
  /** Counts pages that went without saying goodbye against what they showed. Before anything is opened. */
  look(): Promise<void>
  /** What is in view from now on. */
  shows(session: string | null): void
  /** What is in view threw where nothing else could be shown. */
  fell(session: string): void
  admit(session: string): void
  /** Marked, and not let in by a person. */
  isShut(session: string): boolean
}

/** Whether this page, or another, still lives: it holds a lock of its name for as long. */
export interface Pages {
  hold(page: string): void
  /** Null where nobody can tell. */
  living(): Promise<ReadonlySet<string> | null>
}

export function isTroubled(falls: readonly number[] | undefined): boolean {
  const [before, last] = falls?.slice(-2) ?? []
  return before !== undefined && last !== undefined && last - before <= SHORT_MS
}

/** @param inView remembers what each page shows, until it goes in good order */
export function createTroubleStore(
  memory: { falls: Remembered; inView: Remembered },
  pages: Pages,
  page: string = crypto.randomUUID(),
): TroubleStore {
  const store = createStore<Trouble>(() => ({ falls: read<number[]>(memory.falls), admitted: null }))
  let shown: string | null = null
  let stands: ReturnType<typeof setTimeout> | undefined

  const keep = (falls: Trouble['falls']) => {
    memory.falls.set(JSON.stringify(falls))
    store.setState({ falls })
  }
  const fell = (session: string) => {
    const { falls, admitted } = store.getState()
    if (admitted === session) store.setState({ admitted: null })
    keep({ ...falls, [session]: [...(falls[session] ?? []), Date.now()].slice(-2) })
  }
  const forget = (session: string) => {
    const { [session]: _, ...falls } = store.getState().falls
    keep(falls)
  }
  const remember = (session: string | null) => {
    const { [page]: _, ...others } = read<string>(memory.inView)
    memory.inView.set(JSON.stringify(session === null ? others : { ...others, [page]: session }))
  }
  const shows = (session: string | null) => {
    if (session === shown) return
    shown = session
    remember(session)
    clearTimeout(stands)
    if (session !== null && session === store.getState().admitted) stands = setTimeout(() => forget(session), STANDS_MS)
  }

  return {
    ...store,
    async look() {
      pages.hold(page)
      const living = await pages.living().catch(() => null)
      if (living === null) return
      const inView = Object.entries(read<string>(memory.inView))
      for (const [id, session] of inView) if (id !== page && !living.has(id)) fell(session)
      memory.inView.set(JSON.stringify(Object.fromEntries(inView.filter(([id]) => id === page || living.has(id)))))
    },
    shows,
    fell(session) {
      fell(session)
      clearTimeout(stands)
    },
    admit: (session) => store.setState({ admitted: session }),
    isShut(session) {
      const { falls, admitted } = store.getState()
      return admitted !== session && isTroubled(falls[session])
    },
  }
}

/** What another version, or a person, wrote there counts as nothing. */
function read<T>(memory: Remembered): Record<string, T> {
  try {
    const value: unknown = JSON.parse(memory.get() ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, T>) : {}
  } catch {
    return {}
  }
}

const LOCK = 'rewind:page:'
/** Far longer than a browser takes to answer, also a busy one: the window waits no longer for one that does not. */
const PATIENCE_MS = 5_000

/** By the browser's locks, which go with the page however it goes. */
export const browserPages: Pages = {
  hold(page) {
    navigator.locks?.request(LOCK + page, () => new Promise(() => {})).catch(() => undefined)
  },
  async living() {
    if (!navigator.locks) return null
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), PATIENCE_MS))
    const found = await Promise.race([navigator.locks.query(), late])
    const names = [...(found?.held ?? []), ...(found?.pending ?? [])].map(({ name }) => name ?? '')
    return found && new Set(names.filter((name) => name.startsWith(LOCK)).map((name) => name.slice(LOCK.length)))
  },
}
