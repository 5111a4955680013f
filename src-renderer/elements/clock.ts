/** One clock for all that ticks. Whoever shows a time is drawn again only when its text is another. */
import { useSyncExternalStore } from 'react'
import { ago, agoSpoken, clock } from './format.ts'

const TICK_MS = 1000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const tell of listeners) tell()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export const useAgo = (at: Date): string => useSyncExternalStore(subscribe, () => ago(at, Date.now()))
export const useAgoSpoken = (at: Date): string => useSyncExternalStore(subscribe, () => agoSpoken(at, Date.now()))
/** How long since: `00:12`. */
export const useRunningFor = (since: Date): string =>
  useSyncExternalStore(subscribe, () => clock(Math.max(0, Date.now() - since.getTime())))
