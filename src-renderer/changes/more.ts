/** How many changes a list leaves out, when the host gave only the first few thousand of them. */
import type { Change } from '../../src-main/contract/index.ts'

/**
 * @param listed the changes that are listed
 * @param given those that the host gave, the listed ones first
 * @param counted how many files changed in all, folders left out
 */
export function moreThan(listed: readonly Change[], given: readonly Change[], counted: number): number {
  const files = (changes: readonly Change[]) => changes.filter(({ kind }) => kind !== 'folder').length
  return Math.max(given.length - listed.length, counted - files(listed))
}
