/**
 * The host's events, for as long as the window lives: subscribes first and loads then, so that nothing falls between;
 * after a lost line it goes on behind the last event seen. A `resync` means that those are gone: load again.
 */
import type { SessionEvent } from '../../src-main/contract/index.ts'
import type { Rpc } from './link.ts'

export interface EventSink {
  /** Load everything; called once subscribed, and again at each resync. */
  reload(): void
  apply(event: SessionEvent): void
  /** The stream stands (true) or broke (false). */
  streaming(on: boolean): void
}

const RETRY_MS = 400

/** Runs until `signal` aborts. */
export async function followEvents(rpc: Pick<Rpc, 'events'>, sink: EventSink, signal: AbortSignal): Promise<void> {
  let since: number | null = null
  let loaded = false
  while (!signal.aborted) {
    try {
      const events: AsyncIterable<SessionEvent> = await rpc.events({ since }, { signal })
      sink.streaming(true)
      // Without an event seen there is nothing to resume behind: what happened meanwhile is only in a fresh load.
      if (!loaded || since === null) sink.reload()
      loaded = true
      for await (const event of events) {
        since = event.id
        if (event.type === 'resync') sink.reload()
        else sink.apply(event)
      }
    } catch {
      // The line broke or the host went away; the connection state says so, and the loop comes back.
    }
    if (signal.aborted) return
    sink.streaming(false)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
