/** `rewind exec`: a command in the sandbox, its output live, its end told. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from 'commander'
import { CancelledError, CommandError, CommandTimeoutError, InvalidOptionError } from '../../contract/errors.ts'
import type { CommandLine, CommandRecord, CommandResult } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Rpc } from '../../serve/client/index.ts'
import type { Cli } from '../cli.ts'
import { type Define, FailureWithData, given } from '../command.ts'
import { seconds } from '../numbers.ts'
import { readStdin } from '../prompt.ts'

interface Options {
  user?: 'agent' | 'root'
  cwd?: string
  env: Record<string, string>
  stdin?: boolean
  timeout?: number
  propagate?: boolean
  asTool?: boolean
}

interface Running {
  session: string
  id: string
}

export const defineExec: Define = (program, action) => {
  program
    .command('exec')
    .description('run a command in the sandbox')
    .argument('<command...>', 'a line for sh, or -- PROGRAM ARGUMENT... without a shell')
    .addOption(
      new Option('--user <name>', 'root may install packages, in a sandbox of docker').choices(['agent', 'root']),
    )
    .option('--cwd <folder>', 'where it runs; the workspace by default')
    .option('--env <name=value>', 'a variable for it; may be given again', addVariable, {})
    .option('--stdin', 'give it our stdin')
    .option('--timeout <seconds>', 'end it and all its children after so long', seconds)
    .option('--propagate', "exit with the command's own code")
    .option('--as-tool', 'count as a tool call: the automatic rules act')
    .addHelpText(
      'after',
      '\nOptions after the first word of the command are its own. It has no terminal: for programs that ask for one\nthere are `rewind run` and `rewind shell`.',
    )
    .action(
      action<Options>(async (cli, operands, options) => {
        const command = commandLine(given(operands), process.argv)
        const { rpc, session } = await cli.begin('acts')
        const running = { session, id: crypto.randomUUID() }
        await rpc.commands.start({
          ...running,
          command,
          cwd: options.cwd ?? null,
          user: options.user,
          env: options.env,
          stdin: options.stdin ? (await readStdin()).toString('base64') : null,
          timeoutMs: options.timeout === undefined ? null : options.timeout * 1000,
          asTool: options.asTool ?? false,
          tool: options.asTool ? 'exec' : null,
        })
        const stopped = stopWithUs(cli, rpc, running)
        const waited = rpc.commands.wait(running)
        const result = cli.out.json ? await whole(rpc, running, await waited) : await shown(rpc, running, waited)
        const own = options.propagate ? ownCode(result) : undefined
        await conclude(cli, rpc, running, result, stopped.by === null ? own : signalCode(stopped.by))
      }),
    )
}

/**
 * What is to run: after `--` a program with its arguments, else a line for the shell, in which a later `--` is a word
 * like any other.
 * @param argv the process's own arguments: `--` is no longer in the operands
 */
export function commandLine(operands: readonly string[], argv: readonly string[]): CommandLine {
  const dashes = argv.indexOf('--')
  return dashes >= 0 && argv.length - dashes - 1 === operands.length ? [...operands] : operands.join(' ')
}

export function addVariable(given: string, known: Record<string, string>): Record<string, string> {
  const at = given.indexOf('=')
  if (at > 0) return { ...known, [given.slice(0, at)]: given.slice(at + 1) }
  throw new InvalidOptionError(`--env takes NAME=VALUE, not '${visibleName(given)}'.`)
}

/**
 * Ctrl-C, a closed terminal or a reader that is gone stop the command in the sandbox; Ctrl-C again leaves at once.
 * @returns the signal that came, once one has
 */
export function stopWithUs(cli: Cli, rpc: Rpc, running: Running): { by: NodeJS.Signals | null } {
  const stopped: { by: NodeJS.Signals | null } = { by: null }
  // Its end comes by the call that waits for it; where the stop itself fails, that call says why.
  const stop = () =>
    rpc.commands.stop(running).then(
      () => {},
      () => {},
    )
  cli.onReaderGone = stop
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      process.once(signal, () => process.exit(signalCode(signal)))
      stopped.by = signal
      void stop()
    })
  return stopped
}

/** Copies output as it comes until the command has ended and all of it was copied. */
export async function shown(rpc: Rpc, running: Running, waited: Promise<CommandResult>): Promise<CommandResult> {
  const ended = new AbortController()
  const over = waited.finally(() => ended.abort())
  // The error is thrown by the last line; here it must not count as unhandled while the copying goes on.
  over.catch(() => {})
  const copies = [
    copy(rpc, running, 'stdout', process.stdout, ended.signal),
    copy(rpc, running, 'stderr', process.stderr, ended.signal),
  ].map((copying) =>
    copying.catch((error: unknown) => {
      // The other one has nobody left to copy for, and would keep this process alive.
      ended.abort()
      throw error
    }),
  )
  await Promise.allSettled(copies)
  await Promise.all(copies)
  return over
}

async function copy(
  rpc: Rpc,
  running: Running,
  stream: 'stdout' | 'stderr',
  to: NodeJS.WritableStream,
  over: AbortSignal,
): Promise<void> {
  let offset = 0
  for (let pauseMs = 10; ; ) {
    // Asked before the bytes are: what came before the end is then among them.
    const last = over.aborted
    const part = await rpc.commands.output({ ...running, stream, offset })
    offset = part.next
    const bytes = Buffer.from(part.bytes, 'base64')
    if (bytes.length > 0) {
      pauseMs = 10
      if (!to.write(bytes)) await new Promise((resolve) => to.once('drain', resolve))
    } else if (part.ended || last) return
    else {
      await sleep(pauseMs, undefined, { signal: over }).catch(() => {})
      pauseMs = Math.min(pauseMs * 1.5, 150)
    }
  }
}

/** The result with all of its output, where the answer held only the end of it. */
async function whole(rpc: Rpc, running: Running, result: CommandResult): Promise<CommandResult> {
  if (!result.truncated) return result
  const all = async (stream: 'stdout' | 'stderr') => {
    const parts: Buffer[] = []
    for (let offset = 0; ; ) {
      const part = await rpc.commands.output({ ...running, stream, offset, limit: 1 << 20 })
      parts.push(Buffer.from(part.bytes, 'base64'))
      if (part.ended || part.next === offset) return Buffer.concat(parts).toString('utf8')
      offset = part.next
    }
  }
  return { ...result, stdout: await all('stdout'), stderr: await all('stderr'), truncated: false }
}

export async function conclude(
  cli: Cli,
  rpc: Rpc,
  running: Running,
  result: CommandResult,
  exitCode: number | undefined,
): Promise<void> {
  const { id, stdout, stderr, code, signal, durationMs, autoRollback } = result
  if (autoRollback) await cli.heard(running.session)
  const data = { id, stdout, stderr, code, signal, durationMs, ...(autoRollback ? { autoRollback } : {}) }
  if (code === 0) return cli.out.result(data, '')
  const record = (await rpc.commands.list({ session: running.session })).find((one) => one.id === id)
  const error = failureOf(result, record)
  throw new FailureWithData(error, data, exitCode ?? error.exitCode)
}

function failureOf({ code, signal, durationMs, autoRollback }: CommandResult, record: CommandRecord | undefined) {
  const back = autoRollback ? `Rolled back to ${autoRollback.checkpoint}; file changes since are gone.` : null
  const nextStep = [record?.note, back].filter((text) => text).join(' ') || null
  const after = `after ${(durationMs / 1000).toFixed(1)} s`
  switch (record?.status) {
    case 'timed-out':
      return new CommandTimeoutError(`The command ran into its time limit and was ended ${after}.`, { nextStep })
    case 'cancelled':
      return new CancelledError(`The command was stopped ${after}.`, { nextStep })
    case 'lost':
      return new CommandError('The command ended unseen: its sandbox was stopped under it.', { nextStep })
    default:
      return new CommandError(
        signal === null ? `The command failed with code ${code}.` : `The command was ended by ${signal}.`,
        { nextStep },
      )
  }
}

const SIGNALS: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
}

/** As a shell would say it: 128 and the signal's number. */
const signalCode = (signal: string): number => 128 + (SIGNALS[signal] ?? 0)

export const ownCode = ({ code, signal }: CommandResult): number => code ?? signalCode(signal ?? '')
