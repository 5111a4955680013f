/** A bounded map: what was used longest ago makes way. */
export class Recent<T> {
  readonly #limit: number
  readonly #dropped: (value: T) => void
  readonly #values = new Map<string, T>()

  /** @param dropped told of each value that made way */
  constructor(limit: number, dropped: (value: T) => void = () => {}) {
    this.#limit = limit
    this.#dropped = dropped
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  getOr(key: string, make: () => T): T {
    const value = this.get(key) ?? make()
    this.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values
    if (this.#values.size <= this.#limit || !oldest) return
    this.#values.delete(oldest[0])
    this.#dropped(oldest[1])
  }

  delete(key: string): void {
    this.#values.delete(key)
  }

  /** @returns what was in it */
  clear(): T[] {
    const values = [...this.#values.values()]
    this.#values.clear()
    return values
  }
}
