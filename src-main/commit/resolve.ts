/** What is written of a plan, as a person wants conflicts to be dealt with. */
import { CommitConflictError, type CommitEntry, conflictText, obstacleText } from '../contract/index.ts'
import { type ByteString, readableBytes, toBytes } from '../sandbox/index.ts'
import { type HostTree, isFolder } from './host-tree.ts'
import { foldersInUse, type Plan, type PlanEntry } from './plan.ts'
import type { MissingFolder } from './prepare.ts'

export interface Resolution {
  /** Sorted by path. */
  writes: PlanEntry[]
  /** Folders on the way to them that the host has no more; outermost first. */
  missing: MissingFolder[]
  /** Left as the host has them. */
  skipped: PlanEntry[]
}

/** Paths that an error's message names. */
const NAMED = 5
/** Entries that its data lists. */
const LISTED = 1_000

/**
 * @param how.force the sandbox's side wins where both changed; what the sandbox never saw stays all the same
 * @param how.skipConflicts leaves out what is in conflict, or cannot be written
 * @throws CommitConflictError that names them where neither is wanted, or force does not help
 */
export function resolvePlan(
  { entries }: Plan,
  tree: HostTree,
  how: { force: boolean; skipConflicts: boolean },
): Resolution {
  const isFree = ({ conflict, obstacle }: PlanEntry): boolean =>
    obstacle === null && (conflict === null || conflict === 'folder-in-use' || how.force)
  const inUse = foldersInUse(entries, tree, isFree)
  const goes = (entry: PlanEntry): boolean => isFree(entry) && !inUse.has(entry.path)
  const skipped = entries.filter((entry) => !goes(entry))
  const stopping = skipped.filter(({ obstacle }) => !how.force || obstacle !== null)
  if (stopping.length > 0 && !how.skipConflicts) throw conflictError(stopping)
  const writes = entries.filter(goes)
  return { writes, missing: missingFolders(writes, tree), skipped }
}

export const commitEntry = ({ change, conflict, obstacle, warning, part }: PlanEntry): CommitEntry => ({
  ...change,
  conflict,
  obstacle,
  warning,
  ...(part && !part.isAll ? { part: true } : {}),
})

function missingFolders(writes: readonly PlanEntry[], tree: HostTree): MissingFolder[] {
  const made = new Set(writes.flatMap(({ path, after }) => (after?.kind === 'folder' ? [path] : [])))
  const missing = new Map<ByteString, MissingFolder>()
  for (const { path, after } of writes) {
    if (after === null || tree.at(path) !== null) continue
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at)
      if (made.has(folder) || missing.has(folder)) continue
      const host = tree.look(folder)
      if (host === null || !isFolder(host)) missing.set(folder, { path: folder, host })
    }
  }
  return [...missing.values()]
}

function conflictError(entries: readonly PlanEntry[]): CommitConflictError {
  const conflicts = entries.filter(({ obstacle }) => obstacle === null)
  const obstacles = entries.filter(({ obstacle }) => obstacle !== null)
  const lines = entries.slice(0, NAMED).map(({ path, conflict, obstacle }) => {
    const why = obstacle ? obstacleText[obstacle] : conflictText[conflict ?? 'both-changed']
    return `${readableBytes(toBytes(path))}: ${why}`
  })
  if (entries.length > NAMED) lines.push(`and ${entries.length - NAMED} more`)
  const what = entries.length === 1 ? '1 entry stands' : `${entries.length} entries stand`
  return new CommitConflictError(`${what} in the way, so nothing was committed:\n${lines.join('\n')}`, {
    nextStep:
      conflicts.length > 0
        ? 'Commit with --skip-conflicts to leave them as the host has them, or with --force to have them as the sandbox does.'
        : 'Commit with --skip-conflicts to leave them out.',
    data: {
      conflicts: conflicts.slice(0, LISTED).map(commitEntry),
      obstacles: obstacles.slice(0, LISTED).map(commitEntry),
      sessions: [],
    },
  })
}
