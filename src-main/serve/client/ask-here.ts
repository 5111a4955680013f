/**
 * A terminal that is there to be asked while a verifier runs: it registers before the work begins, so that nobody is
 * taken for absent, shows one question at a time, and takes one back that somebody else has answered.
 */
import { DeclinedError } from '../../contract/errors.ts'
import type { Escalation, Resolution } from '../../contract/index.ts'
import { fromRpcError } from '../../contract/wire.ts'
import type { Rpc } from './connect.ts'

export interface Here {
  /** Resolves with null once the signal aborts. */
  ask(question: Escalation, signal: AbortSignal): Promise<Resolution | null>
  /** An answer that came to nothing. */
  tell(problem: string): void
}

export async function askedHere<T>(rpc: Rpc, session: string, here: Here, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const waiting = await rpc.escalations.watch({ as: 'terminal', session }, { signal: over.signal })
  const first = await waiting.next()
  const asking = new Asking(rpc, here)
  if (!first.done) asking.see(first.value)
  const following = (async () => {
    for await (const open of waiting) asking.see(open)
  })().catch(() => {
    // The line that carries the work says what is wrong with it.
  })
  try {
    return await work()
  } finally {
    over.abort()
    asking.stop()
    await following
  }
}

class Asking {
  readonly #rpc: Rpc
  readonly #here: Here
  readonly #asked = new Set<string>()
  #open: readonly Escalation[] = []
  #current: { id: string; abort: AbortController } | null = null

  constructor(rpc: Rpc, here: Here) {
    this.#rpc = rpc
    this.#here = here
  }

  see(open: readonly Escalation[]): void {
    this.#open = open
    if (this.#current && !open.some(({ id }) => id === this.#current?.id)) this.#current.abort.abort()
    this.#next()
  }

  stop(): void {
    this.see([])
  }

  #next(): void {
    const question = this.#current ? undefined : this.#open.find(({ id }) => !this.#asked.has(id))
    if (!question) return
    const abort = new AbortController()
    this.#current = { id: question.id, abort }
    this.#asked.add(question.id)
    void this.#put(question, abort.signal).finally(() => {
      this.#current = null
      this.#next()
    })
  }

  async #put(question: Escalation, signal: AbortSignal): Promise<void> {
    try {
      const resolution = await this.#here.ask(question, signal)
      if (resolution) await this.#rpc.escalations.answer({ id: question.id, resolution, via: 'terminal' })
    } catch (error) {
      const known = fromRpcError(error)
      this.#here.tell(known.message)
      // It waits on: the answer was none that could be carried out.
      if (!(known instanceof DeclinedError)) this.#asked.delete(question.id)
    }
  }
}
