/** `rewind pin`, `rewind prune`, `rewind gc`: which points stay, and the disk space of those that do not. */
import type { PruneResult } from '../../contract/index.ts'
import { bytes, visibleName } from '../../contract/text.ts'
import type { Cli } from '../cli.ts'
import { type Define, given } from '../command.ts'
import { size, whole } from '../numbers.ts'
import { count } from '../output.ts'

export const defineRetention: Define = (program, action) => {
  program
    .command('pin')
    .description('keep a point whatever is pruned')
    .argument('<point>', 'a label or an id')
    .option('--off', 'let it be pruned again')
    .action(
      action<{ off?: boolean }>(async (cli, [ref = ''], options) => {
        const { rpc, session } = await cli.begin()
        const point = await rpc.timeline.pin({ session, point: ref, on: !options.off })
        const name = visibleName(point.label ?? point.id)
        cli.out.result({ id: point.id, pinned: point.pinned }, `${name} is ${point.pinned ? '' : 'no longer '}pinned`)
      }),
    )
  program
    .command('prune')
    .description('remove points for good, and free their disk space')
    .argument('[points...]', 'labels or ids')
    .option(
      '--keep <n>',
      'all but the newest so many; pinned points, and those that a rule or undo goes to, stay',
      whole(0),
    )
    .option(
      '--budget <size>',
      'keep the session below so much disk from now on (10GB where nobody said; none: no limit)',
      size,
    )
    .action(
      action<{ keep?: number; budget?: number | null }>(async (cli, points, options) => {
        const { rpc, session } = await cli.begin()
        if (options.budget !== undefined) {
          const { retention } = await rpc.rules.retention({ session, budgetBytes: options.budget })
          const limit = retention.budgetBytes
          const text = limit === null ? 'no limit on disk any more' : `at most ${bytes(limit)} on disk from now on`
          if (given(points).length === 0 && options.keep === undefined) return cli.out.result({ retention }, text)
          cli.out.note(text)
        }
        tell(cli, await rpc.timeline.prune({ session, points: given(points), keep: options.keep ?? null }))
      }),
    )
  program
    .command('gc')
    .description('free what sessions still hold of points that are gone')
    .action(
      action(async (cli) => {
        const rpc = await cli.rpc()
        const total: PruneResult = { removed: [], freed: 0, waits: false }
        for (const { id, status } of await rpc.sessions.list()) {
          if (status === 'destroyed' || status === 'unreachable') continue
          const { freed, waits } = await rpc.timeline.gc({ session: id })
          total.freed += freed
          total.waits ||= waits
        }
        tell(cli, total)
      }),
    )
}

function tell(cli: Cli, result: PruneResult): void {
  const removed = result.removed.length === 0 ? '' : `${count(result.removed.length, 'point')} removed, `
  const waits = result.waits ? '\n  more is freed when the running processes have ended' : ''
  cli.out.result(result, `${removed}${bytes(result.freed)} freed${waits}`)
}
