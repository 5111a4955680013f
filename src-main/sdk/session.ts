/** A session as a program works with it. Every call goes to the host, so that window and terminal see the same. */
import { CommandError, RewindError, SessionNotStartedError } from '../contract/errors.ts'
import type { Rules as AllRules, CommitResult, Point, Timeline } from '../contract/index.ts'
import { currentLine, lastSaved, nameOf } from '../contract/timeline.ts'
import { askedHere, type Rpc } from '../serve/client/index.ts'
import { begin, find } from './begin.ts'
import { type ActingWork, Belief, type LookingWork } from './belief.ts'
import {
  anyText,
  assertOptions,
  assertValue,
  bytes,
  callback,
  command as commandCheck,
  count,
  countFromZero,
  either,
  flag,
  listOf,
  oneOf,
  text,
} from './checks.ts'
import { assertOwnEnd, assertRun, assertSuccess, inBackground, plainCommand, RunningCommand } from './commands.ts'
import { assertCommit, chosen, outcomeOf, outcomeOfPreview } from './commit.ts'
import { type BlockEnd, conclude } from './ending.ts'
import { contextOf, stdinEscalationHandler } from './escalation.ts'
import { encodings, type TextEncoding, textOf } from './file-text.ts'
import { HandlerChannel } from './handler-channel.ts'
import { HostLine } from './host-line.ts'
import { VerificationLedger } from './ledger.ts'
import { type ConversationOptions, conversationChecks, type MessageFormat, messageList, spoken } from './messages.ts'
import { Notices, type SessionEvents } from './notices.ts'
import { type SessionOptions, type Settings, settingsOf, workspaceOf } from './options.ts'
import { patchOf } from './patch.ts'
import { isFailure, type Tool, type ToolOptions, Tools, wordsOf } from './tool.ts'
import type {
  AutoRollback,
  BackgroundCommand,
  Change,
  Checkpoint,
  Command,
  CommandOutcome,
  CommitOptions,
  CommitOutcome,
  FileCounts,
  Message,
  OpenedPort,
  RollbackEvent,
  RulesSet,
  RunOptions,
  SandboxPort,
  SandboxProcess,
  SessionState,
} from './types.ts'
import { anyVerifier, Verifier, type VerifierOptions } from './verifier.ts'

/** What an automatic rollback goes back to, and what decides that tests failed. */
export interface AutoRollbackOptions {
  /**
   * A label, also of a checkpoint that is yet to be taken; it is looked up when the rule fires. Left out, it is
   * `'latest'`, with a warning that this may already hold the damage.
   */
  to?: string | undefined
  /** Needed for `'test_failure'`. */
  verifier?: Verifier | VerifierOptions | undefined
}

/** What differs between two moments. */
export interface Changes {
  from: string
  to: string
  /** By path. */
  changes: Change[]
  counts: FileCounts
}

/**
 * A sandbox, its conversation, its timeline and its ledger.
 *
 * Made with `new` it is not started: every call but `start()`, `attach()`, `ledger`, `lastAutoRollback` and `on()` throws
 * SessionNotStartedError. {@link session} and {@link withSession} give a started one.
 *
 * Calls may be made side by side. One that changes the session and comes after a rewind by somebody else throws
 * SessionRewoundError with who, when, to where and which files; it was not carried out, and is when it is made again.
 */
export class RewindSession implements AsyncDisposable {
  /** What was verified and taken back. It can be read before the session is started, and after it has ended. */
  readonly ledger: VerificationLedger
  readonly #line: HostLine
  readonly #notices = new Notices()
  readonly #tools: Tools
  #settings: Settings
  #belief: Belief | null = null
  #complete = false
  /** The caller's own handler, once the session is started. */
  #channel: HandlerChannel | null = null

  /** @throws InvalidOptionError naming the option that is wrong, and what it takes */
  constructor(options: SessionOptions = {}) {
    this.#settings = settingsOf(options)
    this.#line = new HostLine(this.#settings.embed)
    this.ledger = new VerificationLedger(this.#line, () => this.#belief?.session ?? null)
    this.#tools = new Tools({
      before: async (tool) => void (await this.onToolCall(undefined, tool)),
      failed: (error, tool) => this.#failed(error, tool),
    })
  }

  /** How the session is called. */
  get name(): string {
    return this.#settings.name
  }

  /** Its id, unique for ever. @throws SessionNotStartedError */
  get id(): string {
    return this.#started('id').session
  }

  /** What a rule last rolled back, as far as this session has heard; undefined where nothing was. */
  get lastAutoRollback(): AutoRollback | undefined {
    return this.#belief?.lastAutoRollback
  }

  /**
   * Begins the session, or attaches to the live one of its name and workspace. A host is started where none runs.
   * @param options.workspace another folder than the one the session was made with
   * @param options.force begin anew where a live session exists; that one is ended
   * @returns this session
   * @throws InvalidOptionError, InvalidPathError (the workspace), SessionHaltedError (force on a halted session),
   *   EngineUnavailableError, HostUnavailableError, HostRunningError (`embed`, and another process is the host)
   */
  async start(options: { workspace?: string | undefined; force?: boolean | undefined } = {}): Promise<this> {
    assertOptions('start()', options, { workspace: text, force: flag })
    if (options.workspace !== undefined) this.#settings = { ...this.#settings, ...workspaceOf(options.workspace) }
    return this.#take((settings) =>
      this.#line.call(async (rpc) => (await begin(rpc, settings, options.force ?? false, this.#notices)).session),
    )
  }

  /**
   * Attaches to the live session of its name, whoever began it.
   * @returns this session
   * @throws SandboxNotFoundError where there is none, InvalidOptionError where it has another workspace than was named
   */
  attach(): Promise<this> {
    return this.#take((settings) => this.#line.call((rpc) => find(rpc, settings)))
  }

  /**
   * Listens for what the calls themselves do not return; may be called before `start()`.
   * @returns stops listening
   * @throws InvalidOptionError for an event that there is not
   */
  on<E extends keyof SessionEvents>(event: E, listener: (event: SessionEvents[E]) => void): () => void {
    assertValue('the event of on()', event, oneOf(...this.#notices.names))
    assertValue('the listener of on()', listener, callback)
    return this.#notices.on(event, listener)
  }

  /** How things stand. */
  async status(): Promise<SessionState> {
    const details = await this.#look('status', (rpc, at) => rpc.sessions.get(at))
    const { id, name, engine, engineDetail, status, workspace, workspaceInside, mode, labels } = details
    const { layers, bytes, processes, pendingEscalations, uncommitted, notes } = details
    const { autoCheckpoint, autoRollback } = details.rules
    return {
      id,
      name,
      container: name,
      engine,
      engineDetail,
      status,
      workspace,
      workspaceInside,
      mode,
      checkpoints: labels,
      memoryCheckpoints: labels,
      layers,
      usage: bytes,
      processes,
      pendingEscalations,
      rules: { autoCheckpoint, autoRollback },
      uncommitted,
      notes,
    }
  }

  /**
   * Writes a file, with its parent folders where they are missing.
   * @param path relative to the workspace, or absolute beneath it
   * @param content text (as UTF-8) or bytes
   * @returns the path in the sandbox
   * @throws InvalidPathError for the empty path, the workspace itself and anything outside; nothing was written then
   */
  async writeFile(path: string, content: string | Uint8Array): Promise<string> {
    assertValue('path', path, anyText)
    assertValue('content', content, bytes)
    const written =
      typeof content === 'string'
        ? ({ content, encoding: 'utf-8' } as const)
        : ({ content: Buffer.from(content).toString('base64'), encoding: 'base64' } as const)
    const { target } = await this.#act('writeFile', (rpc, acting) => rpc.files.write({ ...acting, path, ...written }))
    return target
  }

  /**
   * Reads a file.
   * @param path relative to the workspace, or absolute beneath it
   * @param options.encoding gives text; without it bytes are given
   * @param options.at a label or an id: the file as it was at that checkpoint. Default: now
   * @throws FileNotFoundError, InvalidPathError, InvalidOptionError (the bytes are no text of that encoding)
   */
  readFile(path: string, options: TextEncoding | { encoding: TextEncoding; at?: string | undefined }): Promise<string>
  readFile(path: string, options?: { encoding?: undefined; at?: string | undefined }): Promise<Uint8Array>
  async readFile(
    path: string,
    options: TextEncoding | { encoding?: TextEncoding | undefined; at?: string | undefined } = {},
  ): Promise<string | Uint8Array> {
    const { encoding, at = 'now' } = typeof options === 'string' ? { encoding: options } : options
    assertValue('path', path, anyText)
    assertOptions('readFile()', { encoding, at }, { encoding: oneOf(...encodings), at: text })
    if (typeof options !== 'string') assertOptions('readFile()', options, { encoding: oneOf(...encodings), at: text })
    const read = await this.#look('readFile', (rpc, session) => rpc.files.read({ ...session, path, at }))
    const bytes = Buffer.from(read.content, read.encoding === 'base64' ? 'base64' : 'utf8')
    return encoding === undefined ? Uint8Array.from(bytes) : textOf(bytes, encoding, path)
  }

  /**
   * Runs a command and waits for it. A failure is the exception rule's matter, before it is thrown.
   * @returns stdout as text, without the final newline
   * @throws CommandError (not code 0; `data` holds code, signal, stdout, stderr, durationMs and autoRollback),
   *   CommandTimeoutError (it is ended with all its children), CancelledError (a rewind, the end of the session or the
   *   signal ended it), RollbackFailedError with the failure as its cause
   */
  async run(command: Command, options: RunOptions = {}): Promise<string> {
    assertRun('run()', command, options)
    const guarded = this.#tools.guarded
    const running = await this.#startCommand('run', command, options, guarded)
    const ended = await running.ended()
    await this.#started('run').ruleFired(ended.autoRollback)
    try {
      assertSuccess(ended, options.signal)
    } catch (error) {
      if (guarded) this.#tools.saw(error as object, ended.autoRollback)
      throw error
    }
    return ended.outcome.stdout.replace(/\n$/, '')
  }

  /**
   * Runs a command whatever its exit code; no rule acts.
   * @param options.background gives a handle at once: read so far, wait, kill
   * @throws CommandTimeoutError, CancelledError
   */
  exec(command: Command, options: RunOptions & { background: true }): Promise<BackgroundCommand>
  exec(command: Command, options?: RunOptions & { background?: false | undefined }): Promise<CommandOutcome>
  async exec(
    command: Command,
    { background = false, ...options }: RunOptions & { background?: boolean | undefined } = {},
  ): Promise<CommandOutcome | BackgroundCommand> {
    assertRun('exec()', command, { background, ...options }, { background: flag })
    const running = await this.#startCommand('exec', command, options, false)
    if (background) return inBackground(running, options)
    const ended = await running.ended()
    assertOwnEnd(ended, options.signal)
    return ended.outcome
  }

  /**
   * Runs the verifier of the automatic rollback, or judges `command` by the same contract. Without a verifier the exit
   * code of `command` decides.
   * @returns the verdict in words, on a pass; stdout where the exit code decided
   * @throws VerificationFailedError (after the rollback that is set); where the verifier cannot decide, what was decided
   *   instead: VerificationHaltError (stop: the session is halted), VerificationUnknownError (continue, or after the
   *   rollback); CommandError (without a verifier), InvalidOptionError (neither verifier nor command)
   */
  async runTests(command?: Command): Promise<string> {
    if (command !== undefined) assertValue('command', command, commandCheck)
    // Without a verifier a failure is the exception rule's matter, which a tool that only looks keeps out.
    if (command !== undefined && !this.#tools.guarded && !(await this.#hasVerifier())) return this.run(command)
    const line = command === undefined ? null : plainCommand(command)
    try {
      return (await this.#act('runTests', (rpc, acting) => this.#judge(rpc, { ...acting, command: line }))).text
    } catch (error) {
      const done = error instanceof RewindError ? (error.data.autoRollback as AutoRollback | null | undefined) : null
      if (done || error instanceof CommandError) this.#tools.saw(error as object, done ?? null)
      throw error
    }
  }

  /**
   * Replaces a conversation. An empty list empties it; no checkpoint's changes.
   * @param options.revision the one that the messages go on from: refused where the conversation was changed since
   * @returns the revision, and the format that the messages were taken for
   * @throws InvalidMessagesError naming the index and what is allowed, SessionRewoundError with the history to use (the
   *   revision is no longer the present one); nothing was changed then
   */
  async syncMemory(
    messages: readonly Message[],
    options: ConversationOptions & { revision?: number | undefined } = {},
  ): Promise<{ revision: number; format: Exclude<MessageFormat, 'auto' | 'dict'> }> {
    assertOptions('syncMemory()', options, { ...conversationChecks, revision: countFromZero })
    const { revision, format } = await this.#act('syncMemory', (rpc, acting) =>
      rpc.messages.sync({ ...acting, messages, ...spoken(options), revision: options.revision ?? null }),
    )
    return { revision, format }
  }

  /**
   * A conversation as it is now: what was synced comes back equal, and after a rollback it ends in a resume cue.
   * @param options.at a label or an id: as it was at that checkpoint. Default: now
   * @returns the messages; what another format cannot express is left out
   * @throws CheckpointNotFoundError, InvalidOptionError
   */
  async getMessages(options: ConversationOptions & { at?: string | undefined } = {}): Promise<Message[]> {
    assertOptions('getMessages()', options, { ...conversationChecks, at: text })
    const { at = 'now' } = options
    return (await this.#look('getMessages', (rpc, it) => rpc.messages.get({ ...it, at, ...spoken(options) }))).messages
  }

  /**
   * Freezes files and conversation as a point to go back to.
   * @param label 1 to 256 characters, unique on the current line; left out, the point is called by its id
   * @param options.messages replaces the conversation first; `format` and `conversation` say how they are written and
   *   which one it is. A point holds all conversations
   * @param options.reason why it was taken, for people
   * @returns the label, else the id
   * @throws CheckpointExistsError, InvalidOptionError (the label), InvalidMessagesError; nothing was changed then
   */
  async checkpoint(
    label?: string,
    options: ConversationOptions & { messages?: readonly Message[] | undefined; reason?: string | undefined } = {},
  ): Promise<string> {
    assertOptions('checkpoint()', options, { ...conversationChecks, messages: messageList, reason: text })
    if (label !== undefined) assertValue('label', label, anyText)
    const { messages, reason = null } = options
    const point = await this.#act('checkpoint', (rpc, acting) =>
      rpc.timeline.checkpoint({
        ...acting,
        label: label ?? null,
        why: reason,
        messages: messages ?? null,
        ...spoken(options),
      }),
    )
    return nameOf(point)
  }

  /**
   * Goes back to a checkpoint: files and conversation together; running processes are stopped. What is left is kept, and
   * `undo()` goes back there.
   * @param label a label of the current line, an id, `'base'`, or `'latest'`: the newest automatic checkpoint, else the
   *   newest of any kind
   * @param options.patchNotes what went wrong, for the resume cue
   * @param options.only moves one half and leaves the other
   * @param options.format how the history that is returned is written
   * @returns the history to go on with, ending in the resume cue
   * @throws CheckpointNotFoundError naming what there is
   */
  async rollback(
    label = 'latest',
    options: {
      patchNotes?: string | undefined
      only?: 'files' | 'messages' | undefined
      format?: MessageFormat | undefined
    } = {},
  ): Promise<Message[]> {
    const { format } = conversationChecks
    assertOptions('rollback()', options, { patchNotes: anyText, only: oneOf('files', 'messages'), format })
    assertValue('label', label, text)
    const { patchNotes = null, only = null } = options
    const result = await this.#act('rollback', (rpc, acting) =>
      rpc.timeline.rollback({ ...acting, to: label, patchNotes, only, format: options.format }),
    )
    this.#started('rollback').moved(result.epoch)
    return result.messages
  }

  /**
   * Takes the last rollback back; called again, it takes that back.
   * @param options.format how the history that is returned is written
   * @returns the history to go on with
   * @throws RollbackFailedError where nothing was rolled back
   */
  async undo(options: { format?: MessageFormat | undefined } = {}): Promise<Message[]> {
    assertOptions('undo()', options, { format: conversationChecks.format })
    const { format } = options
    const result = await this.#act('undo', (rpc, acting) => rpc.timeline.undo({ ...acting, format }))
    this.#started('undo').moved(result.epoch)
    return result.messages
  }

  /**
   * Writes what changed since the last commit to the workspace on the host: all of it, or nothing.
   * @param options.paths some of it alone; what is left out can be committed later
   * @param options.dryRun looks, and writes nothing
   * @param options.force has the sandbox's side where both changed; `skipConflicts` the host's
   * @returns what was written, and what was left as the host has it
   * @throws CommitConflictError naming what both sides changed (`data.conflicts`), InvalidPathError (the workspace was
   *   moved or cannot be written), DiskFullError; the host is as it was then
   */
  async commit(options: CommitOptions = {}): Promise<CommitOutcome> {
    assertCommit(options)
    const { force = false, skipConflicts = false } = options
    const paths = chosen(options)
    if (options.dryRun)
      return outcomeOfPreview(await this.#look('commit', (rpc, at) => rpc.commit.preview({ ...at, paths })))
    const apply: ActingWork<CommitResult> = (rpc, acting) =>
      rpc.commit.apply({ ...acting, paths, force, skipConflicts })
    return outcomeOf(await this.#act('commit', apply))
  }

  /**
   * Takes the last commit back: the workspace has what it had before. Called again, it takes back the one before.
   * @param id insists on that commit
   * @throws InvalidOptionError where there is none, or another one is the last; CommitConflictError where the host was
   *   changed since; nothing is changed then
   */
  async undoCommit(id?: string): Promise<CommitOutcome> {
    if (id !== undefined) assertValue('id', id, text)
    return outcomeOf(await this.#look('undoCommit', (rpc, at) => rpc.commit.undo({ ...at, id: id ?? null })))
  }

  /** @returns the checkpoints of the current line, oldest first: not base, and nothing that a rollback left behind */
  async checkpoints(): Promise<Checkpoint[]> {
    const { points, head } = await this.#look('checkpoints', (rpc, at) => rpc.timeline.get(at))
    return currentLine(points, head)
      .filter(({ kind }) => kind === 'checkpoint')
      .map(checkpointOf)
  }

  /**
   * What differs between two moments, path by path.
   * @param from a label, an id or `'base'`. Default: the newest checkpoint
   * @param to a label, an id or `'now'`. Default: `'now'`
   * @throws CheckpointNotFoundError
   */
  async changes(from?: string, to = 'now'): Promise<Changes> {
    assertMoments(from, to)
    return this.#look('changes', async (rpc, at) => {
      const start = from ?? lastSavedOf(await rpc.timeline.get(at))
      const { changes, counts } = await rpc.files.changes({ ...at, from: start, to, limit: null })
      return { from: start, to, changes, counts }
    })
  }

  /**
   * What differs between two moments, as a patch for `git apply`; as for {@link RewindSession.changes}.
   * @throws CheckpointNotFoundError
   */
  async diff(from?: string, to = 'now'): Promise<string> {
    assertMoments(from, to)
    return this.#look('diff', async (rpc, at) =>
      patchOf(rpc, { ...at, from: from ?? lastSavedOf(await rpc.timeline.get(at)), to }),
    )
  }

  /**
   * Takes a checkpoint before each tool call: those of `tool()`, `onToolCall()`, and tools over MCP. Labels are
   * `auto_NNNN_TOOL`.
   * @param rule.trigger there is `'before_tool_call'` only
   * @param rule.keepLast how many automatic checkpoints stay; older ones are pruned, and their disk space is freed.
   *   Default: all. Null as the rule switches it off
   * @throws InvalidOptionError
   */
  async autoCheckpoint(
    rule: { trigger?: 'before_tool_call' | undefined; keepLast?: number | undefined } | null = {},
  ): Promise<RulesSet> {
    if (rule) assertOptions('autoCheckpoint()', rule, { trigger: oneOf('before_tool_call'), keepLast: count })
    return this.#setRule('autoCheckpoint', (rpc, acting) =>
      rpc.rules.autoCheckpoint({ ...acting, on: rule !== null, keepLast: rule?.keepLast ?? null }),
    )
  }

  /**
   * Rolls back by itself when something fails. A later call replaces the rule.
   * @param events `'exception'`: a failed `run()`, an error that leaves a tool, `onToolResult(error)`, a failed
   *   `runTests()` without verifier. `'test_failure'`: the verifier said fail. Null switches the rule off
   * @returns the rules, and warnings: without `to` the rule goes to latest, which may already hold the damage
   * @throws InvalidOptionError for an event that there is not, and for `'test_failure'` without a verifier
   */
  async autoRollback(
    events: RollbackEvent | readonly RollbackEvent[] | null = ['exception'],
    options: AutoRollbackOptions = {},
  ): Promise<RulesSet> {
    const list = events === null ? [] : typeof events === 'string' ? [events] : events
    if (events !== null) assertValue('events', list, listOf(['exception', 'test_failure']))
    assertOptions('autoRollback()', options, { to: text, verifier: anyVerifier })
    const verifier =
      options.verifier === undefined || options.verifier instanceof Verifier
        ? options.verifier
        : new Verifier(options.verifier)
    return this.#setRule('autoRollback', (rpc, acting) =>
      rpc.rules.autoRollback({
        ...acting,
        on: events !== null,
        ...(events === null ? {} : { events: [...list] }),
        to: options.to ?? null,
        verifier: verifier ? { ...verifier, command: plainCommand(verifier.command) } : null,
      }),
    )
  }

  /**
   * Makes a function an agent's tool: a checkpoint is taken before each call (where that rule is on), and its failure is
   * told to the model. Errors of this package and errors that the function throws become `ERROR: ` and their message,
   * with a `[REWIND]` notice on a new line where files were rolled back. Thrown on are VerificationHaltError, and
   * TypeError, ReferenceError, SyntaxError and RangeError as the language throws them.
   * @returns a function of the same arguments
   * @throws InvalidOptionError
   */
  tool<Arguments extends unknown[], Result>(
    work: (...args: Arguments) => Result,
    options: ToolOptions = {},
  ): Tool<Arguments, Awaited<Result>> {
    this.#started('tool')
    return this.#tools.wrap(work, options)
  }

  /**
   * For agents whose tools are not made by `tool()`: a tool is about to be called.
   * @param messages replaces the conversation, so that the checkpoint holds it
   * @param toolName becomes part of the label
   * @returns the label of the automatic checkpoint; undefined where that rule is off
   */
  async onToolCall(
    messages?: readonly Message[],
    toolName?: string,
    options: ConversationOptions = {},
  ): Promise<string | undefined> {
    assertOptions('onToolCall()', options, conversationChecks)
    if (toolName !== undefined) assertValue('toolName', toolName, text)
    const { checkpoint } = await this.#act('onToolCall', (rpc, acting) =>
      rpc.rules.onToolCall({
        ...acting,
        messages: messages ?? null,
        ...spoken(options),
        tool: toolName ?? null,
      }),
    )
    return checkpoint ?? undefined
  }

  /**
   * For agents whose tools are not made by `tool()`: a tool was called. An error is the exception rule's matter, unless
   * it comes from a call of this session that the rule has seen, or tells of wrong arguments, of something that was
   * called off, or of an engine that failed.
   * @param messages replaces the conversation, where nothing was rolled back
   * @returns the history to go on with where a rollback happened, else undefined
   */
  async onToolResult(
    messages?: readonly Message[],
    error?: unknown,
    options: ConversationOptions = {},
  ): Promise<Message[] | undefined> {
    assertOptions('onToolResult()', options, conversationChecks)
    const happened = error !== undefined && error !== null
    const seen = happened ? this.#tools.seen(error) : undefined
    // What was said since the checkpoint is undone: it must not come back.
    if (seen?.status === 'rolled_back') return this.getMessages(options)
    const failed = happened && seen === undefined && isFailure(error)
    const result = await this.#act('onToolResult', (rpc, acting) =>
      rpc.rules.onToolResult({
        ...acting,
        messages: messages ?? null,
        ...spoken(options),
        error: failed ? wordsOf(error) : null,
        tool: null,
      }),
    )
    if (failed && typeof error === 'object') this.#tools.saw(error, result.autoRollback)
    await this.#started('onToolResult').ruleFired(result.autoRollback)
    return result.messages ?? undefined
  }

  /**
   * Has a halted session go on.
   * @param options.verifier the mended verifier: where it says pass the session goes on, and the rule has it from then
   *   on. Without one the verdict is waived: it goes on unverified
   * @param options.note why, for the ledger
   * @returns the verdict in words; undefined where it was waived
   * @throws InvalidOptionError (it is not halted), VerificationFailedError, VerificationHaltError (it stays halted)
   */
  async resume(
    options: { verifier?: Command | Verifier | VerifierOptions | undefined; note?: string | undefined } = {},
  ): Promise<string | undefined> {
    assertOptions('resume()', options, { verifier: either(commandCheck, anyVerifier), note: text })
    const { verifier, note = null } = options
    const given =
      verifier === undefined
        ? null
        : typeof verifier === 'string' || 'length' in verifier
          ? { command: plainCommand(verifier) }
          : { ...verifier, command: plainCommand(verifier.command) }
    const { text: verdict } = await this.#look('resume', (rpc, at) =>
      rpc.sessions.resume({ ...at, verifier: given, note }),
    )
    return verdict ?? undefined
  }

  /**
   * Holds every process in the sandbox still until `unpause()`: commands and files are refused with SessionPausedError,
   * time limits of commands stand still. Checkpoints, rewinds (which leave it paused) and reads go on. A paused session
   * outlives its block, and the host.
   * @throws EngineUnavailableError (something would not stand still: it goes on as before)
   */
  async pause(): Promise<void> {
    await this.#look('pause', (rpc, at) => rpc.sessions.pause(at))
  }

  /** Has a paused session go on; one that halted meanwhile is halted then. */
  async unpause(): Promise<void> {
    await this.#look('unpause', (rpc, at) => rpc.sessions.unpause(at))
  }

  /** What runs in the sandbox now; nothing where the session has ended. */
  async processes(): Promise<SandboxProcess[]> {
    return (await this.#look('processes', (rpc, at) => rpc.processes.list(at))).processes
  }

  /** TCP ports that processes of the sandbox listen on, and where this machine reaches them. */
  async ports(): Promise<SandboxPort[]> {
    return (await this.#look('ports', (rpc, at) => rpc.processes.list(at))).ports
  }

  /**
   * Opens a port of the sandbox at this machine's loopback, whether something listens there yet or not; where the sandbox
   * has this machine's network (engine local), what listens is reached as it is, and only `at` opens another port. Until `closePort`
   * or the session's end, at the next host too. Connections wait while the session is paused, and are closed while nothing listens.
   * @param at the port of this machine; one that is free by default, the same number if it can be
   * @throws InvalidOptionError (`at` is taken, the port is open at another one, or it is reached as it is and nothing listens)
   */
  async openPort(port: number, { at }: { at?: number } = {}): Promise<OpenedPort> {
    const opened = await this.#look('openPort', (rpc, session) => rpc.ports.open({ ...session, port, at: at ?? null }))
    return { port: opened.port, at: opened.at, url: opened.url }
  }

  /** Closes a port that was opened; connections through it are broken off. False where it was not open. */
  async closePort(port: number): Promise<boolean> {
    return (await this.#look('closePort', (rpc, session) => rpc.ports.close({ ...session, port }))).closed
  }

  /** @returns the ledger, as `ledger`. @throws SessionNotStartedError */
  getLedger(): VerificationLedger {
    this.#started('getLedger')
    return this.ledger
  }

  /** For `await using`: says that the block did what it was for. Without it nothing is taken home at its end. */
  complete(): void {
    this.#started('complete')
    this.#complete = true
  }

  /**
   * Ends the session: its processes and mounts are gone, what was recorded and the files of its checkpoints stay. A
   * session that has ended is left as it is.
   */
  async end(): Promise<void> {
    const { session } = this.#started('end')
    await this.#concluding(() =>
      conclude({ ...this.#ending(session), autoCommit: false, destroyOnExit: true }, 'failed'),
    )
  }

  /** Destroys the sandbox with all its files. Timeline, conversation and ledger stay. Resolves when nothing is left. */
  async destroy(): Promise<void> {
    await this.#act('destroy', (rpc, acting) => rpc.sessions.destroy(acting))
    this.#channel?.close()
    await this.#line.letGo()
  }

  /** The end of an `await using` block: as that of `withSession()`, where `complete()` says that it went well. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#belief) await this.conclude(this.#complete ? 'clean' : 'unsaid')
  }

  /**
   * The end of a block.
   * @internal
   */
  async conclude(how: BlockEnd): Promise<void> {
    const { session } = this.#started('the end of its block')
    await this.#concluding(() => conclude(this.#ending(session), how))
  }

  #ending(session: string) {
    const { name, autoCommit, destroyOnExit } = this.#settings
    return { line: this.#line, notices: this.#notices, session, name, autoCommit, destroyOnExit }
  }

  async #concluding(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } finally {
      this.#channel?.close()
      await this.#line.letGo()
    }
  }

  async #take(find: (settings: Settings) => Promise<{ id: string; epoch: number }>): Promise<this> {
    this.#line.hold()
    try {
      const belief = new Belief(this.#line, this.#notices, await find(this.#settings))
      await belief.remember()
      await this.#handle(belief.session)
      this.#belief = belief
      this.#complete = false
      return this
    } catch (error) {
      if (!this.#belief) await this.#line.letGo()
      throw error
    }
  }

  /** The caller's handler is asked from now on, and no earlier session's. */
  async #handle(session: string): Promise<void> {
    this.#channel?.close()
    const { escalationHandler } = this.#settings
    this.#channel = escalationHandler ? new HandlerChannel(this.#line, session, escalationHandler) : null
    await this.#channel?.ready()
  }

  async #startCommand(call: string, command: Command, options: RunOptions, guarded: boolean): Promise<RunningCommand> {
    return this.#act(call, (_rpc, acting) => RunningCommand.start(this.#line, acting, command, options, guarded))
  }

  /** Who can be asked is there before the verifier runs. */
  async #judge(rpc: Rpc, judged: { session: string; epoch: number; command: string | string[] | null }) {
    const work = () => rpc.rules.runTests(judged)
    if (this.#channel) {
      await this.#channel.ready()
      return work()
    }
    if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return work()
    return askedHere(
      rpc,
      judged.session,
      {
        ask: async (question, signal) => {
          const answer = await stdinEscalationHandler(contextOf(question, signal))
          return signal.aborted ? null : answer
        },
        tell: (problem) => this.#notices.warn('REWIND_ANSWER', problem),
      },
      work,
    )
  }

  async #hasVerifier(): Promise<boolean> {
    const { autoRollback } = await this.#look('runTests', (rpc, at) => rpc.rules.get(at))
    return autoRollback?.verifier !== undefined && autoRollback.verifier !== null
  }

  async #failed(error: unknown, tool: string): Promise<AutoRollback | null> {
    const { autoRollback } = await this.#act('tool', (rpc, acting) =>
      rpc.rules.onToolResult({ ...acting, messages: null, error: wordsOf(error), tool }),
    )
    await this.#started('tool').ruleFired(autoRollback)
    return autoRollback
  }

  async #setRule(call: string, set: ActingWork<{ rules: AllRules; warnings: string[] }>): Promise<RulesSet> {
    const { rules, warnings } = await this.#act(call, set)
    for (const warning of warnings) this.#notices.warn('REWIND_RULE', warning)
    const { autoCheckpoint, autoRollback } = rules
    return { rules: { autoCheckpoint, autoRollback }, warnings }
  }

  async #act<T>(call: string, work: ActingWork<T>): Promise<T> {
    return this.#started(call).act(work)
  }

  async #look<T>(call: string, work: LookingWork<T>): Promise<T> {
    return this.#started(call).look(work)
  }

  #started(call: string): Belief {
    if (this.#belief) return this.#belief
    throw new SessionNotStartedError(`The session is not started: ${call} needs one that is.`, {
      nextStep: 'Call start() first, or use withSession().',
    })
  }
}

/** What is promised of a point, and no more. */
const checkpointOf = (point: Point): Checkpoint => {
  const { id, seq, kind, label, parent, at, takenBy, why, tool, messages, files, verdict, pinned, ms } = point
  return { id, seq, kind, label, parent, at, takenBy, why: why ?? tool, messages, files, verdict, pinned, ms }
}

const lastSavedOf = ({ points, head }: Timeline): string => lastSaved(points, head)?.id ?? 'base'

function assertMoments(from: unknown, to: unknown): void {
  if (from !== undefined) assertValue('from', from, text)
  assertValue('to', to, text)
}
