/**
 * The automatic rules of one session: a checkpoint before each tool call, a rollback when something fails, and the
 * verifier that decides what failing is. They belong to the session, whichever client set them.
 */
import { randomUUID } from 'node:crypto'
import {
  type AutoRollback,
  CancelledError,
  CheckpointNotFoundError,
  CommandError,
  type CommandLine,
  InvalidOptionError,
  type LedgerEntry,
  type RetentionRule,
  RollbackEvent,
  RollbackFailedError,
  type Rules as RuleSet,
  type RulesSet,
  SessionPausedError,
  SessionRewoundError,
  VerificationFailedError,
  VerifierSpec,
  type VerifierTrial,
} from '../contract/index.ts'
import { redactor } from '../report/index.ts'
import { formatVerificationResult, haltError, runVerifier, type VerificationResult } from '../verification/index.ts'
import type { Commands } from './commands.ts'
import { isHalted, type SessionContext } from './context.ts'
import type { Escalations } from './escalations.ts'
import type { Inputs } from './inputs.ts'
import { resolvePoint } from './moments.ts'
import type { Pair } from './pair.ts'
import type { Retention } from './retention.ts'

/** What a judged command came to. */
export interface Passed {
  /** For a person or a model to read. */
  text: string
  /** The object that the verifier printed; null where the exit code decided. */
  verdict: Record<string, unknown> | null
}

export class Rules {
  readonly #context: SessionContext
  readonly #pair: Pair
  readonly #commands: Commands
  readonly #retention: Retention
  readonly #escalations: Escalations

  constructor(context: SessionContext, pair: Pair, commands: Commands, retention: Retention, escalations: Escalations) {
    this.#retention = retention
    this.#escalations = escalations
    this.#context = context
    this.#pair = pair
    this.#commands = commands
  }

  get current(): RuleSet {
    return this.#context.row.rules
  }

  /** @param keepLast how many automatic points stay; null for all */
  setAutoCheckpoint(on: boolean, keepLast: number | null): RuleSet {
    return this.#store({ ...this.current, autoCheckpoint: on ? { trigger: 'before_tool_call', keepLast } : null })
  }

  setRetention(retention: RetentionRule): RuleSet {
    return this.#store({ ...this.current, retention })
  }

  /**
   * @param to a label, also one yet to be taken; null means latest, with a warning
   * @throws InvalidOptionError for no event, and for test_failure without a verifier
   */
  setAutoRollback(
    on: boolean,
    events: readonly RollbackEvent[],
    to: string | null,
    verifier: VerifierSpec | null,
  ): RulesSet {
    if (on && events.length === 0)
      throw new InvalidOptionError('A rollback rule needs an event to act on.', {
        nextStep: `Name one of ${RollbackEvent.options.join(', ')}, or switch the rule off.`,
      })
    if (on && events.includes('test_failure') && !verifier)
      throw new InvalidOptionError('A rollback on test_failure needs a verifier that decides what a failure is.', {
        nextStep: 'Give the verifier, a command that prints {"status": "pass" | "fail" | "unknown"}.',
      })
    const rules = this.#store({
      ...this.current,
      autoRollback: on ? { events: [...new Set(events)], to: to ?? 'latest', verifier } : null,
    })
    return { rules, warnings: on && to === null ? [UNNAMED_TARGET] : [] }
  }

  /** The automatic checkpoint before a tool call, where the rule is on. @returns its label */
  async onToolCall(tool: string | null): Promise<string | null> {
    return this.current.autoCheckpoint ? this.takeAutomatic(tool ?? 'tool', tool) : null
  }

  /**
   * A tool has failed: the exception rule looks at it.
   * @throws RollbackFailedError
   */
  onToolError(error: string, tool: string | null, epoch: number | undefined): Promise<AutoRollback | null> {
    // Cut when it is clean: a part of a secret would not be known for one.
    const notes = `${tool ?? 'A tool'} failed: ${redactor(this.#context.row.env)(error).slice(0, NOTES_LIMIT)}`
    return this.fire('exception', notes, new CommandError(notes), epoch)
  }

  /** An automatic checkpoint, of which the rule may keep only the last. @returns its label */
  async takeAutomatic(tool: string, why: string | null): Promise<string | null> {
    const point = await this.#pair.checkpoint({ label: null, why, messages: null, takenBy: 'auto', tool })
    const keepLast = this.current.autoCheckpoint?.keepLast ?? null
    if (keepLast !== null) this.#context.quiet.later('keep last', () => this.#retention.keepLast(keepLast))
    return point.label
  }

  /**
   * A tool call or run failed: rolls back where the rule says so.
   * @param notes what failed, for the resume cue
   * @returns what was done; null where no rule is on, the session waits for a decision, or it is paused or the target
   *   does not exist (a ledger row says so)
   * @param epoch of what failed: where somebody rewound it since, there is nothing left to undo
   * @throws RollbackFailedError with `cause` as its cause
   */
  async fire(
    event: RollbackEvent,
    notes: string,
    cause: unknown,
    epoch: number = this.#context.row.epoch,
  ): Promise<AutoRollback | null> {
    const rule = this.current.autoRollback
    const context = this.#context
    if (!rule?.events.includes(event) || isHalted(context.row)) return null
    const leave = (status: 'no_target' | 'skipped_paused', why: string): null => {
      context.appendLedger({ eventType: 'rollback', status, checkpoint: rule.to, notes: why, decidedBy: 'rule' })
      return null
    }
    try {
      resolvePoint(rule.to, context.points, context.row.head)
    } catch (error) {
      if (!(error instanceof CheckpointNotFoundError)) throw error
      return leave('no_target', error.message)
    }
    try {
      const by = 'rule'
      const result = await this.#pair.rollback({ to: rule.to, only: null, patchNotes: notes, by, epoch, going: true })
      const done: AutoRollback = {
        event,
        to: rule.to,
        checkpoint: result.point.id,
        status: result.status,
        messages: result.messages,
        format: result.format,
        at: new Date(),
      }
      context.updateRow({ lastAutoRollback: done })
      return done
    } catch (error) {
      if (error instanceof SessionRewoundError) return null
      if (error instanceof SessionPausedError) return leave('skipped_paused', `the session was paused; ${notes}`)
      throw new RollbackFailedError(
        `The automatic rollback to ${rule.to} failed: ${error instanceof Error ? error.message : String(error)}`,
        { cause, nextStep: 'The session is as the failure left it; rewind by hand.' },
      )
    }
  }

  /**
   * Runs the verifier, or judges `command` by the same contract; without a verifier the exit code decides.
   * @throws VerificationFailedError; where it cannot be decided, after a decision: VerificationUnknownError or
   *   VerificationHaltError (the session is halted); CommandError (without a verifier), CancelledError (the session was
   *   rewound or ended meanwhile: nothing is judged)
   */
  async runTests(command: CommandLine | null): Promise<Passed> {
    await this.#context.acting()
    const { epoch } = this.#context.row
    const verifier = this.current.autoRollback?.verifier ?? null
    if (!verifier) return this.#runByExitCode(command)
    const spec = command === null ? verifier : { ...verifier, command }
    return this.#judge(spec.command, await this.#verify(spec), epoch)
  }

  /**
   * Runs a verifier once and tells what it says: no rule acts on it, and no verdict is kept. Also while the session is
   * halted, where the next one that counts may be the one that has it go on.
   * @param signal ends it
   * @throws CancelledError, SessionPausedError
   */
  async tryVerifier(spec: VerifierSpec, signal?: AbortSignal): Promise<VerifierTrial> {
    this.#context.assertGoing()
    const halted = isHalted(this.#context.row)
    const run = (line: CommandLine, timeoutMs: number | null) => this.#runJudged(line, timeoutMs, { halted, signal })
    const redact = redactor(this.#context.row.env)
    const once = { ...spec, retries: 0 }
    const result = await runVerifier(once, run, { redact, onAttempt: () => {}, ...(signal ? { signal } : {}) })
    const { status, rawOutput, rawStderr } = result
    return { status, text: formatVerificationResult(result), stdout: rawOutput, stderr: rawStderr }
  }

  /**
   * Has a halted session go on: because a mended verifier says pass, which the rule has from then on, or because a person
   * waives the verdict.
   * @returns the verdict in words; null where it was waived
   * @throws InvalidOptionError (it is not halted), VerificationFailedError, VerificationHaltError (it stays halted)
   */
  async resume({ verifier, note }: Inputs['sessions']['resume']): Promise<string | null> {
    const context = this.#context
    const { autoRollback: rule } = this.current
    this.#assertHalted()
    if (verifier === null) {
      this.#goOn({ status: 'waived', notes: note })
      return null
    }
    const spec = VerifierSpec.parse({ ...rule?.verifier, ...verifier })
    const { command } = spec
    const { epoch } = context.row
    const result = await this.#verify(spec, true)
    const judged = await this.#judgedPoint()
    this.#assertHalted()
    this.#assertSame(epoch)
    const text = formatVerificationResult(result)
    const row = {
      checkpoint: rule?.to ?? null,
      point: judged,
      rawOutput: result.rawOutput,
      status: result.status,
      notes: result.notes ?? text,
    }
    await this.#verdict(judged, result, text)
    if (result.status === 'pass') {
      context.transaction(() => {
        context.appendLedger({ eventType: 'verification', ...row })
        if (rule) this.#store({ ...this.current, autoRollback: { ...rule, verifier: spec } })
        this.#goOn({ status: 'pass', checkpoint: row.checkpoint, point: judged, notes: note ?? text })
      })
      return text
    }
    if (result.status === 'fail') {
      context.appendLedger({ eventType: 'verification', ...row })
      throw new VerificationFailedError(text, {
        nextStep: 'The session stays halted: rewind to a point that you trust, or resume once a verifier says pass.',
        data: { errors: result.errors, verdict: result.verdict, result, verifierCommand: command, checkpoint: null },
      })
    }
    context.appendLedger({ eventType: 'escalation', ...row, resolution: 'stop', decidedBy: 'rule' })
    const { attempts } = result
    throw haltError(
      { checkpoint: row.checkpoint, verifierCommand: command, attempts, lastResult: result, text },
      context.row,
      'it stays so',
    )
  }

  #assertHalted(): void {
    const { name, status } = this.#context.row
    if (!isHalted(this.#context.row))
      throw new InvalidOptionError(`Session ${name} is not halted, but ${status}.`, {
        nextStep: 'There is nothing to resume.',
      })
  }

  #goOn(row: Partial<LedgerEntry> & Pick<LedgerEntry, 'status'>): void {
    const context = this.#context
    context.transaction(() => {
      context.setHalted(null)
      context.appendLedger({ eventType: 'resume', decidedBy: 'you', ...row })
      context.raiseSummary()
    })
  }

  /** @throws CancelledError where it was rewound since */
  #assertSame(epoch: number): void {
    if (this.#context.row.epoch !== epoch)
      throw new CancelledError('The session was rewound while its verifier ran: what it saw is gone.', {
        nextStep: 'Run it again.',
      })
  }

  /** @param halted also while the session is halted */
  #verify(spec: VerifierSpec, halted = false): Promise<VerificationResult> {
    return runVerifier(spec, (line, timeoutMs) => this.#runJudged(line, timeoutMs, { halted }), {
      redact: redactor(this.#context.row.env),
      onAttempt: (attempt, of, verdict) =>
        this.#context.raise({
          type: 'verifierAttempt',
          attempt,
          of,
          verdict: verdict && { status: verdict.status, text: formatVerificationResult(verdict), at: new Date() },
        }),
    })
  }

  /** @param epoch of what the verifier saw */
  async #judge(command: CommandLine, result: VerificationResult, epoch: number): Promise<Passed> {
    const text = formatVerificationResult(result)
    const rule = this.current.autoRollback
    const judged = await this.#judgedPoint()
    this.#assertSame(epoch)
    const row = {
      checkpoint: rule?.to ?? null,
      point: judged,
      rawOutput: result.rawOutput,
      status: result.status,
      notes: result.notes ?? text,
    }
    if (result.status === 'pass') {
      this.#context.appendLedger({ eventType: 'verification', ...row })
      await this.#verdict(judged, result, text)
      return { text, verdict: result.verdict }
    }
    if (result.status === 'unknown') {
      await this.#verdict(judged, result, text)
      return this.#escalations.decide({ result, command, text, checkpoint: row.checkpoint, point: judged, epoch })
    }

    this.#context.appendLedger({ eventType: 'verification', ...row })
    const fail = (done: AutoRollback | null): VerificationFailedError =>
      new VerificationFailedError(text, {
        nextStep: done ? `Files and messages are back at ${done.to}; go on from there.` : null,
        data: {
          errors: result.errors,
          verdict: result.verdict,
          result,
          verifierCommand: command,
          checkpoint: done?.checkpoint ?? null,
          autoRollback: done,
        },
      })
    const done = await this.fire('test_failure', text, fail(null), epoch)
    // What was judged is now frozen as the tip that the rollback left.
    await this.#verdict(done?.status === 'rolled_back' ? this.#context.row.undo : judged, result, text)
    throw fail(done)
  }

  async #runJudged(
    command: CommandLine,
    timeoutMs: number | null,
    { halted = false, signal }: { halted?: boolean; signal?: AbortSignal | undefined },
  ) {
    const id = randomUUID()
    // Where it cannot be stopped, its end is waited for below.
    const stop = () => void this.#commands.stop(id).catch(() => {})
    signal?.addEventListener('abort', stop)
    const record = await this.#commands
      .start({ id, command, timeoutMs, tool: VERIFIER, halted })
      .then(() => this.#commands.ended(id))
      .finally(() => signal?.removeEventListener('abort', stop))
    // Taken away under it: a rewind, or the session's end. One that a person stopped has no such note.
    if (record.status === 'cancelled' && record.note !== null)
      throw new CancelledError(`The verifier was stopped: ${record.note}.`, { nextStep: 'Run it again.' })
    const read = async (stream: 'stdout' | 'stderr') =>
      (await this.#commands.output(id, stream, 0, VERDICT_LIMIT)).bytes
    return {
      stdout: await read('stdout'),
      stderr: await read('stderr'),
      status: record.status === 'running' ? ('lost' as const) : record.status,
      code: record.code,
      signal: record.signal,
      flooded: record.stdoutBytes > VERDICT_LIMIT,
      stderrFlooded: record.stderrBytes > VERDICT_LIMIT,
    }
  }

  async #runByExitCode(command: CommandLine | null): Promise<Passed> {
    if (command === null)
      throw new InvalidOptionError('There is no verifier to run.', {
        nextStep: 'Set one with auto-rollback --verifier, or name the command.',
      })
    const id = randomUUID()
    await this.#commands.start({ id, command, tool: VERIFIER })
    const result = await this.#commands.result(id)
    if (result.code === 0) return { text: result.stdout.replace(/\n$/, ''), verdict: null }
    const { note, status } = this.#commands.record(id)
    if (status === 'cancelled')
      throw new CancelledError(`The tests were stopped${note === null ? '' : `: ${note}`}.`, {
        nextStep: 'Run them again.',
      })
    const failed = (done: AutoRollback | null) =>
      new CommandError(`The tests ended with ${result.signal ?? `code ${result.code}`}.`, {
        data: { ...result, autoRollback: done },
      })
    throw failed(await this.fire('exception', failed(null).message, failed(null)))
  }

  /** The point whose files are what stands now; null where they were changed since the head. */
  async #judgedPoint(): Promise<string | null> {
    const context = this.#context
    const { head } = context.row
    const sandbox = await context.live()
    const changes = await sandbox.changes(context.store.points.held(context.id, head).state, 'now')
    return changes.length === 0 ? head : null
  }

  /** Files that were judged before any point held them: the point that freezes them as they are gets the verdict. */
  async #verdict(point: string | null, { status }: VerificationResult, text: string): Promise<void> {
    const verdict = { status, text, at: new Date() }
    if (point !== null) return this.#context.updatePoint(point, { verdict })
    const lastChange = await (await this.#context.live()).lastChange()
    // Whatever else runs may have written since the verifier looked.
    if (lastChange !== null && this.#commands.running.length === 0) this.#pair.judged = { verdict, lastChange }
  }

  #store(rules: RuleSet): RuleSet {
    this.#context.updateRow({ rules })
    return rules
  }
}

const UNNAMED_TARGET =
  'Without a target the rule goes to the latest checkpoint, which may already hold the damage. Name one, or write latest.'

/** Characters of a tool's error that the cue and the ledger tell. */
const NOTES_LIMIT = 4_000

/** A verdict is one JSON object; what is longer is a flood. Bytes. */
const VERDICT_LIMIT = 1 << 20

/** What a verifier's own commands are called: no tool calls of the agent's. */
export const VERIFIER = 'verifier'
