/**
 * Answers that take longer than a client waits: the work goes on, the client is told an id and asks again. Kept until
 * the answer was fetched, the newest ones only.
 */
import { randomUUID } from 'node:crypto'

/** Answers that are kept for clients that never come back for them. */
const KEPT = 64

export class Pending {
  readonly #works = new Map<string, Promise<unknown>>()

  /**
   * @param kind the beginning of its id
   * @returns the id under which {@link get} finds it
   */
  add(work: Promise<unknown>, kind: 'wait' | 'begin' = 'wait'): string {
    const id = `${kind}-${randomUUID()}`
    // Whoever fetches it meets its failure; nobody may.
    work.catch(() => {})
    this.#works.set(id, work)
    const [oldest] = this.#works.keys()
    if (this.#works.size > KEPT && oldest !== undefined) this.#works.delete(oldest)
    return id
  }

  get(id: string): Promise<unknown> | undefined {
    return this.#works.get(id)
  }

  delete(id: string): void {
    this.#works.delete(id)
  }
}

/** @returns the work's outcome where it comes in time; `late` where not, or once the signal aborts */
export async function within<T>(ms: number, work: Promise<T>, signal: AbortSignal): Promise<T | typeof late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  const over = () => resolve(late)
  const timer = setTimeout(over, ms)
  signal.addEventListener('abort', over)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', over)
  }
}

export const late: unique symbol = Symbol('late')
