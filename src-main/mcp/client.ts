/**
 * What is remembered of one client of the tools: the epoch at which it last saw each session, the session it used last,
 * and its calls that go on. It outlives requests and transports, so that no protocol's idea of a connection decides
 * what a client is told.
 */
import { randomUUID } from 'node:crypto'
import { Pending, within } from './pending.ts'

/** Less than the minute that most clients wait. */
const PATIENCE_MS = 50_000

export interface ClientOptions {
  /** Whether its calls may leave the session out and mean the last one: where one process is one client. */
  remembersSession: boolean
  /** The session that is meant until another one is named. */
  session?: string
  /** How long a call keeps it waiting before it is answered that the work goes on, milliseconds. */
  patienceMs?: number
  /** Absolute folder that relative paths of workspaces start from; null where there is none to agree on. */
  folder: string | null
}

export class ToolClient {
  /** Tells this client's calls from those of all others. */
  readonly id = randomUUID()
  readonly folder: string | null
  readonly patienceMs: number
  readonly pending = new Pending()
  /** Escalations that its person was asked about: once each. */
  readonly asked = new Set<string>()
  /** Verifications that wait for such a decision, by the escalation's id, until the call comes again. */
  readonly judging = new Map<string, Promise<unknown>>()
  readonly #remembersSession: boolean
  readonly #epochs = new Map<string, number>()
  readonly #underWay = new Set<Promise<unknown>>()
  #session: string | undefined

  constructor({ remembersSession, session, folder, patienceMs = PATIENCE_MS }: ClientOptions) {
    this.patienceMs = patienceMs
    this.#remembersSession = remembersSession
    this.#session = session
    this.folder = folder
  }

  /** The session that is meant where a call names none; undefined where there is nothing to go by. */
  get session(): string | undefined {
    return this.#session
  }

  /** It has used this session. */
  used(session: string): void {
    if (this.#remembersSession) this.#session = session
  }

  /** It has done away with this session. */
  forget(session: string): void {
    if (this.#session === session) this.#session = undefined
    this.#epochs.delete(session)
  }

  /** Calls of its that are under way count until they are done. */
  track<T>(work: Promise<T>): Promise<T> {
    const done = work.then(ignore, ignore).finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
    return work
  }

  /** Resolves when none of its calls is under way any more, or after `ms` milliseconds. */
  async settled(ms: number): Promise<void> {
    const until = new AbortController()
    await within(ms, Promise.all(this.#underWay), until.signal)
  }

  /** The epoch at which it last saw a session; undefined where it sees it for the first time. */
  seen(session: string): number | undefined {
    return this.#epochs.get(session)
  }

  sees(session: string, epoch: number): void {
    this.#epochs.set(session, epoch)
  }
}

const ignore = (): void => {}
