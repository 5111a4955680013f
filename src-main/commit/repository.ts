/**
 * What a folder's `.git` is, told from its files alone: no git is asked, as what stands there may be an agent's, and no
 * symlink is followed.
 */
import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'

export type Busy = 'rebase' | 'merge' | 'cherry-pick' | 'revert' | 'bisect' | 'index.lock'

export type RepositoryState =
  | { kind: 'none' }
  /** `.git` is a folder. */
  | { kind: 'inside'; busy: Busy | null }
  /**
   * `.git` leads elsewhere, as that of a submodule or a linked work tree does. `outside`: out of the folder, or
   * through a symlink, so that it cannot be told; also where only the part that it shares with others lies there.
   */
  | { kind: 'linked'; leadsTo: string; outside: boolean; busy: Busy | null }

/** Longer than any path. */
const MOST_BYTES = 8192

/** @param folder absolute */
export async function inspectRepository(folder: string): Promise<RepositoryState> {
  const git = join(folder, '.git')
  const found = await lstat(git).catch(() => null)
  if (found?.isDirectory()) return { kind: 'inside', busy: await busyIn(git) }
  const pointer = found?.isSymbolicLink()
    ? await readlink(git)
    : found?.isFile()
      ? (await firstLine(git))?.match(/^gitdir: *(.+)$/)?.[1]
      : undefined
  if (pointer === undefined) return { kind: 'none' }
  const leadsTo = resolve(folder, pointer)
  const shared = await firstLine(join(leadsTo, 'commondir'))
  const outside =
    (await leadsOut(folder, leadsTo)) || (shared !== null && (await leadsOut(folder, resolve(leadsTo, shared))))
  return { kind: 'linked', leadsTo, outside, busy: await busyIn(leadsTo) }
}

/** null where it is no file that can be read. */
async function firstLine(path: string): Promise<string | null> {
  // Opening a FIFO would wait for its other end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  if (file === null) return null
  try {
    if (!(await file.stat()).isFile()) return null
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0] ?? null
  } finally {
    await file.close()
  }
}

async function leadsOut(folder: string, target: string): Promise<boolean> {
  const way = relative(folder, target)
  if (way === '' || isAbsolute(way) || way.split('/')[0] === '..') return true
  for (let here = target; here !== folder; here = dirname(here))
    if ((await lstat(here).catch(() => null))?.isSymbolicLink()) return true
  return false
}

/** As git's own wt-status.c tells them apart; index.lock: a git is at work, or ended in the middle. */
const SIGNS: readonly [file: string, busy: Busy][] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
  ['index.lock', 'index.lock'],
]

async function busyIn(gitDir: string): Promise<Busy | null> {
  // Between two commits of several that are picked, only the list of what is to come is there.
  const next = (await firstLine(join(gitDir, 'sequencer/todo')))?.split(' ', 1)[0]
  const picking: Busy | null = next === 'pick' || next === 'p' ? 'cherry-pick' : next === 'revert' ? 'revert' : null
  for (const [file, busy] of SIGNS) {
    if (file === 'BISECT_LOG' && picking !== null) return picking
    if ((await lstat(join(gitDir, file)).catch(() => null)) !== null) return busy
  }
  return null
}
