/** Where a commit is prepared: on the workspace's file system, so that a rename is all that is left to do, but outside it. */
import { execFile } from 'node:child_process'
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { DiskFullError, InvalidPathError } from '../contract/index.ts'
import { mountOf, readMounts } from '../sandbox/index.ts'

const run = promisify(execFile)

/** Folders within the workspace that are ours: of a commit that has nowhere else to be prepared. */
export const OURS_WITHIN = '.rewind-commit-'

/**
 * A folder for one commit, with `new` and `old` in it.
 * @param home folder of the data folder where commits are kept
 * @param id of the commit
 * @param chosen is told where, before anything is there
 * @throws InvalidPathError where the workspace cannot be written at all, DiskFullError
 */
export async function makeStaging(
  workspace: string,
  home: string,
  id: string,
  chosen: (folder: string) => void,
): Promise<string> {
  const folder = stagingFolder(workspace, home, id)
  chosen(folder)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const part of ['new', 'old']) await mkdir(join(folder, part), { mode: 0o700 })
    return folder
  } catch (error) {
    await removeStaging(folder)
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new DiskFullError("There is no space left on the workspace's disk.", {
        nextStep: 'Free some space.',
        cause: error,
      })
    throw new InvalidPathError(`${workspace} cannot be written by this user: ${message}.`, {
      nextStep: 'Check its rights, or write the changes out as a patch.',
      data: { path: workspace },
      cause: error,
    })
  }
}

/** All of it, whatever stands there. */
export const removeStaging = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/** The data folder where it is on the same mount, else beside the workspace, else, where nobody may write there, within. */
function stagingFolder(workspace: string, home: string, id: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const parent = dirname(workspace)
  if (sameMount(home, workspace)) return join(home, id)
  if (sameMount(parent, workspace) && isWritable(parent)) return join(parent, `.${basename(workspace)}.rewind-${id}`)
  return join(workspace, `${OURS_WITHIN}${id}`)
}

/** Whether an entry can be renamed from one folder to the other: of one file system, and seen through one mount. */
function sameMount(one: string, other: string): boolean {
  if (lstatSync(one).dev !== lstatSync(other).dev) return false
  const mounts = readMounts('self')
  return mountOf(mounts, one) === mountOf(mounts, other)
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Copies what a commit took away to where it is kept from here on, in the data folder; what it is copied from stays until
 * that is written down.
 * @returns the copy; the folder itself where it lies there already, or where there is no room for a copy
 */
export async function keepReplaced(folder: string, home: string, id: string): Promise<string> {
  const kept = join(home, id)
  if (folder === kept) return kept
  try {
    await run('cp', ['-a', '--', folder, kept])
    return kept
  } catch {
    await removeStaging(kept)
    return folder
  }
}

/**
 * Has what was written to the file system reach the disk, soon: what a power cut takes before is still in the sandbox, and
 * what was replaced is kept. Nobody waits for it, as it takes along whatever else is on its way to that disk.
 */
export function syncSoon(folder: string): void {
  execFile('sync', ['-f', '--', folder], () => {})
}
