/** What a comparison knows and its lines do not show. */
import type { Comparison } from './compare.ts'

/**
 * What a reader would not see in the lines themselves.
 * @param sides on which of them the file is
 */
export function notesOf(
  comparison: Comparison,
  sides: { before: boolean; after: boolean },
  ignoreWhitespace = false,
): string[] {
  const notes: string[] = []
  const { eol, openEnd, rows, coarse } = comparison
  if (sides.before && sides.after && !ignoreWhitespace) {
    const only = rows.every((row) => row.kind !== 'change')
    const names = eol.before && eol.after && eol.before !== eol.after ? ` (${eol.before} to ${eol.after})` : ''
    if (rows.some((row) => row.kind === 'eol'))
      notes.push(only ? `Only line endings differ${names}` : `Some line endings differ too${names}`)
    if (openEnd.before !== openEnd.after)
      notes.push(openEnd.after ? 'The last line lost its line break' : 'The last line got a line break')
  }
  if (coarse) notes.push('Too different to be compared line by line: shown as replaced')
  return notes
}
