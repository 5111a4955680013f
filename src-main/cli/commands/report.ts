/** `rewind report`: a run on one page, to keep, to send or to print. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvalidOptionError } from '../../contract/errors.ts'
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { writeWhole } from '../whole-file.ts'

interface Options {
  out?: string
  force?: boolean
}

export const defineReport: Define = (program, action) => {
  program
    .command('report')
    .description('the run on one page of HTML: timeline, cost, ledger, files changed; a browser prints it as PDF')
    .option('--out <file>', 'where to write it; - or nothing is standard output')
    .option('--force', 'also where the file is there already')
    .action(
      action<Options>(async (cli, _operands, { out = '-', force = false }) => {
        if (out === '-' && cli.out.json)
          throw new InvalidOptionError('With --json a report goes to a file.', {
            nextStep: 'For example: rewind --json report --out report.html',
          })
        const path = resolve(out)
        if (out !== '-' && !force && existsSync(path))
          throw new InvalidOptionError(`${visibleName(path)} is there already.`, {
            nextStep: 'Name another file, or replace it with --force.',
          })
        const { rpc, session } = await cli.begin()
        const pieces = Readable.from(await rpc.ledger.report({ session }))
        if (out === '-') return pipeline(pieces, process.stdout, { end: false })
        await writeWhole(path, pieces, 0o600)
        cli.out.result({ path }, `Wrote ${visibleName(path)}`)
      }),
    )
}
