/** `rewind rollback`, `rewind rewind`, `rewind undo`: going back, with and without a question first. */
import { Option } from 'commander'
import { CheckpointNotFoundError, DeclinedError, InvalidOptionError } from '../../contract/errors.ts'
import type { ChangeStatus, RewindPreview, RollbackResult } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import { bareRewindTarget, nameOf } from '../../contract/timeline.ts'
import type { Rpc } from '../../serve/client/index.ts'
import type { Cli } from '../cli.ts'
import type { Define } from '../command.ts'
import { ago, count } from '../output.ts'
import { canAsk, confirm } from '../prompt.ts'

/** Paths that a question lists before it only counts them. */
const LISTED = 10

export const defineRewind: Define = (program, action) => {
  program
    .command('rollback')
    .description('take files, messages and processes back to a checkpoint, without asking')
    .argument('[label]', 'a label or an id', 'latest')
    .option('--patch-notes <text>', 'what the agent is told on the way back')
    .addOption(new Option('--only <half>', 'move one half alone').choices(['files', 'messages']))
    .action(
      action<{ patchNotes?: string; only?: 'files' | 'messages' }>(async (cli, [to = 'latest'], options) => {
        const { rpc, session } = await cli.begin('acts')
        const result = await rpc.timeline.rollback({
          session,
          to,
          only: options.only ?? null,
          patchNotes: options.patchNotes ?? null,
        })
        await tell(cli, session, result)
      }),
    )
  program
    .command('rewind')
    .description('go back to the newest checkpoint, or another one, after a look at what will be lost')
    .argument('[point]', 'a label or an id; the newest checkpoint by default')
    .option('--to <point>', 'the same')
    .option('-y, --yes', 'do not ask')
    .action(
      action<{ to?: string; yes?: boolean }>(async (cli, [point], options) => {
        if (point !== undefined && options.to !== undefined && point !== options.to)
          throw new InvalidOptionError(`It cannot go to ${visibleName(point)} and to ${visibleName(options.to)}.`)
        const { rpc, session } = await cli.begin('acts')
        const named = options.to ?? point ?? (await bareTarget(rpc, session))
        const to = options.yes ? named : await agreedTo(cli, await rpc.timeline.preview({ session, to: named }))
        await tell(cli, session, await rpc.timeline.rollback({ session, to }))
      }),
    )
  program
    .command('undo')
    .description('undo the last rollback')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin('acts')
        await tell(cli, session, await rpc.timeline.undo({ session }))
      }),
    )
}

/** @throws CheckpointNotFoundError where there is none: base is a target only when it is named */
async function bareTarget(rpc: Rpc, session: string): Promise<string> {
  const { points, head } = await rpc.timeline.get({ session })
  const target = bareRewindTarget(points, head)
  if (target?.kind === 'checkpoint') return target.id
  throw new CheckpointNotFoundError('There is no checkpoint to rewind to.', {
    nextStep: '`rewind rewind --to base` takes the workspace back to how it was at the start.',
  })
}

/**
 * Asks whether what is previewed shall be done.
 * @returns the very point that was shown: a name may mean another one by the time of the answer
 * @throws DeclinedError
 */
async function agreedTo(cli: Cli, preview: RewindPreview): Promise<string> {
  if (cli.out.json || !canAsk())
    throw new DeclinedError('A rewind asks first, and nobody is here to be asked. Nothing was changed.', {
      nextStep: 'Say -y to rewind without being asked.',
    })
  const { changeLetter } = await import('../../diff/index.ts')
  process.stderr.write(`${describe(preview, changeLetter)}\n`)
  await confirm(`Rewind to ${idAndLabel(preview.to)}?`)
  return preview.to.id
}

function describe(
  { to, changes, counts, messagesLost, processes, pointsLeft }: RewindPreview,
  letterOf: (status: ChangeStatus) => string,
): string {
  // The list ends after some thousands; what is counted does not.
  const changed = Math.max(changes.length, counts.added + counts.modified + counts.deleted)
  const lost = [
    changed > 0 ? count(changed, 'file change') : '',
    messagesLost > 0 ? count(messagesLost, 'message') : '',
    processes.length > 0 ? count(processes.length, 'running process', 'running processes') : '',
  ].filter((part) => part !== '')
  const lines = [
    lost.length > 0
      ? `Everything since ${ago(to.at)} will be lost: ${lost.join(', ')}.`
      : `Nothing has changed since ${ago(to.at)}.`,
    ...changes.slice(0, LISTED).map((change) => `  ${letterOf(change.status)} ${visibleName(change.path)}`),
    ...(changed > LISTED ? [`  and ${changed - LISTED} more`] : []),
    ...processes.map(({ pid, command }) => `  stops ${visibleName(command)} (${pid})`),
    ...(pointsLeft.length > 0 ? [`${count(pointsLeft.length, 'later checkpoint')} will leave the line.`] : []),
  ]
  return lines.join('\n')
}

const idAndLabel = ({ id, label }: RewindPreview['to']): string =>
  label === null ? id : `${id} — ${visibleName(label)}`

async function tell(cli: Cli, session: string, result: RollbackResult): Promise<void> {
  await cli.heard(session)
  const { point, status, pointsLeft, branch, stopped, repairs, ms } = result
  const data = {
    checkpoint: nameOf(point),
    id: point.id,
    status,
    ms,
    pointsLeft,
    branch,
    leftAt: result.leftAt,
    stopped,
    repairs,
    counts: result.counts,
    epoch: result.epoch,
    messages: result.messages,
    messageCount: result.messages.length,
    format: result.format,
    conversations: result.conversations,
  }
  const text =
    status === 'skipped_noop'
      ? [`Nothing to take back: everything is as it was at ${idAndLabel(point)}.`]
      : [
          `back at ${idAndLabel(point)} (${Math.round(ms)} ms)`,
          ...(pointsLeft.length > 0
            ? [
                `  ${count(pointsLeft.length, 'later point')} left the line${branch === null ? '' : `, kept as branch ${branch}`}`,
              ]
            : []),
          ...(pointsLeft.length === 0 && branch !== null ? [`  what was left is kept as branch ${branch}`] : []),
          ...stopped.map(({ pid, command }) => `  stopped ${visibleName(command)} (${pid})`),
          ...repairs.map(({ note }) => `  conversation: ${visibleName(note)}`),
          '  `rewind undo` takes this back',
        ]
  cli.out.result(data, text.join('\n'))
}
