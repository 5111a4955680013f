/** Work too heavy to be done twice at a time. What is called off while it waits is never begun. */
import { CancelledError } from '../contract/index.ts'

export class OneAtATime {
  #last: Promise<void> = Promise.resolve()

  /** @throws CancelledError once the signal aborts before its turn */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last
    const done = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<never>()
    this.#last = before.then(() => done.promise)
    const onAbort = () => gone.reject(new CancelledError('It was called off before its turn.'))
    signal?.addEventListener('abort', onAbort)
    try {
      if (signal?.aborted) onAbort()
      await Promise.race([before, gone.promise])
    } catch (error) {
      done.resolve()
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
    return work().finally(done.resolve)
  }
}
