/** What people see of a difference: counts, letters, lines and patches; and the pieces that git's patches are made of. */
export type { Contents } from './binary.ts'
export { BASE85_LINE_BYTES, base85Line } from './binary.ts'
export { changeLetter, countChanges } from './counts.ts'
export { isHunk, merge, type Stretch, stretchesOf } from './hunks.ts'
export { lineTotals } from './line-totals.ts'
export {
  ALIGN_BYTES,
  contentsNeeded,
  gitName,
  inQuotes,
  isPatchText,
  isWhole,
  lineCounts,
  sideNames,
  statLine,
  textHunks,
  unifiedPatch,
} from './patch.ts'
export { type Candidate, LONGEST_ALIKE_BYTES, renamesAmong } from './renames.ts'
