/** What the parts of one session share: its row, its sandbox, its lock, and how they tell the world. */
import {
  EngineUnavailableError,
  isLive,
  type LedgerEntry,
  MAIN,
  type NewSessionEvent,
  type Point,
  SandboxNotFoundError,
  SessionHaltedError,
  SessionPausedError,
  SessionRewoundError,
  type SessionSummary,
  shellWord,
} from '../contract/index.ts'
import { redactor } from '../report/index.ts'
import { Gate, type HostFolders, type HostReport, type Sandbox } from '../sandbox/index.ts'
import type { ConversationHead, Held, Pinned, SessionRow, Store } from '../store/index.ts'
import type { Askers } from '../verification/index.ts'
import type { EventHub } from './event-hub.ts'
import { QuietQueue } from './quiet-queue.ts'

/** Between two tries to take hold of a sandbox that could not be reached, milliseconds. */
const RETRY_MS = 1_000

export class SessionContext {
  readonly id: string
  readonly store: Store
  readonly hub: EventHub
  /** The data folder. */
  readonly home: string
  /** Reads and starts together, what changes the session alone. */
  readonly gate = new Gate()
  readonly quiet = new QuietQueue()
  /** What the engine holds on disk, bytes; null until measured. */
  bytes: number | null = null
  /** What a person should know of its disk budget now; among its notes. */
  notice: string | null = null
  /** What became of the workspace on the host; null while nothing is known. */
  host: HostReport | null = null
  readonly hostFolders: HostFolders
  /** Who can be asked for a decision. */
  readonly askers: Askers
  #sandbox: Promise<Sandbox> | null = null
  /** When it was last tried to take hold of it, milliseconds since 1970. */
  #tried = Date.now()
  #failed = false
  /** Row and timeline as the store holds them: this host is their only writer, so they are read once. */
  #row: SessionRow | null = null
  #points: Point[] | null = null

  /** Removes what the engine has of it, whatever state that is in. */
  readonly removeSandbox: () => Promise<void>
  /** Takes hold of it, and says in the row how that went. */
  readonly #reach: () => Promise<Sandbox>

  constructor(parts: {
    id: string
    store: Store
    hub: EventHub
    home: string
    hostFolders: HostFolders
    askers: Askers
    sandbox: Promise<Sandbox> | null
    removeSandbox: () => Promise<void>
    reach: () => Promise<Sandbox>
  }) {
    this.id = parts.id
    this.store = parts.store
    this.hub = parts.hub
    this.home = parts.home
    this.hostFolders = parts.hostFolders
    this.askers = parts.askers
    this.removeSandbox = parts.removeSandbox
    this.#reach = parts.reach
    if (parts.sandbox) void this.#hold(parts.sandbox)
  }

  get row(): SessionRow {
    this.#row ??= this.store.sessions.get(this.id) ?? null
    if (!this.#row)
      throw new SandboxNotFoundError(`Session ${this.id} is gone.`, { nextStep: 'See `rewind sessions`.' })
    return this.#row
  }

  updateRow(patch: Partial<SessionRow>): void {
    const row = { ...this.row, ...patch }
    this.store.sessions.update(this.id, patch)
    this.#row = row
  }

  /** Every point, oldest first. */
  get points(): readonly Point[] {
    this.#points ??= this.store.points.list(this.id)
    return this.#points
  }

  point(id: string): Point {
    const point = this.points.find((one) => one.id === id)
    if (!point) throw new Error(`point ${id} of session ${this.id} is not in the store`)
    return point
  }

  insertPoint(point: Point, held: Held): void {
    this.store.points.insert(point, held)
    if (this.#points) this.#points = [...this.#points, point]
    this.raise({ type: 'pointAdded', point })
  }

  updatePoint(id: string, patch: Partial<Pick<Point, 'files' | 'verdict' | 'bytes' | 'pinned' | 'host'>>): void {
    const point = this.store.points.update(this.id, id, patch)
    if (this.#points) this.#points = this.#points.map((one) => (one.id === id ? point : one))
    this.raise({ type: 'pointChanged', point })
  }

  removePoint(id: string): void {
    const { parent } = this.point(id)
    this.store.points.remove(this.id, id)
    if (this.#points)
      this.#points = this.#points.flatMap((one) => {
        if (one.id === id) return []
        return [one.parent === id ? { ...one, parent, files: null } : one]
      })
    this.raise({ type: 'pointRemoved', point: id, parent })
  }

  /** As the store's: on the disk when it returns. What was read before is read again where the work throws. */
  durably<T>(work: () => T): T {
    return this.#rereading(() => this.store.durably(work))
  }

  /** As {@link durably}, without waiting for the disk. */
  transaction<T>(work: () => T): T {
    return this.#rereading(() => this.store.transaction(work))
  }

  /** Every conversation as it stands, `main` first. */
  get conversations(): ConversationHead[] {
    return this.store.messages.heads(this.id)
  }

  /** A conversation of a moment; one that it does not hold is empty. */
  pinned(held: readonly Pinned[], conversation: string = MAIN): Pinned {
    return (
      held.find((one) => one.conversation === conversation) ?? {
        conversation,
        node: null,
        format: this.store.messages.head(this.id, conversation).format,
      }
    )
  }

  /** Messages of several conversations together. */
  count(conversations: readonly Pinned[]): number {
    return conversations.reduce((sum, { node }) => sum + this.store.messages.count(node), 0)
  }

  /** Has a conversation stand as `pinned` says, and tells the world. @returns its revision */
  setConversation({ conversation, node, format }: Pinned): number {
    const { messages } = this.store
    const before = messages.head(this.id, conversation)
    if (before.node === node && before.format === format && (before.revision > 0 || node === null))
      return before.revision
    const revision = messages.setHead(this.id, { conversation, node, format })
    this.raise({ type: 'messagesChanged', conversation, revision, count: this.count(this.conversations) })
    return revision
  }

  summary(): SessionSummary {
    const { rules, undo, lastAutoRollback, network, env, haltedBy, escalation, openPorts, ...row } = this.row
    return {
      ...row,
      notes: this.notice === null ? row.notes : [...row.notes, this.notice],
      checkpoints: this.points.filter((point) => point.kind === 'checkpoint').length,
      bytes: this.bytes,
      host: this.host,
      pendingEscalations: this.store.escalations.openCount(this.id),
      halted: isHalted(this.row),
    }
  }

  /**
   * @param epoch the one that a caller acts on; undefined where it does not say
   * @throws SessionRewoundError when a rewind began a later one
   */
  assertEpoch(epoch: number | undefined): void {
    if (epoch === undefined || epoch >= this.row.epoch) return
    throw new SessionRewoundError(`Session ${this.row.name} was rewound since you last looked; nothing was done.`, {
      nextStep: 'See what stands now, then ask again.',
      data: { session: this.id, epoch: this.row.epoch },
    })
  }

  raise(event: Bodiless): void {
    this.hub.raise({ ...event, session: this.id } as NewSessionEvent)
  }

  raiseSummary(): void {
    this.raise({ type: 'sessionChanged', summary: this.summary() })
  }

  /** Writes a ledger row; what is not given is null. Secrets are no part of what is kept for good. */
  appendLedger(row: Partial<LedgerEntry> & Pick<LedgerEntry, 'eventType' | 'status'>): void {
    const nothing = { checkpoint: null, point: null, rawOutput: null, notes: null, resolution: null, decidedBy: null }
    const redact = redactor(this.row.env)
    const clean = (text: string | null | undefined) => (text ? redact(text) : (text ?? null))
    const { notes, rawOutput } = row
    const kept = { ...nothing, ...row, notes: clean(notes), rawOutput: clean(rawOutput), session: this.id }
    const entry = this.store.ledger.append(kept)
    this.raise({ type: 'ledgerAdded', entry })
  }

  /**
   * The sandbox, to read frozen states from: also that of an ended session.
   * @throws SandboxNotFoundError when its layers are gone, EngineUnavailableError when it cannot be reached
   */
  async layers(): Promise<Sandbox> {
    const { status, name } = this.row
    if (status === 'destroyed' || !this.#sandbox)
      throw new SandboxNotFoundError(`The files of session ${name} are no longer held: it was destroyed.`, {
        nextStep: 'Its timeline, messages and ledger can still be read.',
      })
    return this.#reached(this.#sandbox)
  }

  /**
   * The sandbox of a session that lives.
   * @throws SandboxNotFoundError when it has ended
   */
  async live(): Promise<Sandbox> {
    const { status, name } = this.row
    if (status === 'ended' || status === 'destroyed')
      throw new SandboxNotFoundError(`Session ${name} has ${status === 'ended' ? 'ended' : 'been destroyed'}.`, {
        nextStep: 'Begin a new one with `rewind init PATH`.',
      })
    if (!this.#sandbox)
      throw new EngineUnavailableError(`The sandbox of session ${name} cannot be reached.`, {
        nextStep: 'See `rewind doctor`, then end it with `rewind destroy`.',
      })
    return this.#reached(this.#sandbox)
  }

  /** One that could not be reached is tried again, now and then: docker may be there by now. */
  #reached(sandbox: Promise<Sandbox>): Promise<Sandbox> {
    if (!this.#failed || Date.now() - this.#tried < RETRY_MS) return sandbox
    this.#tried = Date.now()
    return this.#hold(this.#reach())
  }

  #hold(sandbox: Promise<Sandbox>): Promise<Sandbox> {
    this.#sandbox = sandbox
    this.#failed = false
    // Whoever needs the sandbox meets the failure; nobody needing it is no unhandled rejection.
    sandbox.catch(() => {
      this.#failed = this.#sandbox === sandbox
    })
    return sandbox
  }

  /** As {@link live}, for what changes the sandbox; a halted session only takes a decision. */
  async workable(): Promise<Sandbox> {
    const { haltedBy, name } = this.row
    if (isHalted(this.row))
      throw new SessionHaltedError(`Session ${name} is halted: the verifier could not decide.`, {
        nextStep: `Look at its changes and output; \`rewind resume --session ${shellWord(name)}\` or a rewind to a point that you trust lets it go on.`,
        data: { haltedBy },
      })
    return this.live()
  }

  /** As {@link workable}, for what runs or writes in the sandbox. @throws SessionPausedError too */
  acting(): Promise<Sandbox> {
    this.assertGoing()
    return this.workable()
  }

  /** @throws SessionPausedError */
  assertGoing(): void {
    const { name, status } = this.row
    if (status !== 'paused') return
    const session = `--session ${shellWord(name)}`
    const then = isHalted(this.row)
      ? `and is halted then: \`rewind resume ${session}\` or a rewind to a point that you trust lets it go on`
      : 'then try again'
    throw new SessionPausedError(`Session ${name} is paused; nothing was done.`, {
      nextStep: `It goes on when a person says so, in the window or by \`rewind unpause ${session}\`; ${then}.`,
      data: { session: this.id },
    })
  }

  /**
   * @param haltedBy the verdict that halts it; null where it goes on. One that is paused or out of reach stays so; one
   *   that is over neither halts nor goes on.
   */
  setHalted(haltedBy: SessionRow['haltedBy']): void {
    const { status } = this.row
    if (!isLive(this.row)) return
    const goes = status === 'running' || status === 'halted'
    this.updateRow({ haltedBy, ...(goes ? { status: haltedBy === null ? 'running' : 'halted' } : {}) })
  }

  /** Resolves when taking hold of the sandbox after a restart is over, however it went. */
  async attached(): Promise<void> {
    await Promise.allSettled([this.#sandbox])
  }

  /** Its layers are gone. */
  forgetSandbox(): void {
    this.#sandbox = null
  }

  #rereading<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#row = null
      this.#points = null
      throw error
    }
  }
}

/** What halted it stays written when it is over: only one that lives waits for a decision, whatever else its status says. */
export const isHalted = (row: Pick<SessionRow, 'haltedBy' | 'status'>): boolean => row.haltedBy !== null && isLive(row)

type WithoutSession<E> = E extends { session: string } ? Omit<E, 'session'> : never
type Bodiless = WithoutSession<NewSessionEvent>
