/** `rewind run` and `rewind shell`: a program, an agent say, whole inside the sandbox, at our terminal. */
import { basename } from 'node:path'
import type { CommandLine, SessionSummary } from '../../contract/index.ts'
import { SHELL_COMMAND } from '../../contract/shell-command.ts'
import { visibleName } from '../../contract/text.ts'
import { isLive } from '../../contract/timeline.ts'
import type { Rpc } from '../../serve/client/index.ts'
import { lendSettings } from '../agent-settings.ts'
import { environmentFor } from '../agents.ts'
import type { Cli } from '../cli.ts'
import { type Define, given } from '../command.ts'
import { type EngineOptions, withEngineOptions, withImage } from '../engine-options.ts'
import { count } from '../output.ts'
import { atTerminal, lendTerminal, terminalSize } from '../terminal.ts'
import { addVariable, commandLine, conclude, ownCode, shown, stopWithUs } from './exec.ts'

interface Options extends EngineOptions {
  env: Record<string, string>
  network: boolean
  auto: boolean
  settings?: boolean
}

export const defineRun: Define = (program, action) => {
  const both = (name: string, description: string) =>
    withEngineOptions(program.command(name).description(description))
      .option('--env <name=value>', 'a variable for it; may be given again', addVariable, {})
      .option('--no-network', 'in a new session: an empty network with loopback up')
  both('run', 'run a program, such as an agent, whole in the sandbox, at this terminal')
    .argument('<command...>', 'PROGRAM ARGUMENT...')
    .option('--no-auto', 'no automatic checkpoint when its files are quiet again')
    .option('--settings', 'give an agent copies of its own settings and login; asked once, and remembered')
    .option('--no-settings', 'give it none')
    .addHelpText(
      'after',
      '\nIn a new session on the current folder, unless --session names one that is live. Its exit code is ours.',
    )
    .action(
      action<Options>(async (cli, operands, options) => {
        const words = given(operands)
        await run(cli, options, commandLine(words, ['--', ...words]), basename(words[0] ?? ''))
      }),
    )
  both('shell', 'a shell in the sandbox').action(
    action<Options>((cli, _, options) => run(cli, { ...options, auto: false }, SHELL_COMMAND, 'shell')),
  )
}

async function run(cli: Cli, options: Options, command: CommandLine, program: string): Promise<void> {
  const rpc = await cli.rpc()
  const session = await sessionFor(cli, rpc, program, options)
  const { variables, own } = environmentFor(program, process.env)
  if (own.length > 0) cli.out.note(`Passed on to ${visibleName(program)}: ${own.join(', ')}.`)
  const running = { session: session.id, id: crypto.randomUUID() }
  await cli.tellOfRewinds(session.id)
  await lendSettings(cli, rpc, session.id, program, options.settings)
  const terminal = atTerminal() ? terminalSize() : undefined
  await rpc.commands.start({
    ...running,
    command,
    env: { ...variables, ...options.env },
    ...(terminal ? { terminal } : {}),
    tool: options.auto ? 'agent' : null,
  })
  const stopped = stopWithUs(cli, rpc, running)
  const waited = rpc.commands.wait(running)
  if (terminal) await lendTerminal(rpc, running)
  const result = terminal ? await waited : await shown(rpc, running, waited)
  // A rewind ends what runs, and cuts its words off: the terminal is ours again, and says why.
  await cli.tellOfRewinds(session.id)
  await sayWhatIsLeft(cli, rpc, session)
  const record = (await rpc.commands.list({ session: session.id })).find(({ id }) => id === running.id)
  if (record?.status !== 'exited' || stopped.by !== null) return conclude(cli, rpc, running, result, undefined)
  // What its own end means is between it and whoever called us.
  cli.exitCode = ownCode(result)
  cli.out.result({ session: session.name, id: result.id, code: result.code, signal: result.signal }, '')
}

/** The live session that was named, else a new one on the current folder, called as the program is. */
async function sessionFor(cli: Cli, rpc: Rpc, program: string, options: Options): Promise<SessionSummary> {
  const live = (await rpc.sessions.list()).filter(isLive)
  const { chosen } = cli
  const found = live.find(({ id, name }) => id === chosen || name === chosen)
  if (found) return found
  const { session } = await rpc.sessions.create({
    name: chosen ?? freeName(program, live),
    workspace: process.cwd(),
    network: options.network,
    ...(await withImage(cli, rpc, options)),
  })
  for (const note of session.notes) cli.out.note(visibleName(note))
  cli.out.note(`Session ${visibleName(session.name)} on ${visibleName(session.workspace)} (${session.engine}).`)
  return session
}

function freeName(program: string, live: readonly SessionSummary[]): string {
  const base = program.replace(/[^\w.-]/g, '-').slice(0, 40) || 'program'
  const taken = new Set(live.map(({ name }) => name))
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.has(name)) return name
  }
}

/** Nothing has reached the host's folder: where it is, and how to look at it. */
async function sayWhatIsLeft(cli: Cli, rpc: Rpc, { id, name }: SessionSummary): Promise<void> {
  const { counts } = await rpc.files.changes({ session: id, from: 'base', limit: 1 })
  const changed = counts.added + counts.modified + counts.deleted
  const shown = visibleName(name)
  cli.out.note(
    changed === 0
      ? `Session ${shown} has changed no file.`
      : `Session ${shown} holds ${count(changed, 'changed file')}: rewind diff base --session ${shown}`,
  )
}
