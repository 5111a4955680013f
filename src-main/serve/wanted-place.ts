/**
 * What somebody asked to see in the window: windows that are open go there at once, and so does the next one that is
 * opened within moments, at this host or the one that takes its place.
 */
import { Place } from '../contract/index.ts'

/** A window that opens later was not opened for it, milliseconds. */
const KEPT_MS = 30_000

interface Setting {
  load(): string | null
  save(value: string): void
}

export class WantedPlace {
  readonly #setting: Setting
  readonly #now: () => number
  readonly #listeners = new Set<(place: Place) => void>()

  /** @param now ms since 1970 */
  constructor(setting: Setting, now = Date.now) {
    this.#setting = setting
    this.#now = now
  }

  want(place: Place): void {
    this.#setting.save(JSON.stringify({ place, at: this.#now() }))
    for (const hear of this.#listeners) hear(place)
  }

  /** One that was wanted a moment ago, then each that comes; of several at once the last. */
  async *follow(signal?: AbortSignal): AsyncGenerator<Place> {
    let next = this.#take()
    let news = Promise.withResolvers<void>()
    const hear = (place: Place) => {
      next = place
      news.resolve()
    }
    const wake = () => news.resolve()
    this.#listeners.add(hear)
    signal?.addEventListener('abort', wake)
    try {
      while (!signal?.aborted) {
        const place = next
        next = null
        if (place) yield place
        else {
          await news.promise
          news = Promise.withResolvers()
        }
      }
    } finally {
      this.#listeners.delete(hear)
      signal?.removeEventListener('abort', wake)
    }
  }

  #take(): Place | null {
    const kept = this.#setting.load()
    if (!kept) return null
    this.#setting.save('')
    const { place, at } = JSON.parse(kept) as { place: Place; at: number }
    return this.#now() - at < KEPT_MS ? Place.parse(place) : null
  }
}
