/** Differences in numbers and single lines: what stands beside a point, in lists and in the terminal. */
import type { Change, ChangeStatus, FileCounts } from '../contract/index.ts'

/**
 * Files that were added, modified and deleted; symlinks, FIFOs and devices count as files. Folders do not: a person
 * who hears "3 files" thinks of what is in them.
 */
export function countChanges(changes: Iterable<Change>): FileCounts {
  const counts: FileCounts = { added: 0, modified: 0, deleted: 0 }
  for (const change of changes) {
    const counted = countedAs(change)
    if (counted !== null) counts[counted]++
  }
  return counts
}

function countedAs({ kind, status }: Change): keyof FileCounts | null {
  // What became a folder was a file before.
  if (kind === 'folder') return status === 'type' ? 'deleted' : null
  return status === 'added' || status === 'deleted' ? status : 'modified'
}

const LETTERS: Record<ChangeStatus, string> = { added: 'A', modified: 'M', deleted: 'D', type: 'T', mode: 'P' }

/** One letter for a status: A added, M modified, D deleted, T another type, P permissions or owner. */
export const changeLetter = (status: ChangeStatus): string => LETTERS[status]
