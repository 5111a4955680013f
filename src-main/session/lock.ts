/**
 * Who may touch a session's files at the same time: writes and command starts side by side, a swap of layers alone.
 * Waiting swaps go before new sharers, so a busy agent cannot keep a person's rewind waiting.
 */
export class SwapLock {
  #sharers = 0
  #swapping = false
  #waitingSwaps: (() => void)[] = []
  #waitingSharers: (() => void)[] = []

  /** Runs `work` beside other sharers, never during a swap. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    while (this.#swapping || this.#waitingSwaps.length > 0)
      await new Promise<void>((go) => this.#waitingSharers.push(go))
    this.#sharers++
    try {
      return await work()
    } finally {
      this.#sharers--
      this.#wake()
    }
  }

  /** Runs `work` alone. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    while (this.#swapping || this.#sharers > 0) await new Promise<void>((go) => this.#waitingSwaps.push(go))
    this.#swapping = true
    try {
      return await work()
    } finally {
      this.#swapping = false
      this.#wake()
    }
  }

  get busy(): boolean {
    return this.#swapping || this.#waitingSwaps.length > 0
  }

  #wake(): void {
    if (this.#swapping || this.#sharers > 0) return
    const swap = this.#waitingSwaps.shift()
    if (swap) swap()
    else for (const go of this.#waitingSharers.splice(0)) go()
  }
}
