/** Goes where somebody outside of the window wants it to: `rewind open --at POINT` in a terminal. */
import type { Place } from '../../src-main/contract/index.ts'
import type { Rpc } from './link.ts'

const RETRY_MS = 1_000

/** Runs until `signal` aborts; a line that breaks is asked again. */
export async function followPlaces(
  rpc: Pick<Rpc, 'host'>,
  go: (place: Place) => void,
  signal: AbortSignal,
  retryMs = RETRY_MS,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const places: AsyncIterable<Place> = await rpc.host.places(undefined, { signal })
      for await (const place of places) go(place)
    } catch {
      // The window says so elsewhere.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}
