/**
 * The host's events, for as long as the window lives: subscribes first and loads then, so that nothing falls between;
 * after a lost line it goes on behind the last event seen. A `resync` means that those are gone: load again. So does a
 * failure of the host's own, such as an event that it cannot read any more: behind it nothing can be resumed.
 */
import type { RewindError, SessionEvent } from '../../src-main/contract/index.ts'
import { fromRpcError, isFromHost } from '../../src-main/contract/wire.ts'
import type { Rpc } from './link.ts'

export interface EventSink {
  /** Load everything; called once subscribed, and again at each resync. */
  reload(): void
  apply(event: SessionEvent): void
  /** The stream stands (true) or broke (false). */
  streaming(on: boolean): void
  /** The host could not go on with the stream; everything is loaded again. */
  failed(problem: RewindError): void
}

const RETRY_MS = 400
/** A host that fails again and again is asked ever less often, down to this. */
const LONGEST_RETRY_MS = 30_000

/** Runs until `signal` aborts. */
export async function followEvents(rpc: Pick<Rpc, 'events'>, sink: EventSink, signal: AbortSignal): Promise<void> {
  let since: number | null = null
  let loaded = false
  let failures = 0
  while (!signal.aborted) {
    try {
      const events: AsyncIterable<SessionEvent> = await rpc.events({ since }, { signal })
      sink.streaming(true)
      // Without an event seen there is nothing to resume behind: what happened meanwhile is only in a fresh load.
      if (!loaded || since === null) sink.reload()
      loaded = true
      for await (const event of events) {
        failures = 0
        since = event.id
        if (event.type === 'resync') sink.reload()
        else sink.apply(event)
      }
      if (!signal.aborted) sink.streaming(false)
    } catch (error) {
      if (signal.aborted) return
      if (isFromHost(error)) {
        since = null
        failures++
        sink.failed(fromRpcError(error))
      }
      // Else the line broke or the host went away; the connection state says so, and the loop comes back.
      else sink.streaming(false)
    }
    if (signal.aborted) return
    const pauseMs = Math.min(RETRY_MS * 2 ** Math.max(0, failures - 1), LONGEST_RETRY_MS)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
