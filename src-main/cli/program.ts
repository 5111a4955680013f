/** The command line as a whole: which commands there are, what holds for all of them, and how a run ends. */
import { Command, CommanderError, Option } from 'commander'
import { InvalidOptionError } from '../contract/errors.ts'
import { fromRpcError } from '../contract/wire.ts'
import { version } from '../serve/client/index.ts'
import { Cli } from './cli.ts'
import { type Action, type Define, FailureWithData } from './command.ts'
import { separateCommand } from './command-words.ts'
import { defineCheckpoint } from './commands/checkpoint.ts'
import { defineCommit } from './commands/commit.ts'
import { defineDemo } from './commands/demo.ts'
import { defineDestroy } from './commands/destroy.ts'
import { defineDiff } from './commands/diff.ts'
import { defineEscalations } from './commands/escalations.ts'
import { defineEvents } from './commands/events.ts'
import { defineExec } from './commands/exec.ts'
import { defineFiles } from './commands/files.ts'
import { defineHost } from './commands/host.ts'
import { defineInit } from './commands/init.ts'
import { defineLedger } from './commands/ledger.ts'
import { defineMcp } from './commands/mcp.ts'
import { defineMessages } from './commands/messages.ts'
import { definePause } from './commands/pause.ts'
import { defineProcesses } from './commands/processes.ts'
import { defineReport } from './commands/report.ts'
import { defineRetention } from './commands/retention.ts'
import { defineRewind } from './commands/rewind.ts'
import { defineRules } from './commands/rules.ts'
import { defineRun } from './commands/run.ts'
import { defineSetup } from './commands/setup.ts'
import { defineStatus } from './commands/status.ts'
import { Output } from './output.ts'

const families: Define[] = [
  defineInit,
  defineStatus,
  defineFiles,
  defineExec,
  defineRun,
  definePause,
  defineProcesses,
  defineCheckpoint,
  defineRewind,
  defineRetention,
  defineDiff,
  defineCommit,
  defineMessages,
  defineRules,
  defineEscalations,
  defineLedger,
  defineReport,
  defineDestroy,
  defineDemo,
  defineHost,
  defineMcp,
  defineSetup,
  defineEvents,
]

/** Runs one command line; its outcome is the process's exit code. */
export async function run(argv: string[]): Promise<void> {
  let cli: Cli | undefined
  // Whoever reads us may have read enough: that is no error of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      void Promise.resolve(cli?.onReaderGone?.()).finally(() => process.exit(0))
    })
  const program = createProgram((made) => {
    cli = made
  })
  try {
    if (argv.length === 0) program.outputHelp()
    else await program.parseAsync(separateCommand(argv, program), { from: 'user' })
    process.exitCode = cli?.exitCode ?? 0
  } catch (error) {
    process.exitCode = report(error, cli?.out ?? new Output({ json: wantsJson(argv), quiet: false }))
  } finally {
    cli?.close()
  }
}

/** @param onCli told of what a command works with, once one runs */
export function createProgram(onCli: (cli: Cli) => void): Command {
  const program = new Command('rewind')
    .description('A sandbox for AI agents in which everything can be undone, files and conversation together.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showHelpAfterError(false)
    .option('--session <name>', 'the session that is meant ($REWIND_SESSION)')
    .addOption(new Option('--container-name <name>', 'the same as --session').hideHelp())
    .option('--json', 'print exactly one JSON object')
    .option('--quiet', 'no progress and no notes; errors all the same')
  const action: Action =
    (work) =>
    async (...args) => {
      // commander gives the operands, then the options, then the command.
      const options = args.at(-2) as never
      const operands = args.slice(0, -2).flat() as (string | undefined)[]
      const global = program.opts<{ session?: string; containerName?: string; json?: boolean; quiet?: boolean }>()
      const out = new Output({ json: global.json ?? false, quiet: global.quiet ?? false })
      const cli = new Cli(out, global.session ?? global.containerName)
      onCli(cli)
      await work(cli, operands, options)
    }
  for (const define of families) define(program, action)
  return program
}

/** Before the options could be parsed, --json still decides how the complaint looks. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json')
}

/** @returns the exit code */
function report(error: unknown, out: Output): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    const message = error.message.replace(/^error: /, '')
    const usage = new InvalidOptionError(message === '(outputHelp)' ? 'A command is missing.' : message, {
      nextStep: 'See `rewind --help`, or `rewind COMMAND --help`.',
    })
    out.failure(usage, usage.exitCode)
    return usage.exitCode
  }
  if (error instanceof FailureWithData) {
    out.failure(error.error, error.exitCode, error.data)
    return error.exitCode
  }
  const known = fromRpcError(error)
  out.failure(known, known.exitCode)
  return known.exitCode
}
