/**
 * Commands in the sandbox. Each has an id that is made here, so that asking again after the host was replaced joins the
 * command that runs, and waiting for it goes on.
 */
import { randomUUID } from 'node:crypto'
import { CancelledError, CommandError, CommandTimeoutError } from '../contract/errors.ts'
import type { CommandRecord, CommandResult } from '../contract/index.ts'
import type { Rpc } from '../serve/client/index.ts'
import {
  abortSignal,
  assertOptions,
  assertValue,
  bytes,
  type Check,
  callback,
  command as commandCheck,
  count,
  either,
  flag,
  objectOf,
  oneOf,
  positive,
  text,
  variables,
} from './checks.ts'
import type { HostLine } from './host-line.ts'
import type {
  AutoRollback,
  BackgroundCommand,
  Command,
  CommandOutcome,
  OutputChunk,
  OutputSoFar,
  RunOptions,
} from './types.ts'

const runChecks = {
  timeoutMs: positive,
  env: variables,
  cwd: text,
  stdin: bytes,
  onOutput: callback,
  user: oneOf('agent', 'root'),
  tty: either(flag, objectOf({ columns: count, rows: count }, 'columns', 'rows')),
  signal: abortSignal,
}

/** @throws InvalidOptionError */
export function assertRun(call: string, command: unknown, options: object, more: Record<string, Check> = {}): void {
  assertValue('command', command, commandCheck)
  assertOptions(call, options, { ...runChecks, ...more })
}

/** As the contract takes it. */
export const plainCommand = (command: Command): string | string[] =>
  typeof command === 'string' ? command : [...command]

/** How a command ended, and what the session's rules did about it. */
export interface Ended {
  outcome: CommandOutcome
  status: CommandRecord['status']
  note: string | null
  autoRollback: AutoRollback | null
}

const TERMINAL = { columns: 80, rows: 24 }
/** Bytes of output in one answer. */
const PART = 1 << 20

export class RunningCommand {
  readonly id: string
  readonly #line: HostLine
  readonly #at: { session: string; id: string }
  readonly #options: RunOptions

  private constructor(line: HostLine, session: string, id: string, options: RunOptions) {
    this.id = id
    this.#line = line
    this.#at = { session, id }
    this.#options = options
  }

  /** @param guarded whether its failure is the exception rule's matter */
  static async start(
    line: HostLine,
    acting: { session: string; epoch: number },
    command: Command,
    options: RunOptions,
    guarded: boolean,
  ): Promise<RunningCommand> {
    const { tty, stdin, signal } = options
    if (signal?.aborted)
      throw new CancelledError('The command was not started: its signal was aborted before.', { cause: signal.reason })
    const id = randomUUID()
    await line.call((rpc) =>
      rpc.commands.start({
        ...acting,
        id,
        command: plainCommand(command),
        cwd: options.cwd ?? null,
        user: options.user,
        env: { ...options.env },
        stdin: stdin === undefined ? null : Buffer.from(stdin).toString('base64'),
        timeoutMs: options.timeoutMs ?? null,
        terminal: tty ? (tty === true ? TERMINAL : tty) : undefined,
        guarded,
      }),
    )
    return new RunningCommand(line, acting.session, id, options)
  }

  /** Waits for its end, and tells of its output meanwhile. */
  ended(): Promise<Ended> {
    const { signal, onOutput } = this.#options
    return this.#line.call(async (rpc) => {
      const stop = () => void rpc.commands.stop(this.#at).catch(ignore)
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted) stop()
      try {
        const told = onOutput ? await this.#follow(rpc, onOutput) : null
        const result = await rpc.commands.wait(this.#at)
        const output = told ?? (await this.#output(rpc, result))
        const record = result.code === 0 ? null : await rpc.commands.get(this.#at)
        return {
          outcome: { ...output, code: result.code, signal: result.signal, durationMs: result.durationMs },
          status: record?.status ?? 'exited',
          note: record?.note ?? null,
          autoRollback: result.autoRollback,
        }
      } finally {
        signal?.removeEventListener('abort', stop)
      }
    })
  }

  read(): Promise<OutputSoFar> {
    return this.#line.call(async (rpc) => {
      // Asked before the output is: what came before the end is then all there.
      const { status } = await rpc.commands.get(this.#at)
      const [stdout, stderr] = await Promise.all([this.#whole(rpc, 'stdout'), this.#whole(rpc, 'stderr')])
      return { stdout, stderr, running: status === 'running' }
    })
  }

  async kill(): Promise<void> {
    await this.#line.call((rpc) => rpc.commands.stop(this.#at))
  }

  async #follow(rpc: Rpc, tell: (chunk: OutputChunk) => void): Promise<Pick<CommandOutcome, 'stdout' | 'stderr'>> {
    const over = new AbortController()
    try {
      const [stdout, stderr] = await Promise.all([
        this.#copy(rpc, 'stdout', tell, over.signal),
        this.#copy(rpc, 'stderr', tell, over.signal),
      ])
      return { stdout, stderr }
    } catch (error) {
      await rpc.commands.stop(this.#at).catch(ignore)
      throw error
    } finally {
      over.abort()
    }
  }

  /** @returns all of it, once the command has ended */
  async #copy(
    rpc: Rpc,
    stream: 'stdout' | 'stderr',
    tell: (chunk: OutputChunk) => void,
    signal: AbortSignal,
  ): Promise<string> {
    const decoder = new TextDecoder()
    let whole = ''
    let told = 0
    const pass = (text: string, bytes: Uint8Array) => {
      whole += text
      if (bytes.length > 0) tell({ stream, text, bytes })
    }
    for await (const part of await rpc.commands.follow({ ...this.#at, stream, offset: 0 }, { signal })) {
      const all = Buffer.from(part.bytes, 'base64')
      // Taken up by a later host it begins anew.
      const fresh = all.subarray(Math.max(0, all.length - (part.next - told)))
      told = Math.max(told, part.next)
      if (fresh.length > 0) pass(decoder.decode(fresh, { stream: true }), fresh)
    }
    pass(decoder.decode(), new Uint8Array())
    return whole
  }

  async #output(rpc: Rpc, { stdout, stderr, truncated }: CommandResult) {
    if (!truncated) return { stdout, stderr }
    return { stdout: await this.#whole(rpc, 'stdout'), stderr: await this.#whole(rpc, 'stderr') }
  }

  async #whole(rpc: Rpc, stream: 'stdout' | 'stderr'): Promise<string> {
    const parts: Buffer[] = []
    for (let offset = 0; ; ) {
      const part = await rpc.commands.output({ ...this.#at, stream, offset, limit: PART })
      parts.push(Buffer.from(part.bytes, 'base64'))
      if (part.next === offset || part.ended) return Buffer.concat(parts).toString('utf8')
      offset = part.next
    }
  }
}

/** @throws CommandTimeoutError, CancelledError, CommandError: for what ended it that was not itself */
export function assertOwnEnd({ outcome, status, note, autoRollback }: Ended, signal?: AbortSignal): void {
  const data = { ...outcome, autoRollback }
  if (status === 'timed-out')
    throw new CommandTimeoutError(
      `The command ran into its time limit and was ended after ${seconds(outcome.durationMs)}.`,
      { nextStep: backAt(autoRollback), data },
    )
  if (status === 'cancelled')
    throw new CancelledError(`The command was ${note ?? (signal?.aborted ? 'stopped by its signal' : 'stopped')}.`, {
      data,
      cause: signal?.aborted ? signal.reason : undefined,
    })
  if (status === 'lost')
    throw new CommandError('The command ended unseen: its sandbox was stopped under it.', { nextStep: note, data })
}

/** @throws CommandError, or as {@link assertOwnEnd} */
export function assertSuccess(ended: Ended, signal?: AbortSignal): void {
  assertOwnEnd(ended, signal)
  const { outcome, autoRollback } = ended
  if (outcome.code === 0) return
  const what = outcome.signal === null ? `failed with code ${outcome.code}` : `was ended by ${outcome.signal}`
  const said = lastLines(outcome.stderr) || lastLines(outcome.stdout)
  throw new CommandError(`The command ${what}${said === '' ? '.' : `:\n${said}`}`, {
    nextStep: backAt(autoRollback),
    data: { ...outcome, autoRollback },
  })
}

const backAt = (done: AutoRollback | null): string | null =>
  done?.status === 'rolled_back' ? `Files and messages are back at ${done.to}; go on from there.` : null

/** As the caller is given it: once it was killed by that, its end is no surprise. */
export function inBackground(running: RunningCommand, { signal, onOutput }: RunOptions): BackgroundCommand {
  const listens = signal !== undefined || onOutput !== undefined
  let killed = false
  const ending = once(() => running.ended())
  // Told of its output and stopped by its signal whether anybody waits or not; a failure is the waiting one's to meet.
  if (listens) ending().catch(ignore)
  return {
    id: running.id,
    read: () => running.read(),
    async wait() {
      const ended = await ending()
      if (!(killed && ended.status === 'cancelled' && ended.note === null)) assertOwnEnd(ended, signal)
      return ended.outcome
    },
    kill() {
      killed = true
      return running.kill()
    },
  }
}

const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined
  return () => {
    result ??= work()
    return result
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Why a program failed stands at the end of what it said. */
const SAID = 2_000
const lastLines = (text: string): string => {
  const said = text.trimEnd()
  return said.length <= SAID ? said : `...${said.slice(-SAID)}`
}

const ignore = (): void => {}
