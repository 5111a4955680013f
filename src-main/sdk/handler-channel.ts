/**
 * A program's own handler, as the host sees it: registered while the session is in use, told of what waits for it, and
 * heard once. Where the host goes, it registers with the next one.
 */
import { CheckpointNotFoundError, ConnectionLostError, DeclinedError, InvalidOptionError } from '../contract/errors.ts'
import type { Escalation } from '../contract/index.ts'
import { contextOf, type EscalationHandler, type EscalationResolution } from './escalation.ts'
import type { HostLine } from './host-line.ts'

const RESOLUTIONS: readonly unknown[] = ['continue', 'rollback', 'stop'] satisfies EscalationResolution[]

interface Answer {
  resolution: EscalationResolution
  error: string | null
}

export class HandlerChannel {
  readonly #line: HostLine
  readonly #session: string
  readonly #handler: EscalationHandler
  readonly #over = new AbortController()
  readonly #asked = new Map<string, AbortController>()
  #registered: Promise<void> | null = null

  constructor(line: HostLine, session: string, handler: EscalationHandler) {
    this.#line = line
    this.#session = session
    this.#handler = handler
  }

  /** Resolves once the host knows of the handler. */
  ready(): Promise<void> {
    this.#registered ??= this.#register()
    return this.#registered
  }

  /** The handler is asked no more; what waits for it is asked of others. */
  close(): void {
    this.#over.abort()
    for (const asked of this.#asked.values()) asked.abort()
  }

  async #register(): Promise<void> {
    try {
      // Listening goes on beside the calls: it keeps no program alive, and no host.
      const waiting = await this.#line.call(async (rpc) => {
        const { signal } = this.#over
        const stream = await rpc.escalations.watch({ as: 'handler', session: this.#session }, { signal })
        const first = await stream.next()
        if (!first.done) this.#see(first.value)
        return stream
      })
      void this.#follow(waiting)
    } catch (error) {
      this.#registered = null
      throw error
    }
  }

  async #follow(waiting: AsyncIterator<Escalation[]>): Promise<void> {
    try {
      for (let next = await waiting.next(); !next.done; next = await waiting.next()) this.#see(next.value)
    } catch {
      // The next call that needs the handler says what is wrong with the line.
    } finally {
      this.#registered = null
    }
  }

  #see(waiting: readonly Escalation[]): void {
    for (const [id, asked] of this.#asked)
      if (!waiting.some((one) => one.id === id)) {
        this.#asked.delete(id)
        asked.abort()
      }
    for (const escalation of waiting) {
      if (this.#asked.has(escalation.id)) continue
      const asked = new AbortController()
      this.#asked.set(escalation.id, asked)
      // What cannot be told any more waits on, for whoever is asked next.
      void this.#ask(escalation, asked.signal).catch(() => {})
    }
  }

  async #ask(escalation: Escalation, signal: AbortSignal): Promise<void> {
    const answer = await this.#answerOf(escalation, signal)
    if (signal.aborted) return
    try {
      await this.#tell(escalation.id, answer)
    } catch (error) {
      if (error instanceof DeclinedError || error instanceof InvalidOptionError) return
      if (!(error instanceof CheckpointNotFoundError)) throw error
      await this.#tell(escalation.id, { resolution: 'stop', error: `It answered rollback: ${error.message}` })
    }
  }

  async #answerOf(escalation: Escalation, signal: AbortSignal): Promise<Answer> {
    try {
      const said: unknown = await this.#handler(contextOf(escalation, signal))
      if (RESOLUTIONS.includes(said)) return { resolution: said as EscalationResolution, error: null }
      return { resolution: 'stop', error: `The handler answered ${shown(said)}, not continue, rollback or stop.` }
    } catch (error) {
      return {
        resolution: 'stop',
        error: `The handler threw: ${error instanceof Error ? error.message : shown(error)}`,
      }
    }
  }

  /** Said again where the line broke: it counts once. */
  async #tell(id: string, { resolution, error }: Answer): Promise<void> {
    const answer = { id, resolution, error: error?.slice(0, 4_000) ?? null, via: 'sdk', handler: true } as const
    try {
      await this.#line.call((rpc) => rpc.escalations.answer(answer))
    } catch (lost) {
      if (!(lost instanceof ConnectionLostError) || this.#over.signal.aborted) throw lost
      await this.#tell(id, { resolution, error })
    }
  }
}

function shown(value: unknown): string {
  try {
    return String(JSON.stringify(value) ?? typeof value).slice(0, 200)
  } catch {
    return typeof value
  }
}
