/** What is asked of the host for the list of the files that differ. */
import type { FileCounts } from '../../src-main/contract/index.ts'
import type { Rpc } from '../host/link.ts'
import { moreThan } from './more.ts'
import { seen } from './seen.ts'

/** Changes in the list; of more, it says how many more there are. */
const LISTED = 10_000

/** The changes, those that moved in one row, and how many there are beyond them. */
export async function listed(
  files: Pick<Rpc['files'], 'changes' | 'renames'>,
  between: { session: string; from: string; to: string },
  signal: AbortSignal,
) {
  const [{ changes, counts, truncated }, { renames }] = await Promise.all([
    files.changes({ ...between, limit: LISTED }, { signal }),
    // Without them a file that moved is two rows: less than could be, but true.
    files.renames(between, { signal }).catch(() => ({ renames: [] })),
  ])
  return { changes: seen(changes, renames), counts, more: truncated ? moreThan(changes, changes, sumOf(counts)) : 0 }
}

const sumOf = ({ added, modified, deleted }: FileCounts): number => added + modified + deleted
