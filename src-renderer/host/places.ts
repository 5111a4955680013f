/** Goes where somebody outside of the window wants it to: `rewind open --at POINT` in a terminal. */
import type { Place } from '../../src-main/contract/index.ts'
import type { Rpc } from './link.ts'
import type { Remembered } from './remembered.ts'

const RETRY_MS = 1_000

/**
 * Runs until `signal` aborts; a line that breaks is asked again.
 * @param last when what this page went to last was wanted: it goes nowhere twice
 */
export async function followPlaces(
  rpc: Pick<Rpc, 'host'>,
  last: Remembered,
  go: (place: Place) => void,
  signal: AbortSignal,
  retryMs = RETRY_MS,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const after = Number(last.get()) || null
      for await (const place of await rpc.host.places({ after }, { signal })) {
        last.set(String(place.wanted))
        go(place)
      }
    } catch {
      // The window says so elsewhere.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}
