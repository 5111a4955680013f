/**
 * Work that nobody waits for (counting files, measuring layers): done one after another, once the session has been quiet
 * for a moment, so that it never stands in the way of the next step; but not put off for ever by a busy agent.
 */
const QUIET_MS = 120
const PATIENCE_MS = 1_500

export class QuietQueue {
  /** The newest job of each name; a later one replaces it. */
  readonly #jobs = new Map<string, () => Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #waitingSince = 0
  #working = false

  /**
   * @param name a job of the same name that has not begun is replaced
   * @param job what it cannot do is left undone: nobody waits for its result
   */
  later(name: string, job: () => Promise<void>): void {
    if (this.#jobs.size === 0) this.#waitingSince = Date.now()
    this.#jobs.set(name, job)
    this.#schedule()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#working || this.#jobs.size === 0) return
    const patience = this.#waitingSince + PATIENCE_MS - Date.now()
    this.#timer = setTimeout(() => void this.#work(), Math.max(0, Math.min(QUIET_MS, patience)))
    this.#timer.unref()
  }

  async #work(): Promise<void> {
    const [next] = this.#jobs
    if (!next) return
    const [name, job] = next
    this.#jobs.delete(name)
    this.#working = true
    // A session that was ended or destroyed meanwhile has nothing to count; its record stands without.
    await job().catch(() => {})
    this.#working = false
    this.#schedule()
  }
}
