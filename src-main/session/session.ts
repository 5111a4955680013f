/** One session as its clients see it: a method per procedure of the contract, each a line or two over the parts. */
import { Buffer, isUtf8 } from 'node:buffer'
import {
  type Activity,
  type AutoRollback,
  type Change,
  CommandError,
  type CommandRecord,
  type CommandResult,
  CommandTimeoutError,
  type Conversation,
  type ConversationSummary,
  currentLine,
  type DatabasePair,
  type FilePair,
  InvalidOptionError,
  type LedgerCheck,
  type LedgerEntry,
  type LineTotals,
  lastSaved,
  MAIN,
  type Message,
  type MessageFormat,
  type Missed,
  nameOf,
  type OpenedPort,
  type Point,
  type PruneResult,
  type Rename,
  type Rewind,
  type RewindPreview,
  type RollbackResult,
  type Rules as RuleSet,
  type RulesSet,
  type SessionDetails,
  type SessionSummary,
  type Synced,
  type Timeline,
  type Validity,
  type VerifierTrial,
} from '../contract/index.ts'
import { countChanges } from '../diff/index.ts'
import { MOST_ROWS, type ReportData, redactor, report } from '../report/index.ts'
import type { ReadState, Sandbox } from '../sandbox/index.ts'
import { crashPoint } from '../store/index.ts'
import { Budget } from './budget.ts'
import { Commands } from './commands.ts'
import { CommitElsewhere } from './commit-elsewhere.ts'
import { Commits, type Neighbour } from './commits.ts'
import type { SessionContext } from './context.ts'
import { Conversations, writtenAs } from './conversations.ts'
import { compareStates } from './databases.ts'
import { removeDemoWorkspace } from './demo.ts'
import { escalationOf, withdrawEscalations } from './escalation-records.ts'
import { Escalations } from './escalations.ts'
import { Heard } from './heard.ts'
import { HostWatch } from './host-watch.ts'
import type { Inputs } from './inputs.ts'
import { exportLedger, ledgerRows } from './ledger-export.ts'
import { resolvePoint } from './moments.ts'
import { linesBetween, type PathPair, pairOf, pathBytes, renamesBetween } from './moved-files.ts'
import { Pair } from './pair.ts'
import type { Actor } from './pair-records.ts'
import { Ports } from './ports.ts'
import { Retention } from './retention.ts'
import { type Passed, Rules } from './rules.ts'
import { ToolCalls } from './tool-calls.ts'
import { AGENT, Turns } from './turns.ts'

/** Files over this are not drawn as text unless asked for, bytes. */
const TEXT_LIMIT = 1 << 20
/** Paths in one answer; more than anybody reads. */
const CHANGES_LIMIT = 5_000
/** Ledger rows that are read at a time for an export: each may hold the whole output of a verifier. */
const ROWS_AT_ONCE = 50
/** Paths that are named to whoever missed a rewind. */
const PATHS_NAMED = 20

export class Session {
  readonly #context: SessionContext
  readonly #pair: Pair
  readonly #commands: Commands
  readonly #rules: Rules
  readonly #retention: Retention
  readonly #budget: Budget
  readonly #turns: Turns
  readonly #host: HostWatch
  readonly #heard: Heard
  readonly #conversations: Conversations
  readonly #ports: Ports
  /** What agents do by tools. */
  readonly tools: ToolCalls
  /** Verdicts that wait for a decision. */
  readonly escalations: Escalations
  /** To the host. */
  readonly commits: Commits
  /** As patches and branches. */
  readonly elsewhere: CommitElsewhere
  /** Set while the session ends: why commands end now. */
  #endNote: string | null = null
  #gone = false
  /** What a command's failure set off, for whoever waits for it. */
  readonly #rolledBackBy = new Map<string, Promise<AutoRollback | null>>()

  /** @param neighbours every live session of this host */
  constructor(context: SessionContext, neighbours: () => Neighbour[]) {
    this.#context = context
    this.#host = new HostWatch(context)
    this.#pair = new Pair(context, this.#host, () => this.#commands.running.map((record) => textOf(record.command)))
    this.tools = new ToolCalls(context)
    this.#heard = new Heard(context)
    this.#conversations = new Conversations(context)
    this.#ports = new Ports(context)
    this.#commands = new Commands(context, () => this.#pair.rewindNote ?? this.#endNote)
    this.commits = new Commits(context, this.#pair, neighbours)
    this.elsewhere = new CommitElsewhere(context)
    this.#retention = new Retention(context, this.#pair, this.commits, (sandbox) => this.#measure(sandbox))
    this.#budget = new Budget(context, this.#retention)
    this.escalations = new Escalations(context, this.#pair)
    this.#rules = new Rules(context, this.#pair, this.#commands, this.#retention, this.escalations)
    this.#turns = new Turns(context, this.#commands, this.#rules)
  }

  get id(): string {
    return this.#context.id
  }

  /** Whether a command runs, a swap is under way, or a decision is waited for. */
  get busy(): boolean {
    return this.#context.gate.busy || this.#commands.running.length > 0 || this.escalations.waiting
  }

  /** Takes over what an earlier host left in the middle. */
  async recover(sandbox: Sandbox): Promise<void> {
    await this.#pair.recover(sandbox)
    if (sandbox.restarted) await this.#pair.realign(sandbox)
    const left = this.#commands.running
    await this.#commands.attach(sandbox)
    this.#retention.resume()
    for (const command of left) this.#watchCommand(command)
    // What failed as the host before went.
    for (const { id } of this.#context.store.commands.guarded(this.id)) this.#guard(id)
    this.tools.recover()
    this.escalations.recover()
    this.#pair.countMissing(sandbox)
    this.#measureLater()
    this.watchHost()
  }

  /** Nobody waits for what this finds. */
  watchHost(): void {
    void this.#host.begin()
  }

  /** The host goes; processes go on, and its next one takes over. */
  letGo(): void {
    this.#gone = true
    this.#turns.stop()
    this.escalations.letGo()
    this.#host.letGo()
    this.#ports.end()
  }

  /** What taking hold of the sandbox after a restart has shown. @param losses what a person should know of it */
  restate(found: 'running' | 'paused' | 'ended' | 'destroyed' | 'unreachable', losses: readonly string[] = []): void {
    const context = this.#context
    const { status, notes, haltedBy } = context.row
    const now = found === 'running' && haltedBy !== null ? 'halted' : found
    if (now === status && losses.length === 0) return
    const over = now === 'ended' || now === 'destroyed'
    if (over) this.#ports.end()
    const end = over ? { endedAt: new Date(), openPorts: [] } : {}
    context.transaction(() => {
      context.updateRow({ status: now, notes: [...notes, ...losses], ...end })
      if (over) withdrawEscalations(context, 'the session was found ended', 'rule')
      this.escalations.keepTime()
      context.raiseSummary()
    })
  }

  summary(): SessionSummary {
    return this.#context.summary()
  }

  /** Waits for a swap (or the session's end) that is under way, so that it never tells of half of one. */
  details(): Promise<SessionDetails> {
    return this.#context.gate.shared(() => this.#details())
  }

  async #details(): Promise<SessionDetails> {
    const context = this.#context
    // It may be there again; where not, its state says so.
    if (context.row.status === 'unreachable') await context.live().catch(ignore)
    const { row, points } = context
    const line = currentLine(points, row.head)
    const alive = row.status === 'running' || row.status === 'paused' || row.status === 'halted'
    const sandbox = alive ? await context.live() : null
    // What stands since somebody saved: after an undo the head is what the rewind had left, and that counts.
    const saved = lastSaved(points, row.head)?.id ?? row.head
    const held = context.store.points.held(context.id, saved)
    return {
      ...this.summary(),
      labels: line.filter((point) => point.kind === 'checkpoint').map(nameOf),
      messages: context.count(context.conversations),
      processes: sandbox ? await sandbox.processes() : [],
      running: this.#commands.running,
      layers: context.store.points.layerCount(context.id),
      rules: row.rules,
      uncommitted: sandbox ? countChanges(await sandbox.changes(held.state, 'now')) : null,
    }
  }

  timeline(): Timeline {
    const { id, row, points } = this.#context
    return { session: id, head: row.head, epoch: row.epoch, points: [...points], undo: row.undo }
  }

  async checkpoint(input: WithDefaults<Inputs['timeline']['checkpoint']>): Promise<Point> {
    const point = await this.#pair.checkpoint(input)
    this.#measureLater()
    return point
  }

  preview(input: Inputs['timeline']['preview']): Promise<RewindPreview> {
    return this.#context.gate.shared(() => this.#preview(input))
  }

  async #preview(input: Inputs['timeline']['preview']): Promise<RewindPreview> {
    const context = this.#context
    const sandbox = await context.live()
    const { points, row } = context
    const to = this.#resolve(input.to)
    const { messages } = context.store
    const held = context.store.points.held(context.id, to.id).conversations
    const lost = context.conversations.map(({ conversation, node }) =>
      Math.max(0, messages.count(node) - messages.count(context.pinned(held, conversation).node)),
    )
    const changes = await sandbox.changes('now', this.#stateOf(to))
    const kept = new Set(currentLine(points, to.id).map((point) => point.id))
    return {
      to,
      changes: changes.slice(0, CHANGES_LIMIT),
      counts: countChanges(changes),
      messagesLost: lost.reduce((sum, one) => sum + one, 0),
      processes: await sandbox.processes(),
      pointsLeft: currentLine(points, row.head)
        .filter((point) => point.kind === 'checkpoint' && !kept.has(point.id))
        .map((point) => point.id),
    }
  }

  async rollback(input: WithDefaults<Inputs['timeline']['rollback']>, by: Actor = 'you'): Promise<RollbackResult> {
    const result = await this.#pair.rollback({ ...input, by })
    this.#measureLater()
    return writtenAs(result, input.format ?? 'auto')
  }

  async undo(
    { epoch, format = 'auto' }: { epoch?: number | undefined; format?: MessageFormat | undefined } = {},
    by: Actor = 'you',
  ): Promise<RollbackResult> {
    return writtenAs(await this.#pair.undo(by, epoch), format)
  }

  /** What somebody missed who last saw epoch `since`: the rewinds, and how the files of then differ from now's. */
  async missed({ since }: Inputs['timeline']['missed']): Promise<Missed> {
    const context = this.#context
    const rewinds = context.store.rewinds.since(this.id, since)
    const changes = await this.#changedSince(rewinds[0])
    return {
      session: this.id,
      epoch: context.row.epoch,
      rewinds,
      counts: changes && countChanges(changes),
      paths: (changes ?? [])
        .filter(({ kind }) => kind !== 'folder')
        .slice(0, PATHS_NAMED)
        .map(({ path }) => path),
    }
  }

  /** What `client` has not heard of since it last asked. */
  async unheard({ client }: Inputs['timeline']['unheard']): Promise<Missed | null> {
    const { epoch } = this.#context.row
    const known = this.#heard.at(client)
    this.#heard.hears(client, epoch)
    return known === undefined || known >= epoch ? null : this.missed({ since: known })
  }

  /** null where what was left is no longer held, or nothing is */
  async #changedSince(rewind: Rewind | undefined): Promise<Change[] | null> {
    const context = this.#context
    const left = context.points.find(({ id }) => id === rewind?.leftAt)
    if (!left) return rewind ? null : []
    if (context.row.status === 'destroyed' || context.row.status === 'unreachable') return null
    const sandbox = await context.layers()
    return context.gate.shared(() => sandbox.changes(this.#stateOf(left), 'now'))
  }

  /** Opens it to agents although a person began it, or closes it to them. */
  share(on: boolean): SessionSummary {
    const context = this.#context
    return context.transaction(() => {
      context.updateRow({ shared: on })
      context.raiseSummary()
      return this.summary()
    })
  }

  pin(input: Inputs['timeline']['pin']): Point {
    return this.#retention.pin(input.point, input.on)
  }

  /** @throws InvalidOptionError where neither points nor a number to keep are given, or both; or a point is protected */
  prune({ points, keep }: Inputs['timeline']['prune']): Promise<PruneResult> {
    if ((keep === null) === (points.length === 0))
      throw new InvalidOptionError('Say either which points to prune or how many to keep.', {
        nextStep: 'Name points, or give --keep N.',
      })
    return keep === null ? this.#retention.points(points, 'you') : this.#retention.keep(keep, 'you')
  }

  gc(): Promise<PruneResult> {
    return this.#retention.gc()
  }

  async write(input: Inputs['files']['write']): Promise<{ path: string; target: string }> {
    const context = this.#context
    const sandbox = await context.acting()
    context.assertEpoch(input.epoch)
    if (input.tool) await this.onToolCall({ messages: null, tool: input.tool })
    const bytes = Buffer.from(input.content, input.encoding === 'base64' ? 'base64' : 'utf8')
    const target = await context.gate.shared(async () => {
      context.assertEpoch(input.epoch)
      context.assertGoing()
      return sandbox.writeFile(input.path, bytes)
    })
    context.raise({ type: 'filesChanged' })
    return { path: input.path, target }
  }

  async read(input: Inputs['files']['read']): Promise<{ content: string; encoding: 'utf-8' | 'base64' }> {
    const sandbox = await this.#readable(input.at)
    const bytes = Buffer.from(await sandbox.readFile(input.path, this.#moment(input.at)))
    const text = isUtf8(bytes)
    if (input.encoding === 'utf-8' && !text)
      throw new InvalidOptionError(`${input.path} is not UTF-8 text.`, { nextStep: 'Read it as base64.' })
    return input.encoding === 'base64' || !text
      ? { content: bytes.toString('base64'), encoding: 'base64' }
      : { content: bytes.toString('utf8'), encoding: 'utf-8' }
  }

  async changes(input: Inputs['files']['changes']) {
    const sandbox = await this.#readable(input.from, input.to)
    const changes = await sandbox.changes(this.#moment(input.from), this.#moment(input.to))
    return {
      from: input.from,
      to: input.to,
      changes: changes.slice(0, input.limit ?? changes.length) satisfies Change[],
      counts: countChanges(changes),
      truncated: changes.length > (input.limit ?? changes.length),
    }
  }

  async pair(input: Inputs['files']['pair']): Promise<FilePair> {
    const sandbox = await this.#readable(input.from, input.to)
    const [from, to] = [this.#moment(input.from), this.#moment(input.to)]
    return pairOf(sandbox, thenAndNow(input), from, to, TEXT_LIMIT)
  }

  async renames(input: Inputs['files']['renames']): Promise<{ renames: Rename[] }> {
    const sandbox = await this.#readable(input.from, input.to)
    const [from, to] = [this.#moment(input.from), this.#moment(input.to)]
    return { renames: await renamesBetween(sandbox, await sandbox.changes(from, to), from, to) }
  }

  async lines(input: Inputs['files']['lines']): Promise<(LineTotals | null)[]> {
    const sandbox = await this.#readable(input.from, input.to)
    return linesBetween(sandbox, input.paths.map(thenAndNow), this.#moment(input.from), this.#moment(input.to))
  }

  /** A part of a file as it was. @throws FileNotFoundError */
  async bytes(input: Inputs['files']['bytes']): Promise<{ bytes: string; next: number | null }> {
    const sandbox = await this.#readable(input.at)
    const start = { index: 0, offset: input.offset }
    const { pieces, next } = await sandbox.pieces(this.#moment(input.at), [pathBytes(input)], start, input.limit)
    return { bytes: Buffer.from(pieces[0]?.bytes ?? []).toString('base64'), next: next?.offset ?? null }
  }

  async database(input: Inputs['files']['database'], signal?: AbortSignal): Promise<DatabasePair> {
    const sandbox = await this.#readable(input.from, input.to)
    const [from, to] = [this.#moment(input.from), this.#moment(input.to)]
    return compareStates({ sandbox, ...thenAndNow(input), from, to, home: this.#context.home }, signal)
  }

  conversation({ at, conversation = MAIN, format = 'auto' }: WithDefaults<Inputs['messages']['get']>): Conversation {
    return this.#conversations.get(at, conversation, format)
  }

  conversations({ at }: Inputs['messages']['list']): ConversationSummary[] {
    return this.#conversations.list(at)
  }

  validity({ at, conversation }: Inputs['messages']['validity']): Validity[] {
    return this.#conversations.validity(at, conversation)
  }

  /** @throws SessionRewoundError with the history to use, InvalidMessagesError; nothing is changed then */
  async sync(input: WithDefaults<Inputs['messages']['sync']>): Promise<Synced> {
    const context = this.#context
    await this.#pair.finish(await context.workable())
    return context.gate.shared(async () => {
      this.#conversations.assertFresh(input.conversation ?? MAIN, input.epoch, input.revision)
      return this.#conversations.sync(input)
    })
  }

  async startCommand(input: Inputs['commands']['start']): Promise<CommandRecord> {
    this.#context.assertEpoch(input.epoch)
    const asTool = input.asTool || (input.tool !== null && input.tool !== AGENT)
    if (asTool) await this.onToolCall({ messages: null, tool: input.tool ?? 'execute' })
    const record = await this.#commands.start({
      ...input,
      tool: input.tool ?? (asTool ? 'execute' : null),
      guarded: input.guarded === true || asTool,
      stdin: input.stdin === null ? null : Buffer.from(input.stdin, 'base64'),
    })
    this.#watchCommand(record)
    return record
  }

  async waitCommand(input: Inputs['commands']['wait']): Promise<CommandResult> {
    const result = await this.#commands.result(input.id)
    return { ...result, autoRollback: (await this.#rolledBackBy.get(input.id)) ?? null }
  }

  stopCommand(input: Inputs['commands']['stop']): Promise<CommandRecord> {
    return this.#commands.stop(input.id)
  }

  /** What runs in the sandbox now, and what listens there. */
  async activity(): Promise<Activity> {
    const context = this.#context
    const { status } = context.row
    if (status === 'ended' || status === 'destroyed') return { processes: [], ports: [], opened: [] }
    const sandbox = await context.live()
    const { processes, ports } = await context.gate.shared(() => sandbox.activity())
    return { processes, ...this.#ports.shown(ports) }
  }

  openPort(input: Inputs['ports']['open']): Promise<OpenedPort & { shared: boolean }> {
    return this.#ports.open(input)
  }

  openedPorts(): OpenedPort[] {
    return this.#ports.opened()
  }

  closePort(input: Inputs['ports']['close']): Promise<{ closed: boolean }> {
    return this.#ports.close(input)
  }

  /** Has those that were open at an earlier host open again. */
  reopenPorts(): Promise<void> {
    return this.#ports.reopen()
  }

  async stopProcess({ key }: Inputs['processes']['stop']): Promise<{ stopped: boolean }> {
    const sandbox = await this.#context.live()
    return { stopped: await this.#context.gate.shared(() => sandbox.endProcess(key)) }
  }

  command(input: Inputs['commands']['get']): CommandRecord {
    return this.#commands.record(input.id)
  }

  commands(): CommandRecord[] {
    return this.#context.store.commands.list(this.id)
  }

  async output(input: Inputs['commands']['output']) {
    const { bytes, next, ended } = await this.#commands.output(input.id, input.stream, input.offset, input.limit)
    return { bytes: Buffer.from(bytes).toString('base64'), next, ended }
  }

  async *followOutput(input: Inputs['commands']['follow'], signal?: AbortSignal) {
    for await (const { bytes, next } of this.#commands.follow(input.id, input.stream, input.offset, signal))
      yield { bytes: Buffer.from(bytes).toString('base64'), next }
  }

  type(input: Inputs['commands']['type']): Promise<void> {
    return this.#commands.type(input.id, Buffer.from(input.bytes, 'base64'))
  }

  resize(input: Inputs['commands']['resize']): Promise<void> {
    return this.#commands.resize(input.id, input.size)
  }

  rules(): RuleSet {
    return this.#rules.current
  }

  autoCheckpoint(input: Inputs['rules']['autoCheckpoint']): RulesSet {
    this.#context.assertEpoch(input.epoch)
    return { rules: this.#rules.setAutoCheckpoint(input.on, input.keepLast), warnings: [] }
  }

  /** Keeps the session below so much from now on. */
  setRetention(input: Inputs['rules']['retention']): RuleSet {
    const rules = this.#rules.setRetention(input)
    this.#measureLater()
    return rules
  }

  autoRollback(input: Inputs['rules']['autoRollback']): RulesSet {
    this.#context.assertEpoch(input.epoch)
    return this.#rules.setAutoRollback(input.on, input.events, input.to, input.verifier)
  }

  async tryVerifier(input: Inputs['rules']['tryVerifier'], signal?: AbortSignal): Promise<VerifierTrial> {
    this.#context.assertEpoch(input.epoch)
    return this.#rules.tryVerifier(input.verifier, signal)
  }

  lastAutoRollback(): AutoRollback | null {
    return this.#context.row.lastAutoRollback
  }

  async onToolCall(input: WithDefaults<Inputs['rules']['onToolCall']>): Promise<{ checkpoint: string | null }> {
    await this.#context.acting()
    this.#context.assertEpoch(input.epoch)
    const { messages } = input
    if (messages !== null) await this.sync({ ...input, messages, revision: null })
    return { checkpoint: await this.#rules.onToolCall(input.tool) }
  }

  async onToolResult(input: WithDefaults<Inputs['rules']['onToolResult']>): Promise<ToolOutcome> {
    await this.#context.workable()
    this.#context.assertEpoch(input.epoch)
    const { messages } = input
    if (messages !== null) await this.sync({ ...input, messages, revision: null })
    const autoRollback =
      input.error === null ? null : await this.#rules.onToolError(input.error, input.tool, input.epoch)
    if (!autoRollback) return { messages: null, autoRollback }
    const { conversation, format } = input
    return { messages: this.conversation({ at: 'now', conversation, format }).messages, autoRollback }
  }

  async onTurn(input: Inputs['rules']['onTurn']): Promise<{ checkpoint: string | null }> {
    return { checkpoint: await this.#turns.mark(input.agent) }
  }

  runTests(input: Inputs['rules']['runTests']): Promise<Passed> {
    this.#context.assertEpoch(input.epoch)
    return this.#rules.runTests(input.command)
  }

  /** Has a halted session go on. */
  async resume(input: Inputs['sessions']['resume']): Promise<{ session: SessionSummary; text: string | null }> {
    const text = await this.#rules.resume(input)
    return { session: this.summary(), text }
  }

  ledger(input: Inputs['ledger']['list']): LedgerEntry[] {
    return this.#context.store.ledger.list(this.id, input)
  }

  /** The ledger as one document, in pieces. */
  exportLedger({ format }: Inputs['ledger']['export']): Iterable<string> {
    const redact = redactor(this.#context.row.env)
    return exportLedger(this.summary(), this.verifyLedger(), this.#rowsAfter, format, redact)
  }

  /** The run told on one page, in pieces. Works on what has ended, too; what is no longer held is said to be gone. */
  async *report(): AsyncGenerator<string> {
    const context = this.#context
    const { store, id } = context
    const files = await this.#changedInTheEnd()
    const check = this.verifyLedger()
    yield* report({
      at: new Date(),
      session: this.summary(),
      points: context.points,
      rewinds: store.rewinds.since(id, -1),
      commands: this.commands(),
      commits: this.commits.list(),
      escalations: store.escalations.list(id).map(escalationOf),
      check,
      rows: ledgerRows(check.rows, this.#rowsAfter, Math.max(0, check.rows - MOST_ROWS)),
      files,
      redact: redactor(context.row.env),
    })
  }

  /** What stands differs so from the workspace as it was; why that cannot be said where it cannot. */
  async #changedInTheEnd(): Promise<ReportData['files']> {
    const { points, row } = this.#context
    if (row.status === 'destroyed') return { reason: 'The files are no longer held: the session was destroyed.' }
    const base = points.find(({ kind }) => kind === 'base')
    if (!base) return { reason: 'The workspace as it was is no longer held.' }
    try {
      return await this.changes({ from: base.id, to: 'now', limit: null })
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) }
    }
  }

  readonly #rowsAfter = (after: number): LedgerEntry[] => this.#context.store.ledger.after(this.id, after, ROWS_AT_ONCE)

  verifyLedger(): LedgerCheck {
    return this.#context.store.ledger.verify(this.id)
  }

  /**
   * Holds every process in the sandbox still, and takes no commands and files, until {@link unpause}. What only looks,
   * checkpoints and rewinds go on, and a rewind leaves it paused. Does nothing where it is paused.
   * @throws EngineUnavailableError where something would not stand still: it is as before then
   */
  async pause(): Promise<SessionSummary> {
    const sandbox = await this.#context.live()
    return this.#context.gate.exclusive(async () => {
      await sandbox.pause()
      crashPoint('pause:held')
      return this.#setStatus('paused')
    })
  }

  async unpause(): Promise<SessionSummary> {
    const context = this.#context
    const sandbox = await context.live()
    return context.gate.exclusive(async () => {
      await sandbox.unpause()
      crashPoint('pause:released')
      return this.#setStatus(context.row.haltedBy === null ? 'running' : 'halted')
    })
  }

  #setStatus(status: 'running' | 'paused' | 'halted'): SessionSummary {
    const context = this.#context
    if (context.row.status === status) return this.summary()
    return context.transaction(() => {
      context.updateRow({ status })
      this.escalations.keepTime()
      context.raiseSummary()
      return this.summary()
    })
  }

  /** Processes and mounts gone, layers kept. */
  async end(): Promise<SessionSummary> {
    const context = this.#context
    const sandbox = await context.live()
    return context.gate.exclusive(async () => {
      await this.#ending(() => sandbox.end())
      crashPoint('end:sandbox-ended')
      await this.#host.release()
      return this.#close('ended')
    })
  }

  /** Layers gone too; what was recorded stays. A sandbox that cannot be reached any more is removed as far as it is there. */
  async destroy({ epoch }: Inputs['sessions']['destroy'] = {}): Promise<SessionSummary> {
    const context = this.#context
    context.assertEpoch(epoch)
    const sandbox = await context.layers().catch((error: unknown) => {
      if (context.row.status !== 'unreachable') throw error
      return null
    })
    return context.gate.exclusive(async () => {
      if (sandbox) {
        // Output is kept before the layers that hold it are removed.
        if (!sandbox.ended) await this.#ending(() => sandbox.end())
        crashPoint('destroy:sandbox-ended')
        await sandbox.destroy()
        crashPoint('destroy:sandbox-removed')
      } else await context.removeSandbox()
      context.forgetSandbox()
      await this.#host.forget()
      await this.commits.forget()
      context.bytes = this.#commands.outputBytes
      if (context.row.demo) removeDemoWorkspace(context.row.workspace)
      return this.#close('destroyed')
    })
  }

  async #ending(end: () => Promise<void>): Promise<void> {
    this.#endNote = 'ended with its session'
    try {
      await end()
      await this.#commands.settled()
    } finally {
      this.#endNote = null
    }
  }

  #close(status: 'ended' | 'destroyed'): SessionSummary {
    const context = this.#context
    this.#ports.end()
    return context.transaction(() => {
      context.updateRow({ status, endedAt: context.row.endedAt ?? new Date(), openPorts: [] })
      withdrawEscalations(context, status === 'ended' ? 'the session ended' : 'the session was destroyed', 'you')
      context.raiseSummary()
      return this.summary()
    })
  }

  #watchCommand(command: CommandRecord): void {
    const { id, tool, guarded } = command
    if (tool === AGENT) this.#turns.watch(command)
    if (guarded) this.#guard(id)
  }

  #guard(id: string): void {
    if (this.#rolledBackBy.has(id)) return
    const rolledBack = this.#afterGuarded(id, this.#context.row.epoch)
    // Whoever waits for the command meets its failure; nobody may be waiting.
    rolledBack.catch(() => {})
    this.#rolledBackBy.set(id, rolledBack)
  }

  /** A command has ended whose failure counts: the exception rule looks at it. */
  async #afterGuarded(id: string, epoch: number): Promise<AutoRollback | null> {
    const record = await this.#commands.ended(id)
    try {
      return await this.#judgeEnd(record, epoch)
    } finally {
      // A host that goes leaves it to the next one.
      if (!this.#gone) this.#context.store.commands.update(this.id, id, { guarded: false })
    }
  }

  async #judgeEnd(record: CommandRecord, epoch: number): Promise<AutoRollback | null> {
    const failed = record.status === 'timed-out' || (record.status === 'exited' && record.code !== 0)
    if (!failed) return null
    const what = record.status === 'timed-out' ? 'timed out' : `ended with ${record.signal ?? `code ${record.code}`}`
    const notes = `\`${textOf(record.command)}\` ${what}`
    const Failure = record.status === 'timed-out' ? CommandTimeoutError : CommandError
    return this.#rules.fire('exception', notes, new Failure(notes), epoch)
  }

  /** @returns `now`, or the id of the point that is meant. @throws CheckpointNotFoundError */
  momentOf(ref: string | null): string {
    return ref === null || ref === 'now' ? 'now' : this.#resolve(ref).id
  }

  #resolve(ref: string): Point {
    return resolvePoint(ref, this.#context.points, this.#context.row.head)
  }

  #moment(ref: string): ReadState {
    return ref === 'now' ? 'now' : this.#stateOf(this.#resolve(ref))
  }

  #stateOf(point: Point): ReadState {
    return this.#context.store.points.held(this.id, point.id).state
  }

  /** The sandbox to read these moments from: a live one where `now` is among them. */
  #readable(...moments: string[]): Promise<Sandbox> {
    return moments.includes('now') && this.#context.row.status !== 'ended'
      ? this.#context.live()
      : this.#context.layers()
  }

  /** What it holds on disk: layers, and the output of its commands. */
  #measureLater(): void {
    this.#retention.again()
    const context = this.#context
    context.quiet.later('measure', async () => {
      const sandbox = await context.layers()
      const bytes = await this.#measure(sandbox)
      if (bytes !== context.bytes) {
        context.bytes = bytes
        context.raiseSummary()
      }
      await this.#budget.keep()
    })
  }

  async #measure(sandbox: Sandbox): Promise<number> {
    return (await sandbox.usage()) + this.#commands.outputBytes
  }
}

const thenAndNow = ({ was, ...now }: Inputs['files']['lines']['paths'][number]): PathPair => ({
  path: pathBytes(now),
  ...(was ? { was: pathBytes(was) } : {}),
})

/** What came of telling that a tool has answered. */
interface ToolOutcome {
  /** The history to go on with where a rollback was made. */
  messages: Message[] | null
  autoRollback: AutoRollback | null
}

/** An input whose conversation and format may be left out by callers within the host. */
type WithDefaults<Input> = Omit<Input, 'conversation' | 'format'> & {
  conversation?: string | undefined
  format?: MessageFormat | undefined
}

const textOf = (command: CommandRecord['command']): string =>
  typeof command === 'string' ? command : command.join(' ')

const ignore = (): void => {}
