/** What a comparison knows and its lines do not show. */
import type { Comparison } from './compare.ts'

/** What a reader would not see in the lines themselves. */
export function notesOf(
  comparison: Comparison,
  before: string | null,
  after: string | null,
  ignoreWhitespace = false,
): string[] {
  const notes: string[] = []
  const { eol, openEnd, rows, coarse } = comparison
  if (before !== null && after !== null && !ignoreWhitespace) {
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
