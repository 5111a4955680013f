/** Commits to the host, as a program asks for them and is told of them. */
import type { CommitPreview, CommitEntry as Entry, CommitResult as Result } from '../contract/index.ts'
import { assertOptions, type Check, flag, textList } from './checks.ts'
import type { Change, FileCounts } from './types.ts'

/** How a session's changes are written to its workspace. */
export interface CommitOptions {
  /** Paths in the workspace; a folder stands for all in it. Default: everything that changed. */
  paths?: readonly string[] | undefined
  /** Tells what would be written, and writes nothing. Default false. */
  dryRun?: boolean | undefined
  /** Where the host changed too, what the sandbox has is written. Default false. */
  force?: boolean | undefined
  /** Where the host changed too, what the host has stays. Default false. */
  skipConflicts?: boolean | undefined
}

/** A path that a commit writes. */
export interface CommitEntry extends Change {
  /** How it meets what was changed on the host meanwhile; null where it meets nothing. */
  conflict: string | null
  /** Why it cannot be written at all; null where it can. */
  obstacle: string | null
  /** What a person should know before it is on the host. */
  warning: string | null
}

/** What a commit did, or would do. */
export interface CommitOutcome {
  /** `nothing`: the host had it all; `preview`: a dry run. */
  status: 'committed' | 'nothing' | 'undone' | 'preview'
  /** Names the commit, to be undone; null where none was made. */
  id: string | null
  /** Sorted by path; only the first of thousands. */
  written: CommitEntry[]
  counts: FileCounts
  /** What stays as the host has it: in conflict, or not to be written. */
  skipped: CommitEntry[]
  /** What a person should know. */
  warnings: string[]
  /** Where the sandbox's own commits are in the host's repository, where both sides had changed that. */
  refs: string[]
}

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
