/**
 * How many lines the files in view gain and lose: asked for a few at a time once scrolling rests, and kept, so that
 * what was counted once stands there when one scrolls back, and until a newer figure comes.
 */
import type { LineTotals } from '../../src-main/contract/index.ts'
import { keyOf } from './path-key.ts'
import type { SeenChange } from './seen.ts'

const AT_ONCE = 25
/** So long one rests before anything is asked. */
const REST_MS = 60
/** Between two questions: a session that writes on and on is not asked on and on. */
const BREATH_MS = 150

export type Totals = ReadonlyMap<string, LineTotals>

export interface Totaller {
  /** @param version raised when the files may have changed */
  want(changes: readonly SeenChange[], version: number): void
  close(): void
}

/** @param told with all that is known by now */
export function createTotaller(
  ask: (changes: readonly SeenChange[], signal: AbortSignal) => Promise<(LineTotals | null)[]>,
  told: (totals: Totals) => void,
): Totaller {
  const known = new Map<string, { version: number; totals: LineTotals | null }>()
  const abort = new AbortController()
  let wanted: { changes: readonly SeenChange[]; version: number } = { changes: [], version: 0 }
  let timer: ReturnType<typeof setTimeout> | null = null
  let asking = false

  const soon = (ms: number) => {
    if (abort.signal.aborted || asking) return
    if (timer) clearTimeout(timer)
    timer = setTimeout(() => void run(), ms)
  }

  async function run(): Promise<void> {
    const { version, changes } = wanted
    const missing = changes
      .filter((change) => isCounted(change) && known.get(keyOf(change))?.version !== version)
      .slice(0, AT_ONCE)
    if (missing.length === 0) return
    asking = true
    // Where the host cannot say, the list itself tells why; who scrolls on, or comes back, asks again.
    const totals = await ask(missing, abort.signal).catch(() => null)
    asking = false
    if (abort.signal.aborted || totals === null) return
    for (const [at, change] of missing.entries()) known.set(keyOf(change), { version, totals: totals[at] ?? null })
    told(new Map([...known].flatMap(([key, { totals }]) => (totals ? [[key, totals]] : []))))
    soon(BREATH_MS)
  }

  return {
    want(changes, version) {
      wanted = { changes, version }
      soon(REST_MS)
    },
    close() {
      abort.abort()
      if (timer) clearTimeout(timer)
    },
  }
}

const isCounted = ({ kind, status }: SeenChange): boolean => kind === 'file' && status !== 'mode' && status !== 'type'
