/**
 * What somebody asked to see in the window: windows that are open go there at once, and so does one that is opened soon
 * after, at this host or the one that takes its place.
 */
import { Place } from '../contract/index.ts'

/** A window that opens later was not opened for it, milliseconds. */
const SOON_MS = 120_000

interface Setting {
  load(): string | null
  save(value: string): void
}

export class WantedPlace {
  readonly #setting: Setting
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #last: Place | null

  /** @param now ms since 1970 */
  constructor(setting: Setting, now = Date.now) {
    this.#setting = setting
    this.#now = now
    this.#last = parsePlace(setting.load())
  }

  want(session: string, at: string): Place {
    const place = { session, at, wanted: Math.max(this.#now(), (this.#last?.wanted ?? 0) + 1) }
    this.#setting.save(JSON.stringify(place))
    this.#last = place
    for (const wake of this.#listeners) wake()
    return place
  }

  /**
   * What was wanted a moment ago, then each that comes; of several at once the last.
   * @param after `wanted` of the last that was gone to: none twice
   */
  async *follow(after: number | null, signal?: AbortSignal): AsyncGenerator<Place> {
    let gone = after ?? this.#now() - SOON_MS
    let news = Promise.withResolvers<void>()
    const wake = () => news.resolve()
    this.#listeners.add(wake)
    signal?.addEventListener('abort', wake)
    try {
      while (!signal?.aborted) {
        const place = this.#last
        if (place && place.wanted > gone) {
          gone = place.wanted
          yield place
        } else {
          await news.promise
          news = Promise.withResolvers()
        }
      }
    } finally {
      this.#listeners.delete(wake)
      signal?.removeEventListener('abort', wake)
    }
  }
}

/** What is damaged goes nowhere; it must not keep the host from starting. */
function parsePlace(kept: string | null): Place | null {
  try {
    return Place.parse(JSON.parse(kept ?? 'null'))
  } catch {
    return null
  }
}
