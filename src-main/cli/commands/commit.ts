/** `rewind commit`: what the session changed, written to the workspace on the host; with a look at it first, and back. */
import { reasonOf } from '../../contract/commit-words.ts'
import { CommitConflictError, InvalidOptionError } from '../../contract/errors.ts'
import type { ChosenPath, CommitEntry, CommitPreview, CommitResult } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import type { Cli } from '../cli.ts'
import { type Define, FailureWithData, given } from '../command.ts'
import { count } from '../output.ts'

interface Options {
  dryRun?: boolean
  force?: boolean
  skipConflicts?: boolean
  undo?: boolean
}

/** How conflicts are to be dealt with. */
type Manner = Pick<Options, 'force' | 'skipConflicts'>

export const defineCommit: Define = (program, action) => {
  program
    .command('commit')
    .description('write what the session changed to the workspace on the host: all of it, or nothing')
    .argument('[paths...]', 'these alone; a folder stands for all in it')
    .option('--dry-run', 'show what would be written and what stands in the way; code 7 where something does')
    .option('--force', 'have it as the sandbox does where both changed')
    .option('--skip-conflicts', 'leave what is in conflict as the host has it')
    .option('--undo', 'take the last commit back from the host')
    .action(
      action<Options>(async (cli, operands, options) => {
        const paths = given(operands)
        assertOneWay(paths, options)
        if (options.undo) return undo(cli)
        const chosen = paths.length === 0 ? null : paths.map(chosenPath)
        if (options.dryRun) return show(cli, chosen, options)
        const { rpc, session } = await cli.begin('acts')
        const { force = false, skipConflicts = false } = options
        await tell(cli, await rpc.commit.apply({ session, paths: chosen, force, skipConflicts }))
      }),
    )
}

function assertOneWay(paths: readonly string[], options: Options): void {
  if (options.undo && (paths.length > 0 || options.dryRun || options.force || options.skipConflicts))
    throw new InvalidOptionError('A commit is undone as a whole: --undo takes nothing beside it.')
}

/** Paths of the workspace, as a shell completes them. */
function chosenPath(path: string): ChosenPath {
  const plain = path.replace(/^(\.\/+)+/, '').replace(/\/+$/, '')
  if (plain === '' || plain === '.') throw new InvalidOptionError('Without a path everything is committed.')
  return { path: plain, rawPath: null }
}

async function undo(cli: Cli): Promise<void> {
  const { rpc, session } = await cli.begin('acts')
  const result = await rpc.commit.undo({ session })
  cli.out.result(result, `Undone: the host has again what it had before (${summary(result.counts)}).`)
}

async function show(cli: Cli, paths: ChosenPath[] | null, manner: Manner): Promise<void> {
  const { rpc, session } = await cli.begin()
  const preview = await rpc.commit.preview({ session, paths })
  const { changeLetter } = await import('../../diff/index.ts')
  for (const entry of preview.entries) {
    const why = reasonOf(entry)
    const remarks = [why && `! ${why}`, entry.warning && `(${entry.warning})`].filter((remark) => remark !== null)
    cli.out.line([`${changeLetter(entry.status)} ${shownPath(entry)}`, ...remarks].join('  '))
  }
  if (preview.truncated) cli.out.line('  and more')
  for (const warning of preview.warnings) cli.out.note(visible(warning))
  const stopped = inTheWay(preview, manner)
  if (stopped > 0)
    throw new FailureWithData(
      new CommitConflictError(`${count(stopped, 'entry stands', 'entries stand')} in the way of a commit.`, {
        nextStep: '--skip-conflicts leaves them as the host has them, --force has them as the sandbox does.',
      }),
      preview,
    )
  cli.out.result(preview, '')
  cli.out.note(preview.entries.length === 0 ? 'The host has it all.' : `Would be written: ${summary(preview.counts)}.`)
}

/** How many entries would stop a commit. */
function inTheWay({ entries, conflicts, obstacles }: CommitPreview, { force, skipConflicts }: Manner): number {
  if (skipConflicts) return 0
  if (!force) return conflicts + obstacles
  // What the sandbox never saw is not removed by force either; it stays, and stops nothing.
  return entries.filter(({ obstacle }) => obstacle !== null).length
}

async function tell(cli: Cli, result: CommitResult): Promise<void> {
  const { written, skipped, truncated, status, counts, warnings, refs } = result
  for (const warning of warnings) cli.out.problem(`rewind: ${visible(warning)}`)
  for (const entry of written)
    if (entry.warning) cli.out.problem(`rewind: ${shownPath(entry)}: ${visible(entry.warning)}`)
  for (const entry of skipped) cli.out.problem(`rewind: left as it is: ${shownPath(entry)}: ${reasonOf(entry)}`)
  const { changeLetter } = await import('../../diff/index.ts')
  const text =
    status === 'nothing'
      ? [skipped.length > 0 ? 'Nothing else was to be committed.' : 'Nothing to commit: the host has it all.']
      : [
          ...written.map((entry) => `${changeLetter(entry.status)} ${shownPath(entry)}`),
          ...(truncated ? ['  and more'] : []),
          `Committed: ${summary(counts)}`,
          ...refs.map((ref) => `  the sandbox's own commits are at ${visibleName(ref)}`),
          '  `rewind commit --undo` takes this back',
        ]
  cli.out.result(result, text.join('\n'))
}

const shownPath = ({ path, kind }: CommitEntry): string => visibleName(kind === 'folder' ? `${path}/` : path)

const summary = ({ added, modified, deleted }: CommitPreview['counts']): string =>
  `${added} added, ${modified} modified, ${deleted} deleted`
