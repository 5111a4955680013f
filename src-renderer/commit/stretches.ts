/** What is said of hunks, and what a merge takes of them at first. */
import type { FileStretch } from '../../src-main/contract/index.ts'

/** For a control: `Hunk 2 of 3, line 14`. */
export function spokenHunk(hunk: FileStretch, hunks: readonly FileStretch[]): string {
  return `Hunk ${hunks.indexOf(hunk) + 1} of ${hunks.length}, line ${hunk.at.sandbox}`
}

/** Everything that the host did not change as well. */
export const mergedAtFirst = (stretches: readonly FileStretch[]): Set<string> =>
  new Set(stretches.flatMap(({ kind, id }) => (kind === 'sandbox' && id !== null ? [id] : [])))

export const idsOf = (stretches: readonly FileStretch[]): string[] => stretches.flatMap(({ id }) => id ?? [])
