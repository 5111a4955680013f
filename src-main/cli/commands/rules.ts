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
import { askedHere } from '../../serve/client/index.ts'
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
    .action(
      action(async (cli, operands) => {
        const { rpc, session } = await cli.begin('acts')
        const command = operands.length > 0 ? given(operands).join(' ') : null
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

/** Lines of its stderr that an undecided verifier is shown with. */
const STDERR_LINES = 12

/** The error with the verdict before its text, as a person reads it. */
export function withVerdict(error: unknown): unknown {
  if (error instanceof VerificationFailedError) return new VerificationFailedError(`FAIL ${error.message}`, error)
  if (error instanceof CommandError) return new CommandError(`FAIL ${error.message}`, error)
  if (error instanceof VerificationUnknownError) return new VerificationUnknownError(`UNKNOWN ${error.message}`, error)
  if (!(error instanceof VerificationHaltError)) return error
  const last = error.data.lastResult as { rawStderr?: unknown } | undefined
  const written = typeof last?.rawStderr === 'string' ? last.rawStderr.trimEnd() : ''
  const lines = written === '' ? [] : written.split('\n').slice(-STDERR_LINES)
  const tail = lines.length > 0 ? ['  Its stderr ended:', ...lines.map((line) => `  | ${line}`)] : []
  return new VerificationHaltError([`UNKNOWN ${error.message}`, ...tail].join('\n'), error)
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
