/**
 * Many small questions about the same two stacks: those that come while an opening is in use share the next one. So
 * each sees the stacks as they are after it was asked, and a thousand of them do not open the stacks a thousand times.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LayerFolder } from './layer-dir.ts'

/** Questions for one opening: each may leave some descriptors open until the end of it. */
const SHARED_BY = 64

interface Question<S> {
  /** Never rejects: its outcome goes to whoever asked. */
  answer(from: S, to: S): Promise<void>
  fail(error: unknown): void
}

type Open<S> = (
  from: readonly LayerFolder[],
  to: readonly LayerFolder[],
  use: (from: S, to: S) => Promise<void>,
) => Promise<void>

export class SharedOpenings<S> {
  readonly #open: Open<S>
  /** Who waits, by the stacks that are meant; there while somebody does or is being answered. */
  readonly #lines = new Map<string, Question<S>[]>()

  /** @param open opens both stacks for as long as `use` takes */
  constructor(open: Open<S>) {
    this.#open = open
  }

  ask<T>(from: readonly LayerFolder[], to: readonly LayerFolder[], use: (from: S, to: S) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const question = { answer: (old: S, now: S) => use(old, now).then(resolve, reject), fail: reject }
      const key = JSON.stringify([from, to])
      const line = this.#lines.get(key)
      if (line) line.push(question)
      else void this.#serve(key, from, to, [question])
    })
  }

  async #serve(
    key: string,
    from: readonly LayerFolder[],
    to: readonly LayerFolder[],
    line: Question<S>[],
  ): Promise<void> {
    this.#lines.set(key, line)
    while (line.length > 0) {
      // What was asked in the same moment reaches a thread message by message: it is let in first.
      await nextTurn()
      const group = line.splice(0, SHARED_BY)
      try {
        await this.#open(from, to, async (old, now) => {
          for (const question of group) await question.answer(old, now)
        })
      } catch (error) {
        for (const question of group) question.fail(error)
      }
    }
    this.#lines.delete(key)
  }
}
