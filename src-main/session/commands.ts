/**
 * Commands of one session: started in the sandbox, followed, and when they end their whole output is moved to the data
 * folder, so that it outlives rewinds and the sandbox. Records are the journal: a record that still says `running` while
 * its sandbox knows nothing of it is `lost`.
 */
import { EventEmitter, once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CommandLine,
  type CommandRecord,
  type CommandResult,
  FileNotFoundError,
  InvalidOptionError,
  type TerminalSize,
} from '../contract/index.ts'
import type { CommandEnd, RunningCommand, Sandbox } from '../sandbox/index.ts'
import type { SessionContext } from './context.ts'

/** Output held in memory for a caller, bytes of each stream: the end of it, where there is more. */
const RESULT_LIMIT = 1 << 20

/** A follower looks again after this long, each time later while nothing comes. */
const SHORTEST_LOOK_MS = 4
const LONGEST_LOOK_MS = 100
const FOLLOWED_BYTES = 256 << 10

export interface CommandRequest {
  id: string
  command: CommandLine
  cwd?: string | null
  user?: 'agent' | 'root' | undefined
  env?: Record<string, string>
  stdin?: Uint8Array | null
  timeoutMs?: number | null
  terminal?: TerminalSize | undefined
  tool?: string | null
  guarded?: boolean
  /** Also while the session is halted: a verifier that was mended. */
  halted?: boolean
  /** The epoch that the caller acts on. */
  epoch?: number | undefined
}

export class Commands {
  readonly #context: SessionContext
  readonly #live = new Map<string, RunningCommand>()
  /** Those that are being started: whoever asks for one of them again joins. */
  readonly #starting = new Map<string, Promise<CommandRecord>>()
  readonly #settled = new Map<string, Promise<CommandRecord>>()
  /** Those that have ended, and whose output is being moved. */
  readonly #ending = new Set<string>()
  /** Told by id when a command's output is worth a look at once. */
  readonly #stirs = new EventEmitter().setMaxListeners(0)
  /** Why commands are being ended from outside right now; null when they are not. */
  readonly #cancelNote: () => string | null

  constructor(context: SessionContext, cancelNote: () => string | null) {
    this.#context = context
    this.#cancelNote = cancelNote
  }

  get running(): CommandRecord[] {
    return this.#context.store.commands.running(this.#context.id)
  }

  /** Bytes of output that are kept of its commands. */
  get outputBytes(): number {
    return this.#context.store.commands
      .list(this.#context.id)
      .reduce((sum, { stdoutBytes, stderrBytes }) => sum + stdoutBytes + stderrBytes, 0)
  }

  /** Takes over what an earlier host left running. Call once after attach. */
  async attach(sandbox: Sandbox): Promise<void> {
    const context = this.#context
    const found = new Map((await sandbox.commands()).map((command) => [command.id, command]))
    for (const record of this.running) {
      const command = found.get(record.id)
      if (command) this.#follow(command)
      else {
        // Its output may have been kept before its end could be written down.
        const files = this.#files(record.id)
        const lost = context.store.commands.update(context.id, record.id, {
          status: 'lost',
          endedAt: new Date(),
          note: 'its end could not be seen',
          stdoutBytes: sizeOf(files.stdout),
          stderrBytes: sizeOf(files.stderr),
        })
        context.raise({ type: 'commandEnded', command: lost })
      }
    }
  }

  /**
   * Starts a command; the same id again joins the one that runs or ran.
   * @throws InvalidPathError (cwd), SessionHaltedError, SessionPausedError, SandboxNotFoundError, EngineUnavailableError, DiskFullError
   */
  start(request: CommandRequest): Promise<CommandRecord> {
    const earlier = this.#starting.get(request.id)
    if (earlier) return earlier
    const starting = this.#start(request).finally(() => this.#starting.delete(request.id))
    this.#starting.set(request.id, starting)
    return starting
  }

  async #start(request: CommandRequest): Promise<CommandRecord> {
    const context = this.#context
    const known = context.store.commands.get(context.id, request.id)
    if (known) return known
    context.assertGoing()
    const sandbox = await (request.halted ? context.live() : context.workable())
    const record: CommandRecord = {
      id: request.id,
      session: context.id,
      command: request.command,
      tool: request.tool ?? null,
      guarded: request.guarded ?? false,
      startedAt: new Date(),
      endedAt: null,
      status: 'running',
      code: null,
      signal: null,
      note: null,
      stdoutBytes: 0,
      stderrBytes: 0,
      terminal: request.terminal ?? null,
    }
    return context.gate.shared(async () => {
      context.assertEpoch(request.epoch)
      context.assertGoing()
      context.store.commands.insert(record)
      let command: RunningCommand
      try {
        command = await sandbox.exec({
          id: request.id,
          command: request.command,
          timeoutMs: request.timeoutMs ?? null,
          ...(request.cwd ? { cwd: request.cwd } : {}),
          ...(request.user ? { user: request.user } : {}),
          ...(request.env ? { env: request.env } : {}),
          ...(request.stdin ? { stdin: request.stdin } : {}),
          ...(request.terminal ? { terminal: request.terminal } : {}),
        })
      } catch (error) {
        const note = error instanceof Error ? error.message : String(error)
        context.store.commands.update(context.id, record.id, { status: 'lost', endedAt: new Date(), note })
        throw error
      }
      context.raise({ type: 'commandStarted', command: record })
      this.#follow(command)
      return record
    })
  }

  /** The record once the command has ended. @throws FileNotFoundError for an id that was never started */
  async ended(id: string): Promise<CommandRecord> {
    const record = await this.#begun(id)
    return this.#settled.get(id) ?? record
  }

  /** As {@link ended}, with the output: whole where it is short, else its end. */
  async result(id: string): Promise<Omit<CommandResult, 'autoRollback'>> {
    const record = await this.ended(id)
    const [stdout, stderr] = await Promise.all([this.#tail(record, 'stdout'), this.#tail(record, 'stderr')])
    return {
      id,
      stdout,
      stderr,
      truncated: record.stdoutBytes > RESULT_LIMIT || record.stderrBytes > RESULT_LIMIT,
      code: record.code,
      signal: record.signal,
      durationMs: (record.endedAt ?? new Date()).getTime() - record.startedAt.getTime(),
    }
  }

  /** Resolves when the output of everything that has ended is kept. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#settled.values())
  }

  async stop(id: string): Promise<CommandRecord> {
    const record = await this.#begun(id)
    const live = this.#live.get(id)
    if (!live || record.status !== 'running') return record
    await live.kill('cancelled')
    return this.ended(id)
  }

  /** At most `limit` bytes of output from `offset`, while it runs and afterwards. */
  async output(id: string, stream: 'stdout' | 'stderr', offset: number, limit: number) {
    await this.#context.attached()
    // Asked before the bytes are read: bytes that come between are seen by the next call, never missed.
    const ended = this.record(id).status !== 'running'
    const live = this.#live.get(id)
    const bytes =
      !ended && live ? await this.#readLive(live, stream, offset, limit) : await this.#stored(id, stream, offset, limit)
    return { bytes, next: offset + bytes.length, ended: ended && bytes.length < limit }
  }

  /** Its output may be moved away under the reading: then it is read from where it was moved to. */
  async #readLive(command: RunningCommand, stream: 'stdout' | 'stderr', offset: number, limit: number) {
    try {
      return await command.read(stream, offset, limit)
    } catch (error) {
      if (!this.#ending.has(command.id) && this.#live.has(command.id)) throw error
      await this.#settled.get(command.id)
      return this.#stored(command.id, stream, offset, limit)
    }
  }

  /** Output from `offset` on as it comes, until all of it was told or the signal says that nobody listens. */
  async *follow(id: string, stream: 'stdout' | 'stderr', offset: number, signal?: AbortSignal) {
    let next = offset
    for (let pauseMs = SHORTEST_LOOK_MS; !signal?.aborted; ) {
      const part = await this.output(id, stream, next, FOLLOWED_BYTES)
      next = part.next
      if (part.bytes.length > 0) {
        yield { bytes: part.bytes, next }
        pauseMs = SHORTEST_LOOK_MS
      } else if (part.ended) return
      else {
        const over = AbortSignal.any([AbortSignal.timeout(pauseMs), ...(signal ? [signal] : [])])
        const stirred = await once(this.#stirs, id, { signal: over }).then(
          () => true,
          () => false,
        )
        pauseMs = stirred ? SHORTEST_LOOK_MS : Math.min(pauseMs * 2, LONGEST_LOOK_MS)
      }
    }
  }

  /** Types on the terminal of a command; what comes after its end is dropped. */
  async type(id: string, bytes: Uint8Array): Promise<void> {
    await (await this.#running(id))?.type(bytes)
    this.#stirs.emit(id)
  }

  async resize(id: string, size: TerminalSize): Promise<void> {
    const command = await this.#running(id)
    if (!command) return
    await command.resize(size)
    const context = this.#context
    context.raise({
      type: 'commandStarted',
      command: context.store.commands.update(context.id, id, { terminal: size }),
    })
  }

  async #running(id: string): Promise<RunningCommand | undefined> {
    return this.#live.get((await this.#begun(id)).id)
  }

  /** Its record, once it was really started or could not be: it says `running` from a moment before. */
  async #begun(id: string): Promise<CommandRecord> {
    await this.#context.attached()
    // Whoever starts it meets the failure.
    await this.#starting.get(id)?.catch(() => {})
    return this.record(id)
  }

  record(id: string): CommandRecord {
    const record = this.#context.store.commands.get(this.#context.id, id)
    if (!record)
      throw new FileNotFoundError(`There is no command ${id} in this session.`, { nextStep: 'See `rewind status`.' })
    return record
  }

  #follow(command: RunningCommand): void {
    this.#live.set(command.id, command)
    const settled = command.ended
      .then((end) => {
        this.#ending.add(command.id)
        return this.#settle(command, end)
      })
      .finally(() => {
        this.#live.delete(command.id)
        this.#ending.delete(command.id)
        this.#settled.delete(command.id)
        this.#stirs.emit(command.id)
      })
    // Whoever waits for the command meets the failure (a store that cannot be written); nobody may be waiting.
    settled.catch(() => {})
    this.#settled.set(command.id, settled)
  }

  async #settle(command: RunningCommand, end: CommandEnd): Promise<CommandRecord> {
    const context = this.#context
    const cancelled = this.#cancelNote()
    const files = this.#files(command.id)
    let note = cancelled
    let bytes = { stdoutBytes: 0, stderrBytes: 0 }
    try {
      mkdirSync(files.folder, { recursive: true, mode: 0o700 })
      await command.collect(files)
      bytes = { stdoutBytes: sizeOf(files.stdout), stderrBytes: sizeOf(files.stderr) }
    } catch (error) {
      note = `its output could not be kept: ${error instanceof Error ? error.message : String(error)}`
    }
    return context.transaction(() => {
      const record = context.store.commands.update(context.id, command.id, {
        status: cancelled && end.status !== 'exited' ? 'cancelled' : end.status,
        code: end.code,
        signal: end.signal,
        endedAt: new Date(),
        note,
        ...bytes,
      })
      context.raise({ type: 'commandEnded', command: record })
      context.raise({ type: 'filesChanged' })
      return record
    })
  }

  #files(id: string) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new InvalidOptionError(`${JSON.stringify(id)} is no command id.`)
    const folder = join(this.#context.home, 'output', this.#context.id)
    return { folder, stdout: join(folder, `${id}.out`), stderr: join(folder, `${id}.err`) }
  }

  async #tail(record: CommandRecord, stream: 'stdout' | 'stderr'): Promise<string> {
    const size = stream === 'stdout' ? record.stdoutBytes : record.stderrBytes
    if (size === 0) return ''
    const from = Math.max(0, size - RESULT_LIMIT)
    return new TextDecoder().decode(await this.#stored(record.id, stream, from, RESULT_LIMIT))
  }

  async #stored(id: string, stream: 'stdout' | 'stderr', offset: number, limit: number): Promise<Uint8Array> {
    let file: Awaited<ReturnType<typeof open>>
    try {
      file = await open(this.#files(id)[stream], 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array()
      throw error
    }
    try {
      const buffer = new Uint8Array(limit)
      const { bytesRead } = await file.read(buffer, 0, limit, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
