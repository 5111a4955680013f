/** Commits to the host, as a program asks for them and is told of them. */
import type { CommitPreview, CommitEntry as Entry, CommitResult as Result } from '../contract/index.ts'
import { assertOptions, type Check, flag, textList } from './checks.ts'
import type { CommitOptions, CommitOutcome } from './types.ts'

const checks: Record<keyof CommitOptions, Check> = {
  paths: textList,
  dryRun: flag,
  force: flag,
  skipConflicts: flag,
}

/** @throws InvalidOptionError */
export function assertCommit(options: CommitOptions): void {
  assertOptions('commit()', options, checks)
}

export const chosen = ({ paths }: CommitOptions) => paths?.map((path) => ({ path: path.replace(/\/+$/, '') })) ?? null

/** @internal */
export const outcomeOf = ({ status, commit, written, counts, skipped, warnings, refs }: Result): CommitOutcome => ({
  status,
  id: commit?.id ?? null,
  written,
  counts,
  skipped,
  warnings,
  refs,
})

/** @internal */
export function outcomeOfPreview({ entries, counts, warnings }: CommitPreview): CommitOutcome {
  const isStopped = ({ conflict, obstacle }: Entry): boolean => conflict !== null || obstacle !== null
  return {
    status: 'preview',
    id: null,
    written: entries.filter((entry) => !isStopped(entry)),
    counts,
    skipped: entries.filter(isStopped),
    warnings,
    refs: [],
  }
}
