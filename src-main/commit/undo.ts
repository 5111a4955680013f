/** What undoing a commit would do: its own work the other way round, from what it took away. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommitConflictError, InvalidOptionError } from '../contract/index.ts'
import { type ByteString, readableBytes, toBytes } from '../sandbox/index.ts'
import { type HostTree, isSame, seenOf } from './host-tree.ts'
import type { Replacement, Work } from './steps.ts'

const run = promisify(execFile)
const PERMISSIONS = 0o7777
/** Git writes it anew when somebody only looks: `git status` does. */
const GIT_INDEX = /(^|\/)\.git\/index$/

/**
 * @param done what the commit did
 * @param from where what it took away is kept
 * @param folder a new one with `new` and `old`, on the workspace's file system
 * @throws CommitConflictError where entries are not as the commit left them, InvalidOptionError where what it replaced is
 *   not kept
 */
export async function prepareUndo(done: Work, from: string, folder: string, tree: HostTree): Promise<Work> {
  const changed: ByteString[] = []
  for (const { path, fresh } of done.replacements)
    if (!isSame(tree.look(path), fresh) && !GIT_INDEX.test(path)) changed.push(path)
  for (const { path, seen, mode } of done.modes) {
    const now = tree.look(path)
    if (now?.ino !== seen.ino || (now.mode & PERMISSIONS) !== mode) changed.push(path)
  }
  if (changed.length > 0) throw changedSince(changed)

  const put = new Set(done.replacements.map(({ path }) => path))
  const taken = await readdir(join(from, 'old'))
  // Hard links where the file system has them: what is kept stays whole until the undo is recorded.
  const copy = (...how: string[]) => run('cp', ['-a', ...how, '--', `${from}/old/.`, join(folder, 'new')])
  if (taken.length > 0) await copy('-l').catch(() => copy('--remove-destination'))
  const replacements = done.replacements.map(({ path, old, fresh, edited }, n): Replacement => {
    const kept = seenOf(join(folder, 'new', String(n)))
    if (old !== null && kept === null) throw notKept(path)
    const others = edited ? { edited: { old: edited.fresh, fresh: edited.old } } : {}
    return { path, old: fresh && tree.look(path), fresh: kept, ...others }
  })
  return {
    workspace: done.workspace,
    root: tree.root,
    replacements,
    // Of what was put itself the permissions go with it.
    modes: done.modes
      .filter(({ path }) => !put.has(path))
      .map(({ path, seen, mode }) => ({
        path,
        seen: { ...seen, mode: (seen.mode & ~PERMISSIONS) | mode },
        mode: seen.mode & PERMISSIONS,
      })),
  }
}

const notKept = (path: ByteString): InvalidOptionError =>
  new InvalidOptionError(
    `What the commit replaced at ${readableBytes(toBytes(path))} is no longer kept; nothing was undone.`,
    {
      nextStep: 'Take the changes back by hand, or from your own version control.',
    },
  )

function changedSince(paths: readonly ByteString[]): CommitConflictError {
  const names = paths.map((path) => readableBytes(toBytes(path)))
  const listed = names.slice(0, 5).join(', ')
  return new CommitConflictError(
    `${listed}${names.length > 5 ? ` and ${names.length - 5} more` : ''} changed on the host since the commit, so nothing was undone.`,
    {
      nextStep: 'Put them back as the commit left them, or take the changes back by hand.',
      data: { conflicts: [], obstacles: [], sessions: [], paths: names },
    },
  )
}
