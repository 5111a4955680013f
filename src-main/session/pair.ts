/**
 * The pair: files and messages frozen together and taken back together. Each operation is journalled. The intent is
 * written first, the sandbox does its part keyed by the operation's id, then one transaction moves head, messages,
 * ledger and epoch and closes the journal row, on the disk when it is done. After a crash {@link Pair.recover} asks the sandbox whether its part was
 * done: if so the transaction is made up for, if not the row is closed; so it is all old or all new.
 */
import { randomUUID } from 'node:crypto'
import {
  MAIN,
  type MessageFormat,
  nameOf,
  type Point,
  RewindError,
  RollbackFailedError,
  type RollbackResult,
  StoreUnavailableError,
  type TakenBy,
  type Verdict,
} from '../contract/index.ts'
import { countChanges } from '../diff/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import { crashPoint, type Pinned } from '../store/index.ts'
import type { SessionContext } from './context.ts'
import { Conversations } from './conversations.ts'
import type { HostWatch } from './host-watch.ts'
import { automaticLabel, checkLabel, resolvePoint } from './moments.ts'
import { type Actor, type CheckpointIntent, PairRecords, type RollbackIntent } from './pair-records.ts'

export interface CheckpointRequest {
  /** null: the id, or for a tool call an automatic label. */
  label: string | null
  why: string | null
  /** The history of one conversation from here on; null: all are as they stand. */
  messages: unknown
  conversation?: string | undefined
  format?: MessageFormat | undefined
  takenBy: TakenBy
  tool?: string
  /** The epoch that the caller acts on. */
  epoch?: number | undefined
}

export interface RollbackRequest {
  to: string
  only: 'files' | 'messages' | null
  patchNotes: string | null
  by: Actor
  epoch?: number | undefined
  /** Not while the session is paused. */
  going?: boolean
}

/** Points whose files are counted before other quiet work has its turn. */
const COUNTED_IN_A_ROW = 32

export class Pair {
  readonly #context: SessionContext
  readonly #host: HostWatch
  /** Set while a rollback runs: why commands end now. */
  rewindNote: string | null = null
  /** The verdict on files that no point holds yet, and when they were last changed. */
  judged: { verdict: Verdict; lastChange: number } | null = null
  readonly #running: () => string[]
  readonly #records: PairRecords
  /** Ids of points whose files are still to be counted, oldest first. */
  readonly #uncounted = new Set<string>()
  readonly #conversations: Conversations

  /** @param running the commands in flight, for a person to read */
  constructor(context: SessionContext, host: HostWatch, running: () => string[]) {
    this.#context = context
    this.#host = host
    this.#running = running
    this.#records = new PairRecords(context)
    this.#conversations = new Conversations(context)
  }

  /**
   * Freezes files and messages as a new point below the head.
   * @throws CheckpointExistsError, InvalidOptionError (the label), InvalidMessagesError, DiskFullError (nothing is changed
   *   then); StoreUnavailableError where the files are frozen and the point follows with the next step
   */
  async checkpoint(request: CheckpointRequest): Promise<Point> {
    const context = this.#context
    const sandbox = await context.workable()
    return context.gate.exclusive(async () => {
      await this.recover(sandbox)
      context.assertEpoch(request.epoch)
      const { head, name } = context.row
      if (request.label !== null) checkLabel(request.label, context.points, head)
      const label = request.label ?? (request.tool === undefined ? null : automaticLabel(request.tool, context.points))
      const verdict = await this.#verdictOnNow(sandbox)
      const { store } = context
      const { operation, intent } = this.#intend(
        'checkpoint',
        (): CheckpointIntent => ({
          id: `${name}-ckpt-${store.points.nextNumber(name)}`,
          label,
          why: request.why,
          tool: request.tool ?? null,
          takenBy: request.takenBy,
          conversations: this.#pinnedNow(request),
          running: this.#running(),
          at: Date.now(),
        }),
      )
      crashPoint('checkpoint:intent-written')
      const began = performance.now()
      const outcome = await this.#perform(sandbox, operation, () => sandbox.checkpoint(operation))
      crashPoint('checkpoint:frozen')
      const point = this.#recorded(() =>
        this.#records.checkpoint(operation, intent, outcome, performance.now() - began),
      )
      crashPoint('checkpoint:recorded')
      this.countLater(sandbox, point)
      this.#host.afterPoint(point)
      if (verdict) context.updatePoint(point.id, { verdict })
      return context.point(point.id)
    })
  }

  /**
   * Takes files, messages and processes back to a point; what is left is kept as the tip of a branch.
   * @throws CheckpointNotFoundError, SessionPausedError (nothing is changed), RollbackFailedError (the session is as it
   *   was)
   */
  rollback(request: RollbackRequest): Promise<RollbackResult> {
    return this.#move(request, false)
  }

  /** Goes back to what the last rollback left, messages exactly as they were. Undoing twice is redoing. */
  undo(by: Actor, epoch?: number): Promise<RollbackResult> {
    const { undo } = this.#context.row
    return this.#move({ to: undo ?? '', only: null, patchNotes: null, by, epoch }, true)
  }

  /** Every conversation as it stands, with the one that is handed over in its place. */
  #pinnedNow(request?: CheckpointRequest): Pinned[] {
    const standing = this.#context.conversations.map(({ conversation, node, format }) => ({
      conversation,
      node,
      format,
    }))
    if (!request || request.messages === null) return standing
    const given = this.#conversations.store(request)
    const others = standing.filter(({ conversation }) => conversation !== given.conversation)
    return given.conversation === MAIN ? [given, ...others] : [...others, given]
  }

  /** The verdict on exactly the files that stand now, where they were judged and no point holds them. */
  async #verdictOnNow(sandbox: Sandbox): Promise<Verdict | null> {
    const { judged } = this
    this.judged = null
    return judged !== null && judged.lastChange === (await sandbox.lastChange()) ? judged.verdict : null
  }

  /** What a store that could not be written left open is recorded before anything is built on it. */
  async finish(sandbox: Sandbox): Promise<void> {
    const { store, id, gate } = this.#context
    if (store.journal.open(id).length > 0) await gate.exclusive(() => this.recover(sandbox))
  }

  /** Finishes or drops what is open in the journal: left by a killed host, or by a store that could not be written. */
  async recover(sandbox: Sandbox): Promise<void> {
    const { store, id } = this.#context
    const open = store.journal.open(id)
    if (open.length === 0) return
    const { operations } = await sandbox.status()
    for (const row of open) {
      const done = operations.get(row.operation)
      if (!done) store.journal.close(row.operation)
      else if (done.kind === 'checkpoint' && row.kind === 'checkpoint')
        this.#records.checkpoint(row.operation, row.intent as CheckpointIntent, done.outcome, 0)
      else if (done.kind === 'rollback' && row.kind === 'rollback')
        this.#records.rollback(row.operation, row.intent as RollbackIntent, done.outcome, 0)
      else if (done.kind === 'checkpoint' && row.kind === 'rollback')
        this.#records.messagesOnly(row.operation, row.intent as RollbackIntent, done.outcome, 0)
      else throw new Error(`journal row ${row.operation} is a ${row.kind}, its sandbox says ${done.kind}`)
    }
  }

  /** Has the files stand as the timeline says: after a power cut the sandbox may have done what was not written down. */
  async realign(sandbox: Sandbox): Promise<void> {
    const { store, id, row } = this.#context
    await sandbox.rollback(randomUUID(), store.points.held(id, row.head).state)
  }

  async #move(request: RollbackRequest, undo: boolean): Promise<RollbackResult> {
    const context = this.#context
    const sandbox = await context.live()
    return context.gate.exclusive(async () => {
      await this.recover(sandbox)
      context.assertEpoch(request.epoch)
      if (request.going) context.assertGoing()
      const { head, name } = context.row
      const { store } = context
      const target = undo ? this.#undoTarget() : resolvePoint(request.to, context.points, head)
      const { operation, intent } = this.#intend(
        'rollback',
        (): RollbackIntent => ({
          target: target.id,
          ref: undo ? nameOf(target) : request.to,
          only: request.only,
          by: request.by,
          undo,
          tipId: `${name}-ckpt-${store.points.nextNumber(name)}`,
          mixedId: request.only ? `${name}-ckpt-${store.points.nextNumber(name)}` : '',
          patchNotes: request.patchNotes,
          left: this.#pinnedNow(),
          running: this.#running(),
          at: Date.now(),
        }),
      )
      crashPoint('rollback:intent-written')
      const began = performance.now()
      this.rewindNote = `ended by the rewind to ${nameOf(target)}`
      try {
        if (request.only === 'messages') {
          const outcome = await this.#perform(sandbox, operation, () => sandbox.checkpoint(operation))
          crashPoint('rollback:swapped')
          const result = this.#records.messagesOnly(operation, intent, outcome, performance.now() - began)
          crashPoint('rollback:recorded')
          return result
        }
        const { state } = store.points.held(context.id, target.id)
        const outcome = await this.#perform(sandbox, operation, () => sandbox.rollback(operation, state))
        crashPoint('rollback:swapped')
        const result = this.#records.rollback(operation, intent, outcome, performance.now() - began)
        crashPoint('rollback:recorded')
        if (result.leftAt) {
          this.countLater(sandbox, context.point(result.leftAt))
          this.#host.afterPoint(context.point(result.leftAt))
        }
        return result
      } catch (error) {
        throw new RollbackFailedError(
          `The rewind to ${nameOf(target)} failed; ${this.#whatStands(error)}: ${messageOf(error)}`,
          { cause: error, nextStep: 'Try again; `rewind doctor` says what the engine lacks.', data: { to: target.id } },
        )
      } finally {
        this.rewindNote = null
      }
    })
  }

  /** The state that a failed rewind left, in words. */
  #whatStands(error: unknown): string {
    if (this.#context.store.journal.open(this.#context.id).length > 0)
      return 'the files went back, which is recorded with the next step'
    const stopped = error instanceof RewindError && Array.isArray(error.data.stopped) && error.data.stopped.length > 0
    return stopped ? 'files and messages are as they were, but its processes were stopped' : 'the session is as it was'
  }

  #undoTarget(): Point {
    const { undo } = this.#context.row
    if (undo !== null) return this.#context.point(undo)
    throw new RollbackFailedError('There is no rewind to undo.', {
      nextStep: 'Undo goes back to what the last rewind left; nothing was rewound yet.',
    })
  }

  /**
   * Names the operation and writes what it is about to do. The host may die right after it; for a power cut it need not
   * be on the disk, see {@link Pair.realign}.
   */
  #intend<Intent>(kind: 'checkpoint' | 'rollback', intend: () => Intent): { operation: string; intent: Intent } {
    const { store, id } = this.#context
    const operation = randomUUID()
    return store.transaction(() => {
      const intent = intend()
      store.journal.begin({ operation, session: id, kind, intent })
      return { operation, intent }
    })
  }

  /**
   * The sandbox's part. Where it fails, the sandbox is asked whether it was done all the same; only what was not done is
   * taken out of the journal.
   */
  async #perform<Outcome>(sandbox: Sandbox, operation: string, work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await work()
    } catch (error) {
      // Asked again by its id, an operation that was done answers its outcome; one that was not is not in the list.
      if ((await sandbox.status()).operations.has(operation)) return work()
      this.#context.store.journal.close(operation)
      throw error
    }
  }

  /** @throws StoreUnavailableError that says what stands already when the record cannot be written */
  #recorded<T>(record: () => T): T {
    try {
      return record()
    } catch (error) {
      throw new StoreUnavailableError(
        `The files are frozen, but the checkpoint could not be written down: ${messageOf(error)}`,
        { cause: error, nextStep: 'Free some space; it appears on the timeline with the next step of this session.' },
      )
    }
  }

  /** Counts the files of points that an earlier host had no time for. */
  countMissing(sandbox: Sandbox): void {
    for (const point of this.#context.points) this.countLater(sandbox, point)
  }

  /** Counting files costs as much as changed; it follows the checkpoint instead of delaying it. */
  countLater(sandbox: Sandbox, point: Point): void {
    if (point.files !== null || point.parent === null) return
    this.#uncounted.add(point.id)
    this.#context.quiet.later('count files', () => this.#count(sandbox))
  }

  /** The newest first: its layers are opened with those of all that wait, by one program. */
  async #count(sandbox: Sandbox): Promise<void> {
    const context = this.#context
    const { points } = context.store
    try {
      for (const id of [...this.#uncounted].toReversed().slice(0, COUNTED_IN_A_ROW)) {
        this.#uncounted.delete(id)
        const parent = context.points.find((point) => point.id === id)?.parent
        // Pruned meanwhile.
        if (parent == null) continue
        const changes = await sandbox.changes(points.held(context.id, parent).state, points.held(context.id, id).state)
        context.updatePoint(id, { files: countChanges(changes) })
      }
    } finally {
      if (this.#uncounted.size > 0) context.quiet.later('count files', () => this.#count(sandbox))
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
