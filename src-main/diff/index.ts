/** What people see of a difference: counts, letters, lines and patches. */
export { changeLetter, countChanges } from './counts.ts'
export { lineCounts, statLine, unifiedPatch } from './patch.ts'
