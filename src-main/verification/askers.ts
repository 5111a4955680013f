/**
 * Who can be asked for a decision. A program's handler is asked alone; else everybody who is there at once. There is a
 * window that is open or was a minute ago (a reload, a laptop that was closed for a moment), the app also without a
 * window, a terminal that shows the question, and a client for which a person switched elicitation on.
 */
import type { AskerKind, Escalation, SessionMode } from '../contract/index.ts'

/** A window that went is still there for so long, milliseconds. */
const LINGERS_MS = 60_000

interface Asker {
  kind: AskerKind
  /** The session's id that it is there for; null for all. */
  session: string | null
}

export class Askers {
  /** The app is open, with a window or in the tray. */
  app = false
  readonly #present = new Set<Asker>()
  readonly #listeners = new Set<() => void>()
  readonly #now: () => number
  #windowLeft = Number.NEGATIVE_INFINITY
  #telling = false

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** @returns to be called when it goes */
  arrive(kind: AskerKind, session: string | null): () => void {
    const asker = { kind, session }
    this.#present.add(asker)
    this.changed()
    return () => {
      if (!this.#present.delete(asker)) return
      if (kind === 'window') this.#windowLeft = this.#now()
      this.changed()
    }
  }

  /** Whether a handler of that session's program listens. */
  handled(session: string): boolean {
    return [...this.#present].some((asker) => asker.kind === 'handler' && asker.session === session)
  }

  /** Whether any program's handler listens. */
  get handlers(): number {
    return [...this.#present].filter(({ kind }) => kind === 'handler').length
  }

  /** @returns who is asked for this session now */
  whoFor(session: string, mode: SessionMode): Escalation['asked'] {
    if (this.handled(session)) return 'handler'
    return mode === 'interactive' && this.#anybodyFor(session) ? 'everybody' : 'nobody'
  }

  /** Askers or questions are others than they were: listeners are told once the transaction of now is over. */
  changed(): void {
    if (this.#telling) return
    this.#telling = true
    queueMicrotask(() => {
      this.#telling = false
      for (const listener of [...this.#listeners]) listener()
    })
  }

  /** @returns stops listening */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves at the next change, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        this.#listeners.delete(over)
        signal?.removeEventListener('abort', over)
        resolve()
      }
      this.#listeners.add(over)
      signal?.addEventListener('abort', over)
      if (signal?.aborted) over()
    })
  }

  #anybodyFor(session: string): boolean {
    if (this.app || this.#now() - this.#windowLeft < LINGERS_MS) return true
    return [...this.#present].some(
      (asker) => asker.kind !== 'handler' && (asker.session === null || asker.session === session),
    )
  }
}
