/** What people see of a difference: counts, letters, lines and patches. */
export type { Contents } from './binary.ts'
export { changeLetter, countChanges } from './counts.ts'
export { contentsNeeded, isWhole, lineCounts, statLine, unifiedPatch } from './patch.ts'
