/**
 * Verdicts that nobody could give, and the decisions on them. The question is written down with its evidence before
 * anybody is asked, and the answer before it is carried out; each is done once whoever waits, and by the next host where
 * this one goes. While one waits nothing is locked.
 */
import { randomBytes } from 'node:crypto'
import {
  type AutoRollback,
  CancelledError,
  CheckpointNotFoundError,
  type Escalation,
  type Evidence,
  InvalidOptionError,
  type Resolution,
  SessionHaltedError,
  SessionRewoundError,
} from '../contract/index.ts'
import { countChanges } from '../diff/index.ts'
import { crashPoint, type EscalationRow } from '../store/index.ts'
import {
  decidedText,
  haltError,
  lateError,
  reasonOf,
  unknownError,
  type VerificationResult,
} from '../verification/index.ts'
import { isHalted, type SessionContext } from './context.ts'
import { escalationOf, withdrawEscalations } from './escalation-records.ts'
import type { Inputs } from './inputs.ts'
import { resolvePoint } from './moments.ts'
import type { Pair } from './pair.ts'

/** Changes that are kept with a question; more than anybody reads before deciding. */
const CHANGES_KEPT = 500
/** A handler whose line broke may come back, over the same host or its successor, milliseconds. */
const RECONNECTS_MS = 3_000
const SUCCESSOR_MS = 10_000
/** Timers take no longer times. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A verdict of unknown, as the rules hand it over. */
export interface Undecided {
  result: VerificationResult
  command: Evidence['verifierCommand']
  text: string
  /** What the rule goes back to; null without a rule. */
  checkpoint: string | null
  point: string | null
  /** Of what the verifier saw. */
  epoch: number
}

interface Decision {
  resolution: Resolution
  by: string
  via?: Escalation['via']
  note?: string | null
  error?: string | null
}

export class Escalations {
  readonly #context: SessionContext
  readonly #pair: Pair
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** What carrying out a decision came to, for those that somebody here waits for. */
  readonly #outcomes = new Map<string, { done: AutoRollback | null; failure: unknown }>()
  /** Aborted when the host goes. */
  readonly #gone = new AbortController()
  #stopListening: () => void = () => {}
  #handlerLeft: NodeJS.Timeout | null = null

  constructor(context: SessionContext, pair: Pair) {
    this.#context = context
    this.#pair = pair
  }

  /** Whether one waits, or is being carried out. */
  get waiting(): boolean {
    const { escalations } = this.#context.store
    return escalations.openCount(this.#context.id) > 0 || escalations.undone(this.#context.id).length > 0
  }

  /** Those that wait, for whoever is asked. */
  open(asked: 'handler' | 'everybody'): Escalation[] {
    return this.#context.store.escalations
      .open(this.#context.id)
      .filter((row) => row.asked === asked)
      .map(escalationOf)
  }

  /**
   * Asks, and waits until it is decided and carried out.
   * @throws VerificationUnknownError (continue, rollback), VerificationHaltError (stop), CancelledError (it became
   *   pointless, or the host goes), RollbackFailedError
   */
  async decide(undecided: Undecided): Promise<never> {
    const context = this.#context
    const evidence = await this.#evidence(undecided)
    // Another verifier's verdict may have halted it meanwhile.
    await context.workable()
    if (context.row.epoch !== undecided.epoch)
      throw new CancelledError('The session was rewound while its verifier ran: what it saw is gone.', {
        nextStep: 'Run it again.',
      })
    const { id, asked } = this.#raise(evidence)
    crashPoint('escalation:raised')
    this.#outcomes.set(id, { done: null, failure: null })
    try {
      if (asked === 'nobody') await this.#settle(id, { resolution: 'stop', by: 'rule' })
      const escalation = await this.wait(id, this.#gone.signal)
      throw this.#errorOf(escalation, this.#outcomes.get(id) ?? { done: null, failure: null })
    } finally {
      this.#outcomes.delete(id)
    }
  }

  /** @returns it once it is decided and the decision carried out @throws CancelledError when the signal aborts */
  async wait(id: string, signal?: AbortSignal): Promise<Escalation> {
    for (;;) {
      const row = this.#row(id)
      if (row.status !== 'open' && row.carriedOut) return escalationOf(row)
      if (signal?.aborted || this.#gone.signal.aborted)
        throw new CancelledError(`Escalation ${id} waits on, nobody for it.`, {
          nextStep: `\`rewind escalations\` shows it, \`rewind answer ${id} continue|rollback|stop\` decides.`,
          data: { escalation: id },
        })
      await this.#context.askers.next(signal ? AbortSignal.any([signal, this.#gone.signal]) : this.#gone.signal)
    }
  }

  get(id: string): Escalation {
    return escalationOf(this.#row(id))
  }

  /**
   * @throws DeclinedError (decided already: by whom and when), CheckpointNotFoundError (rollback, and there is nothing to go
   *   back to: it waits on), RollbackFailedError (the session is halted then)
   */
  async answer({ id, resolution, note, via, handler, error }: Inputs['escalations']['answer']): Promise<Escalation> {
    const row = this.#row(id)
    if (row.status !== 'open') throw lateError(escalationOf(row))
    if (resolution === 'rollback') this.#assertTarget(row.evidence)
    await this.#settle(id, { resolution, by: handler ? 'handler' : 'you', via, note, error })
    return this.get(id)
  }

  /** Goes on with what an earlier host left: timers, handlers that may come back, decisions that are to be carried out. */
  recover(): void {
    const { store, id } = this.#context
    // What fails is in its row, and the session halted.
    for (const row of store.escalations.undone(id)) this.#carryOut(escalationOf(row)).catch(ignore)
    const open = store.escalations.open(id)
    for (const row of open) this.#arm(row)
    if (open.some(({ asked }) => asked === 'handler')) this.#watchHandler(SUCCESSOR_MS)
  }

  /** Time limits stand still while the session is paused, also over its hosts. */
  keepTime(): void {
    const { store, id: session, row } = this.#context
    const now = new Date()
    for (const { id, heldAt, timeoutMs } of store.escalations.open(session)) {
      if (row.status === 'paused') {
        if (heldAt === null) store.escalations.update(id, { heldAt: now })
        this.#disarm(id)
      } else if (heldAt !== null && row.status !== 'unreachable') {
        const heldMs = Math.max(0, now.getTime() - heldAt.getTime())
        store.escalations.update(id, { heldAt: null, timeoutMs: timeoutMs === null ? null : timeoutMs + heldMs })
        this.#arm(this.#row(id))
      }
    }
  }

  letGo(): void {
    this.#gone.abort()
    this.#stopListening()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    if (this.#handlerLeft) clearTimeout(this.#handlerLeft)
  }

  async #evidence({ result, command, text, checkpoint, point }: Undecided): Promise<Evidence> {
    const context = this.#context
    const { points, row } = context
    const target = checkpoint === null ? null : targetOf(() => resolvePoint(checkpoint, points, row.head))
    const since = target?.id ?? row.head
    const sandbox = await context.live()
    const changes = await context.gate.shared(() =>
      sandbox.changes(context.store.points.held(context.id, since).state, 'now'),
    )
    const { status, rawOutput, rawStderr, notes, attempts } = result
    return {
      checkpoint,
      point,
      verifierCommand: command,
      attempts,
      lastResult: { status, rawOutput, rawStderr, notes },
      text,
      since,
      changes: changes.slice(0, CHANGES_KEPT),
      counts: countChanges(changes),
    }
  }

  #raise(evidence: Evidence): Escalation {
    const context = this.#context
    const { id: session, name: sessionName, mode, epoch, escalation } = context.row
    const raised: EscalationRow = {
      id: `esc-${randomBytes(4).toString('hex')}`,
      session,
      sessionName,
      raisedAt: new Date(),
      epoch,
      evidence,
      asked: context.askers.whoFor(session, mode),
      ...escalation,
      status: 'open',
      resolution: null,
      answeredBy: null,
      via: null,
      answeredAt: null,
      note: null,
      error: null,
      carriedOut: false,
      heldAt: context.row.status === 'paused' ? new Date() : null,
    }
    context.durably(() => {
      context.store.escalations.insert(raised)
      context.raise({ type: 'escalationChanged', escalation: raised.id, status: 'open' })
      context.raiseSummary()
    })
    context.askers.changed()
    this.#arm(raised)
    if (raised.asked === 'handler') this.#watchHandler(RECONNECTS_MS)
    return escalationOf(raised)
  }

  /** Decides for whoever does not answer in time. */
  #arm({ id, raisedAt, timeoutMs, onTimeout, heldAt }: EscalationRow): void {
    this.#disarm(id)
    if (timeoutMs === null || heldAt !== null) return
    const left = Math.max(0, raisedAt.getTime() + timeoutMs - Date.now())
    const timer = setTimeout(
      () => {
        this.#timers.delete(id)
        const row = this.#context.store.escalations.get(id)
        if (row?.status !== 'open') return
        if (left > LONGEST_TIMER_MS) return this.#arm(row)
        this.#settleAlone(row.id, this.#possible(row.evidence, { resolution: onTimeout, by: 'timeout' }))
      },
      Math.min(left, LONGEST_TIMER_MS),
    )
    this.#timers.set(id, timer)
  }

  #disarm(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  /** A rollback that leads nowhere is a stop. */
  #possible(evidence: Evidence, decision: Decision): Decision {
    if (decision.resolution !== 'rollback') return decision
    try {
      this.#assertTarget(evidence)
      return decision
    } catch (error) {
      return { ...decision, resolution: 'stop', error: reasonOf(error) }
    }
  }

  /** @throws CheckpointNotFoundError */
  #assertTarget({ checkpoint }: Evidence): void {
    const { points, row } = this.#context
    if (checkpoint !== null) resolvePoint(checkpoint, points, row.head)
    else
      throw new CheckpointNotFoundError('No rule says what to roll back to.', {
        nextStep: 'Continue or stop; a rewind by hand goes anywhere.',
      })
  }

  /** A handler is asked alone while its program lives; the others are when it is gone. */
  #watchHandler(graceMs: number): void {
    const { askers, id } = this.#context
    this.#stopListening()
    const look = (ms: number) => {
      if (this.open('handler').length === 0 || this.#gone.signal.aborted) return this.#stopListening()
      if (askers.handled(id)) {
        if (this.#handlerLeft) clearTimeout(this.#handlerLeft)
        this.#handlerLeft = null
      } else this.#handlerLeft ??= setTimeout(() => this.#passOn(), ms)
    }
    this.#stopListening = askers.listen(() => look(RECONNECTS_MS))
    look(graceMs)
  }

  #passOn(): void {
    const context = this.#context
    this.#handlerLeft = null
    const asked = context.askers.whoFor(context.id, context.row.mode)
    if (asked === 'handler') return
    for (const { id } of this.open('handler'))
      if (asked === 'everybody') {
        context.transaction(() => {
          context.store.escalations.update(id, { asked, error: HANDLER_GONE })
          context.raise({ type: 'escalationChanged', escalation: id, status: 'open' })
        })
        context.askers.changed()
      } else this.#settleAlone(id, { resolution: 'stop', by: 'rule', error: HANDLER_GONE })
  }

  /** Where nobody here waits for how it went. */
  #settleAlone(id: string, decision: Decision): void {
    this.#settle(id, decision).catch(ignore)
  }

  /** Writes the decision down, once, and carries it out. */
  async #settle(id: string, { resolution, by, via = null, note = null, error = null }: Decision): Promise<void> {
    const context = this.#context
    const escalation = context.durably(() => {
      const row = this.#row(id)
      if (row.status !== 'open') throw lateError(escalationOf(row))
      const { evidence } = row
      const decided = context.store.escalations.update(id, {
        status: 'answered',
        resolution,
        answeredBy: by,
        via,
        answeredAt: new Date(),
        note,
        error: error ?? row.error,
        carriedOut: resolution !== 'rollback',
      })
      if (!decided) throw new Error(`escalation ${id} is gone`)
      context.appendLedger({
        eventType: 'escalation',
        status: 'unknown',
        checkpoint: evidence.checkpoint,
        point: evidence.point,
        rawOutput: evidence.lastResult.rawOutput,
        notes: [evidence.text, note, decided.error].filter((line) => line).join('\n'),
        resolution,
        decidedBy: by,
      })
      context.raise({ type: 'escalationChanged', escalation: id, status: 'answered' })
      if (resolution === 'stop') this.#halt(decided.evidence, id)
      context.raiseSummary()
      return escalationOf(decided)
    })
    this.#disarm(id)
    crashPoint('escalation:answered')
    try {
      if (resolution === 'rollback') await this.#carryOut(escalation)
    } finally {
      context.askers.changed()
    }
  }

  async #carryOut(escalation: Escalation): Promise<void> {
    const context = this.#context
    const { id, evidence, epoch, answeredBy } = escalation
    const outcome = this.#outcomes.get(id)
    const finish = (work: () => void = () => {}) => {
      context.durably(() => {
        context.store.escalations.update(id, { carriedOut: true })
        work()
        context.raiseSummary()
      })
      context.askers.changed()
    }
    try {
      const done = await this.#rollback(evidence, epoch, answeredBy === 'you' ? 'you' : 'rule')
      crashPoint('escalation:carried-out')
      if (outcome) outcome.done = done
      finish(() => {
        if (done) context.updateRow({ lastAutoRollback: done })
      })
    } catch (error) {
      // A host that goes leaves it to the next one.
      if (this.#gone.signal.aborted) throw error
      if (outcome) outcome.failure = error
      // Where what was decided cannot be done, nothing goes on by itself.
      finish(() => {
        context.store.escalations.update(id, { error: reasonOf(error) })
        this.#halt(evidence, id)
      })
      throw error
    }
  }

  /** @returns null where somebody rewound it meanwhile: what was judged is gone already */
  async #rollback({ checkpoint, text }: Evidence, epoch: number, by: 'you' | 'rule'): Promise<AutoRollback | null> {
    const to = checkpoint ?? 'base'
    try {
      const result = await this.#pair.rollback({ to, only: null, patchNotes: text, by, epoch })
      const { point, status, messages, format } = result
      return { event: 'test_failure', to, checkpoint: point.id, status, messages, format, at: new Date() }
    } catch (error) {
      if (error instanceof SessionRewoundError) return null
      throw error
    }
  }

  #halt(evidence: Evidence, escalation: string): void {
    const { verifierCommand, text, attempts, checkpoint } = evidence
    this.#context.setHalted({ escalation, verifierCommand, notes: text, attempts, checkpoint })
    withdrawEscalations(this.#context, 'the session was halted by another verdict', 'rule')
  }

  /** What whoever ran the verifier is told. */
  #errorOf(escalation: Escalation, { done, failure }: { done: AutoRollback | null; failure: unknown }): unknown {
    const { status, resolution, evidence, note, id } = escalation
    if (failure) return failure
    if (status === 'withdrawn') {
      const data = { escalation: id }
      const text = `The verifier could not decide, and the question was withdrawn: ${note}.`
      return isHalted(this.#context.row)
        ? new SessionHaltedError(text, { nextStep: 'A person has to look at it first.', data })
        : new CancelledError(text, { nextStep: 'Run it again.', data })
    }
    if (resolution === 'stop') return haltError(evidence, this.#context.row, decidedText(escalation))
    return unknownError(evidence, done, this.#context.row.epoch)
  }

  #row(id: string) {
    const row = this.#context.store.escalations.get(id)
    if (row?.session === this.#context.id) return row
    throw new InvalidOptionError(`There is no escalation ${id}.`, {
      nextStep: '`rewind escalations` lists those that wait.',
    })
  }
}

const ignore = (): void => {}

const HANDLER_GONE = 'the program whose handler was asked is gone'

function targetOf<T>(find: () => T): T | null {
  try {
    return find()
  } catch (error) {
    if (error instanceof CheckpointNotFoundError) return null
    throw error
  }
}
