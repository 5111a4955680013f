/**
 * Who may be in a sandbox at the same time: what only uses its view (starting a command, reading, writing) together,
 * what swaps layers alone. Without this our own open files would keep an overlay from being unmounted. Sessions keep
 * their operations apart by the same rule. A use within a use of the same gate would wait for itself.
 */
export class Gate {
  #last: Promise<unknown> = Promise.resolve()
  #exclusives = 0
  #shared = new Set<Promise<unknown>>()

  /** Whether somebody is alone in it, or waits to be. */
  get busy(): boolean {
    return this.#exclusives > 0
  }

  /** Whether nobody is in it, or waits to be. */
  get idle(): boolean {
    return !this.busy && this.#shared.size === 0
  }

  /** Runs beside other shared uses; waits only for exclusive ones that were asked for before. */
  shared<T>(use: () => Promise<T>): Promise<T> {
    const running = this.#last.then(use)
    const done = running.then(ignore, ignore)
    this.#shared.add(done)
    void done.then(() => this.#shared.delete(done))
    return running
  }

  /** Runs alone, in the order of asking. */
  exclusive<T>(use: () => Promise<T>): Promise<T> {
    const before = Promise.all([this.#last, ...this.#shared])
    this.#exclusives++
    const running = before.then(use).finally(() => this.#exclusives--)
    this.#last = running.then(ignore, ignore)
    return running
  }
}

const ignore = (): void => {}
