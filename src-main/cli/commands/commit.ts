/** `rewind commit`: what the session changed, written to the workspace on the host; with a look at it first, and back. */
import { resolve } from 'node:path'
import { reasonOf, wholeText } from '../../contract/commit-words.ts'
import { CommitConflictError, InvalidOptionError } from '../../contract/errors.ts'
import type { ChosenHunks, ChosenPath, CommitEntry, CommitPreview, CommitResult } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import type { Cli } from '../cli.ts'
import { type Define, FailureWithData, given } from '../command.ts'
import { hunkText } from '../hunk-text.ts'
import { count } from '../output.ts'
import { writeWhole } from '../whole-file.ts'

interface Options {
  dryRun?: boolean
  force?: boolean
  skipConflicts?: boolean
  undo?: boolean
  branch?: string
  message?: string
  patch?: string
  hunks?: boolean
  hunk?: string[]
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
    .option('--hunks', 'list what of the one file can be taken by itself, each with its name')
    .option('--hunk <names...>', 'of the one file these alone; what the host changed elsewhere in it stays')
    .option('--undo', 'take the last commit back from the host')
    .option('--branch <name>', 'as one commit on a new branch of the repository there; its files stay as they are')
    .option('-m, --message <text>', 'of that commit')
    .option('--patch <file>', 'as a patch for `git apply`, - is stdout; code 1 where that cannot hold everything')
    .action(
      action<Options>(async (cli, operands, options) => {
        const paths = given(operands)
        assertOneWay(paths, options)
        if (options.undo) return undo(cli, options)
        const chosen = paths.length === 0 ? null : paths.map(chosenPath)
        if (options.patch !== undefined) return writePatch(cli, chosen, options.patch)
        if (options.branch !== undefined) return toBranch(cli, chosen, options.branch, options.message)
        if (options.hunks) return listHunks(cli, chosen?.[0] as ChosenPath)
        const what: What = options.hunk
          ? { paths: [], hunks: hunksOf(chosen, options.hunk) }
          : { paths: chosen, hunks: [] }
        if (options.dryRun) return show(cli, what, options)
        const { rpc, session } = await cli.begin('acts')
        const { force = false, skipConflicts = false } = options
        await tell(cli, await rpc.commit.apply({ session, ...what, force, skipConflicts }))
      }),
    )
}

/** What is to be committed. */
interface What {
  paths: ChosenPath[] | null
  hunks: ChosenHunks[]
}

const hunksOf = (chosen: readonly ChosenPath[] | null, take: string[]): ChosenHunks[] =>
  (chosen ?? []).map((path) => ({ ...path, take }))

function assertOneWay(paths: readonly string[], options: Options): void {
  const { undo, dryRun, force, skipConflicts, branch, message, patch, hunks, hunk } = options
  if ((hunks || hunk) && (paths.length !== 1 || undo || branch !== undefined || patch !== undefined))
    throw new InvalidOptionError('Hunks are of one file: name it, and say nothing of --undo, --branch or --patch.')
  if (hunks && (hunk || dryRun || force || skipConflicts))
    throw new InvalidOptionError('--hunks lists and writes nothing: leave the other options out.')
  const toHost = [dryRun, force, skipConflicts].some((option) => option === true)
  if (undo && (paths.length > 0 || toHost || branch !== undefined || patch !== undefined))
    throw new InvalidOptionError('A commit is undone as a whole: --undo takes nothing beside it.')
  if (branch !== undefined && patch !== undefined)
    throw new InvalidOptionError('It goes to a branch or into a patch: say one of --branch and --patch.')
  if (toHost && (branch !== undefined || patch !== undefined))
    throw new InvalidOptionError(
      'Nothing stands in the way of a branch or a patch: leave --dry-run, --force and --skip-conflicts out.',
    )
  if (message !== undefined && branch === undefined)
    throw new InvalidOptionError('Only a commit on a branch has a message: --message goes with --branch.')
}

/** Paths of the workspace, as a shell completes them. */
function chosenPath(path: string): ChosenPath {
  const plain = path.replace(/^(\.\/+)+/, '').replace(/\/+$/, '')
  if (plain === '' || plain === '.') throw new InvalidOptionError('Without a path everything is committed.')
  return { path: plain, rawPath: null }
}

async function undo(cli: Cli, { force = false }: Options): Promise<void> {
  const { rpc, session } = await cli.begin('acts')
  const result = await rpc.commit.undo({ session, force })
  cli.out.result(result, `Undone: the host has again what it had before (${summary(result.counts)}).`)
}

async function listHunks(cli: Cli, path: ChosenPath): Promise<void> {
  const { rpc, session } = await cli.begin()
  const found = await rpc.commit.hunks({ session, ...path })
  if (found.kind === 'whole') {
    cli.out.result(
      { hunks: [], whole: found.reason },
      `${visibleName(path.path)} ${wholeText[found.reason]}: it goes whole.`,
    )
    return
  }
  const hunks = found.stretches.filter(({ id }) => id !== null)
  cli.out.result({ hunks, whole: null }, hunks.map(hunkText).join('\n\n'))
}

async function show(cli: Cli, what: What, manner: Manner): Promise<void> {
  const { rpc, session } = await cli.begin()
  const preview = await rpc.commit.preview({ session, ...what })
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

async function toBranch(cli: Cli, paths: ChosenPath[] | null, name: string, message = ''): Promise<void> {
  const { rpc, session } = await cli.begin('acts')
  const made = await rpc.commit.branch({ session, paths, name, message: message === '' ? null : message })
  for (const { path, reason } of made.skipped) cli.out.problem(`rewind: left out: ${visibleName(path)}: ${reason}`)
  for (const path of made.ignored) cli.out.note(`left out, as git ignores it: ${visibleName(path)}`)
  cli.out.result(
    made,
    `Committed to the new branch ${visibleName(made.branch)}: ${count(made.written, 'file')}\n  see it with \`git show ${made.commit.slice(0, 12)}\``,
  )
}

/** The patch goes where it was asked for; what it does not hold is told beside it. */
async function writePatch(cli: Cli, paths: ChosenPath[] | null, file: string): Promise<void> {
  if (file === '-' && cli.out.json) throw new InvalidOptionError('With --json a patch goes to a file, not to -.')
  const { rpc, session } = await cli.begin()
  const left: { path: string; reason: string }[] = []
  const parts = await rpc.commit.patch({ session, paths })
  const texts = async function* () {
    for await (const part of parts)
      if ('text' in part) yield part.text
      else left.push(...part.left)
  }
  const path = resolve(file)
  if (file !== '-') await writeWhole(path, texts())
  else for await (const text of texts()) await cli.out.part(text)
  for (const one of left) cli.out.problem(`rewind: the patch does not hold ${visibleName(one.path)}: ${one.reason}`)
  if (left.length > 0) cli.exitCode = 1
  if (file !== '-') cli.out.result({ path, left }, `Wrote ${visibleName(path)}`)
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
