/**
 * The one place where events are raised. They are written with the change that they tell of (in its transaction) and
 * handed to listeners after it committed, so nobody hears of something that was undone.
 */
import type { NewSessionEvent, SessionEvent } from '../contract/index.ts'
import type { Store } from '../store/index.ts'

const BATCH = 500

export class EventHub {
  readonly #store: Store
  #waiting = new Set<() => void>()
  #wakeScheduled = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Writes the event; to be called inside the transaction of the change where there is one. */
  raise(event: NewSessionEvent): void {
    this.#store.events.append(event)
    if (this.#wakeScheduled) return
    this.#wakeScheduled = true
    // Transactions are synchronous: by the next microtask this one has committed or thrown.
    queueMicrotask(() => {
      this.#wakeScheduled = false
      for (const wake of [...this.#waiting]) wake()
    })
  }

  /**
   * Everything after `since` (null: from now on), then what happens, until `signal` aborts; without `follow` no more than
   * what has happened.
   * Where events after `since` are no longer held, a `resync` event comes first and the stream goes on from now.
   */
  async *stream(since: number | null, signal?: AbortSignal, follow = true): AsyncGenerator<SessionEvent> {
    const { events } = this.#store
    let cursor = since ?? events.last()
    if (since !== null && (since > events.last() || since + 1 < events.oldest())) {
      cursor = events.last()
      yield { id: cursor, at: new Date(), session: '', type: 'resync' }
    }
    while (!signal?.aborted) {
      const batch = events.since(cursor, BATCH)
      if (batch.length === 0 && !follow) return
      if (batch.length === 0) await this.#next(signal)
      for (const event of batch) {
        if (signal?.aborted) return
        yield event
        cursor = event.id
      }
    }
  }

  #next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }
}
