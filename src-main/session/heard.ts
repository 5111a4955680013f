/**
 * Which epoch those have heard of that come and go with each call, such as a terminal's commands. Kept with the data
 * folder: a host that ends in between forgets nobody.
 */
import { z } from 'zod'
import type { SessionContext } from './context.ts'

/** Clients that are remembered; of more, those that came last. */
const REMEMBERED = 32

const Kept = z.array(z.tuple([z.string(), z.number()]))

export class Heard {
  readonly #context: SessionContext
  #epochs: Map<string, number> | undefined

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** @returns undefined for one that was never here */
  at(client: string): number | undefined {
    return this.#known().get(client)
  }

  hears(client: string, epoch: number): void {
    const known = this.#known()
    if (known.get(client) === epoch) return
    known.delete(client)
    known.set(client, epoch)
    this.#epochs = new Map([...known].slice(-REMEMBERED))
    this.#context.store.settings.set(this.#key, JSON.stringify([...this.#epochs]))
  }

  #known(): Map<string, number> {
    this.#epochs ??= new Map(Kept.parse(JSON.parse(this.#context.store.settings.get(this.#key) ?? '[]')))
    return this.#epochs
  }

  get #key(): string {
    return `heard:${this.#context.id}`
  }
}
