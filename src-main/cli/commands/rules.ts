/** `rewind auto-checkpoint`, `rewind auto-rollback`, `rewind verify`: what the session does by itself. */
import { Argument } from 'commander'
import {
  CommandError,
  InvalidOptionError,
  VerificationFailedError,
  VerificationHaltError,
  VerificationUnknownError,
} from '../../contract/errors.ts'
import type { RollbackEvent, Rules, VerifierSpec } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import { askedHere, type Rpc } from '../../serve/client/index.ts'
import type { Cli } from '../cli.ts'
import { type Define, given } from '../command.ts'
import { delay, seconds, whole } from '../numbers.ts'
import { canAsk, here } from '../prompt.ts'

interface RollbackOptions {
  to?: string
  verifier?: string
  retries?: number
  retryDelay?: number
  timeout?: number
  off?: boolean
}

export const defineRules: Define = (program, action) => {
  program
    .command('auto-checkpoint')
    .description('take a checkpoint before every tool call')
    .option('--keep-last <n>', 'keep only the newest so many', whole(1))
    .option('--off', 'stop it')
    .action(
      action<{ keepLast?: number; off?: boolean }>(async (cli, _operands, options) => {
        const { rpc, session } = await cli.begin('acts')
        const { rules } = await rpc.rules.autoCheckpoint({
          session,
          on: !options.off,
          keepLast: options.keepLast ?? null,
        })
        cli.out.result(rules, describe(rules))
      }),
    )
  program
    .command('auto-rollback')
    .description('roll back when a tool fails or the verifier says no')
    .addArgument(new Argument('[event...]', 'when').choices(['exception', 'test_failure']))
    .option('--to <point>', 'where to; latest by default')
    .option('--verifier <command>', 'a command whose output is the verdict')
    .option('--retries <n>', 'how often an unknown verdict is asked for again', whole(0))
    .option('--retry-delay <seconds>', 'between two of them', delay)
    .option('--timeout <seconds>', 'of one run of the verifier', seconds)
    .option('--off', 'stop it')
    .action(
      action<RollbackOptions>(async (cli, events, options) => {
        const verifier = verifierOf(options)
        const { rpc, session } = await cli.begin('acts')
        const { rules, warnings } = await rpc.rules.autoRollback({
          session,
          on: !options.off,
          ...(events.length > 0 ? { events: given(events) as RollbackEvent[] } : {}),
          to: options.to ?? null,
          verifier,
        })
        for (const warning of warnings) cli.out.note(warning)
        cli.out.result(rules, describe(rules))
      }),
    )
  program
    .command('verify')
    .description('run the verifier, or judge a command by its rules')
    .argument('[command...]')
    .option('--try', 'run it once to see what it says: no rule acts on it, and no verdict is kept')
    .action(
      action<{ try?: boolean }>(async (cli, operands, options) => {
        const { rpc, session } = await cli.begin('acts')
        const command = operands.length > 0 ? given(operands).join(' ') : null
        if (options.try) return tryVerifier(cli, rpc, session, command)
        try {
          const judge = () => rpc.rules.runTests({ session, command })
          const { text, verdict } = await (cli.out.json || !canAsk() ? judge() : askedHere(rpc, session, here, judge))
          cli.out.result({ status: 'pass', text, verdict }, `PASS ${visible(text)}`.trimEnd())
        } catch (error) {
          throw cli.out.json ? error : withVerdict(error)
        } finally {
          // The verdict itself tells of the rollback that it set off.
          await cli.heard(session)
        }
      }),
    )
}

/** @param command null for the rule's own verifier */
async function tryVerifier(cli: Cli, rpc: Rpc, session: string, command: string | null): Promise<void> {
  const known = (await rpc.rules.get({ session })).autoRollback?.verifier
  const verifier = command === null ? known : { ...known, command }
  if (!verifier)
    throw new InvalidOptionError('There is no verifier to try.', {
      nextStep: 'Name the command: rewind verify --try COMMAND.',
    })
  const { status, text, stderr, stdout } = await rpc.rules.tryVerifier({ session, verifier })
  if (status === 'pass') return cli.out.result({ status, text }, `PASS ${visible(text)}`.trimEnd())
  const data = { result: { status, rawOutput: stdout, rawStderr: stderr } }
  const nothing = { nextStep: 'It was tried: no rule acts on it, and no verdict is kept.', data }
  if (status === 'fail') throw new VerificationFailedError(`FAIL ${text}`, nothing)
  throw new VerificationUnknownError(`UNKNOWN ${text}${endOf(stderr)}`, nothing)
}

/** Lines of its stderr that an undecided verifier is shown with. */
const STDERR_LINES = 12

/** The error with the verdict before its text, as a person reads it. */
export function withVerdict(error: unknown): unknown {
  if (error instanceof VerificationFailedError) return new VerificationFailedError(`FAIL ${error.message}`, error)
  if (error instanceof CommandError) return new CommandError(`FAIL ${error.message}`, error)
  if (error instanceof VerificationUnknownError) return new VerificationUnknownError(`UNKNOWN ${error.message}`, error)
  if (!(error instanceof VerificationHaltError)) return error
  const last = error.data.lastResult as { rawStderr?: unknown } | undefined
  const written = typeof last?.rawStderr === 'string' ? last.rawStderr : ''
  return new VerificationHaltError(`UNKNOWN ${error.message}${endOf(written)}`, error)
}

/** The last lines that a verifier wrote to stderr, to stand below its verdict. */
function endOf(stderr: string): string {
  const lines = stderr.trimEnd() === '' ? [] : stderr.trimEnd().split('\n').slice(-STDERR_LINES)
  return lines.length > 0 ? ['', '  Its stderr ended:', ...lines.map((line) => `  | ${line}`)].join('\n') : ''
}

function verifierOf({ verifier, retries, retryDelay, timeout }: RollbackOptions): VerifierSpec | null {
  if (verifier === undefined) {
    if (retries === undefined && retryDelay === undefined && timeout === undefined) return null
    throw new InvalidOptionError('--retries, --retry-delay and --timeout belong to a --verifier.')
  }
  return {
    command: verifier,
    retries: retries ?? 3,
    retryDelayMs: (retryDelay ?? 2) * 1000,
    timeoutMs: (timeout ?? 30) * 1000,
  }
}

function describe({ autoCheckpoint, autoRollback }: Rules): string {
  const keeps = autoCheckpoint?.keepLast ? `, keeps the last ${autoCheckpoint.keepLast}` : ''
  const verifier = autoRollback?.verifier
    ? `, verifier: ${visibleName([autoRollback.verifier.command].flat().join(' '))}`
    : ''
  return [
    `auto-checkpoint: ${autoCheckpoint ? `before every tool call${keeps}` : 'off'}`,
    `auto-rollback: ${autoRollback ? `on ${autoRollback.events.join(', ')} to ${visibleName(autoRollback.to)}${verifier}` : 'off'}`,
  ].join('\n')
}
