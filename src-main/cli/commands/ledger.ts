/** `rewind ledger` and `rewind ledger verify`: the record that no rollback touches. */
import { InvalidOptionError } from '../../contract/errors.ts'
import type { LedgerEntry } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { count, table } from '../output.ts'

export const defineLedger: Define = (program, action) => {
  const ledger = program
    .command('ledger')
    .description('verifications, escalations and rollbacks, oldest first')
    .option('--checkpoint <label>', 'those that name this target')
    .option('--type <type>', 'those of one type: verification, rollback, ...')
    .option('--status <status>', 'those with this status')
    .action(
      action<{ checkpoint?: string; type?: string; status?: string }>(async (cli, _operands, options) => {
        if (options.type !== undefined || options.status !== undefined) await assertKnown(options)
        const { rpc, session } = await cli.begin()
        const entries = await rpc.ledger.list({
          session,
          checkpoint: options.checkpoint ?? null,
          type: options.type ?? null,
          status: options.status ?? null,
        })
        cli.out.result({ entries, count: entries.length }, ledgerTable(entries))
      }),
    )
  ledger
    .command('verify')
    .description('recompute the chain of hashes')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        const chain = await rpc.ledger.verify({ session })
        if (!chain.whole) cli.exitCode = 1
        cli.out.result(
          chain,
          chain.whole
            ? `The ledger is whole: ${count(chain.rows, 'row')}, head ${chain.head}`
            : `The ledger was changed: from row ${chain.brokenAt} on it is not what was written.`,
        )
      }),
    )
}

/** A misspelt filter would look like a ledger without such rows. @throws InvalidOptionError */
async function assertKnown({ type, status }: { type?: string; status?: string }): Promise<void> {
  const { LedgerEventType, LedgerStatus } = await import('../../contract/model.ts')
  const check = (option: string, given: string | undefined, known: readonly string[]) => {
    if (given !== undefined && !known.includes(given))
      throw new InvalidOptionError(`No ledger row has the ${option} '${visibleName(given)}'.`, {
        nextStep: `It is one of ${known.join(', ')}.`,
      })
  }
  check('type', type, LedgerEventType.options)
  check('status', status, LedgerStatus.options)
}

export function ledgerTable(entries: readonly LedgerEntry[]): string {
  if (entries.length === 0) return 'No entries.'
  return table([
    ['TIMESTAMP', 'TYPE', 'STATUS', 'CHECKPOINT', 'RESOLUTION', 'NOTES'],
    ...entries.map((entry) => [
      entry.timestamp.toISOString(),
      entry.eventType,
      entry.status ?? '-',
      visibleName(entry.checkpoint ?? '-'),
      entry.resolution ?? '-',
      visibleName(firstLine(entry.notes ?? '')),
    ]),
  ])
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''
