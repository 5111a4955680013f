/**
 * Images while they are made. One that several ask for is made once, and all of them are told how far it is; it is called
 * off when the last of them leaves.
 */
import type { ImageProgress } from '../contract/index.ts'

/** Makes an image, or does nothing where it is there. */
export type MakeImage = (
  name: string,
  options: { onProgress: (progress: ImageProgress) => void; signal: AbortSignal },
) => Promise<void>

interface Making {
  done: Promise<void>
  ended: boolean
  newest: ImageProgress | null
  /** Resolves at the next thing to tell; replaced then. */
  news: PromiseWithResolvers<void>
  followers: number
  callOff: AbortController
}

/** Between two things told to a follower, milliseconds: a package manager says more than anybody reads. */
const PACE_MS = 100

export class Images {
  readonly #make: MakeImage
  readonly #making = new Map<string, Making>()

  constructor(make: MakeImage) {
    this.#make = make
  }

  get busy(): boolean {
    return this.#making.size > 0
  }

  /** How far the making of an image is; null where it is not being made, or nothing was told of it yet. */
  newest(name: string): ImageProgress | null {
    return this.#making.get(name)?.newest ?? null
  }

  /**
   * Tells the newest progress, paced, until the image is there.
   * @param signal says that this follower leaves
   * @throws whatever its making throws; CancelledError once it was called off
   */
  async *ensure(name: string, signal?: AbortSignal): AsyncGenerator<ImageProgress> {
    const making = this.#making.get(name) ?? this.#begin(name)
    const gone = Promise.withResolvers<void>()
    const leave = () => gone.resolve()
    signal?.addEventListener('abort', leave)
    making.followers++
    try {
      let told: ImageProgress | null = null
      while (!making.ended && !signal?.aborted) {
        const { news, newest } = making
        if (newest !== null && newest !== told) {
          told = newest
          yield newest
          await Promise.race([making.done, gone.promise, new Promise((resolve) => setTimeout(resolve, PACE_MS))])
        } else await Promise.race([making.done, gone.promise, news.promise])
      }
      if (!signal?.aborted) await making.done
    } finally {
      signal?.removeEventListener('abort', leave)
      making.followers--
      if (making.followers === 0) this.#callOff(name, making)
    }
  }

  /** As {@link ensure}, for whom it need not tell anything. */
  async ensured(name: string): Promise<void> {
    for await (const _ of this.ensure(name));
  }

  /** Whoever comes now has it made anew: this one ends, however long that takes. */
  #callOff(name: string, making: Making): void {
    if (this.#making.get(name) === making) this.#making.delete(name)
    making.callOff.abort()
  }

  #begin(name: string): Making {
    const callOff = new AbortController()
    const onProgress = (progress: ImageProgress) => {
      making.newest = progress
      making.news.resolve()
      making.news = Promise.withResolvers()
    }
    const done = this.#make(name, { onProgress, signal: callOff.signal }).finally(() => {
      making.ended = true
      if (this.#making.get(name) === making) this.#making.delete(name)
    })
    // Its followers meet the failure; one that is called off has none.
    done.catch(() => {})
    const making: Making = {
      done,
      ended: false,
      newest: null,
      news: Promise.withResolvers(),
      followers: 0,
      callOff,
    }
    this.#making.set(name, making)
    return making
  }
}
