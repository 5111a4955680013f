/** `rewind ledger` and `rewind ledger verify`: the record that no rollback touches. */
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Argument, Option } from 'commander'
import { InvalidOptionError } from '../../contract/errors.ts'
import type { LedgerCheck, LedgerEntry, LedgerFormat } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Cli } from '../cli.ts'
import type { Define } from '../command.ts'
import { count, table } from '../output.ts'
import { writeWhole } from '../whole-file.ts'

export const defineLedger: Define = (program, action) => {
  const ledger = program
    .command('ledger')
    .description('verifications, escalations and rollbacks, oldest first')
    .option('--checkpoint <label>', 'those that name this target')
    .option('--type <type>', 'those of one type: verification, rollback, ...')
    .option('--status <status>', 'those with this status')
    .addOption(
      new Option('--export <format>', 'write all of it to FILE, with the hash that it ends in').choices([
        'json',
        'csv',
        'html',
      ]),
    )
    .addArgument(new Argument('[file]', 'of --export; - is standard output'))
    .action(
      action<LedgerOptions>(async (cli, [file], options) => {
        if (options.export !== undefined) return exportTo(cli, file, options.export, options)
        if (file !== undefined)
          throw new InvalidOptionError(`'${visibleName(String(file))}' is no ledger command.`, {
            nextStep: 'A file is written with --export json, csv or html; `rewind ledger verify` checks the chain.',
          })
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
        cli.out.result(chain, checked(chain))
      }),
    )
}

interface LedgerOptions {
  checkpoint?: string
  type?: string
  status?: string
  export?: LedgerFormat
}

function checked({ whole, rows, head, brokenAt, anchor }: LedgerCheck): string {
  if (!whole) return `The ledger was changed: from row ${brokenAt} on it is not what was written.`
  const note = rows > 0 && anchor === 'missing' ? ' No note of its end was kept beside it.' : ''
  return `The ledger is whole: ${count(rows, 'row')}, head ${head}${note}`
}

async function exportTo(cli: Cli, file: unknown, format: LedgerFormat, filters: LedgerOptions): Promise<void> {
  if (typeof file !== 'string')
    throw new InvalidOptionError('--export needs a file to write to.', {
      nextStep: `For example: rewind ledger --export ${format} ledger.${format}`,
    })
  if (filters.checkpoint !== undefined || filters.type !== undefined || filters.status !== undefined)
    throw new InvalidOptionError('An export is of the whole ledger: leave --checkpoint, --type and --status out.')
  if (file === '-' && cli.out.json) throw new InvalidOptionError('With --json an export goes to a file, not to -.')
  const { rpc, session } = await cli.begin()
  const check = await rpc.ledger.verify({ session })
  const pieces = Readable.from(await rpc.ledger.export({ session, format }))
  if (file === '-') return pipeline(pieces, process.stdout, { end: false })
  const path = resolve(file)
  await writeWhole(path, pieces, 0o600)
  if (!check.whole) cli.exitCode = 1
  cli.out.result({ path, format, ...check }, `Wrote ${visibleName(path)}: ${checked(check)}`)
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
