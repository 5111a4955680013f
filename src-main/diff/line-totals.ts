/** How many lines a change of text adds and takes away, in a time that nobody notices. */
import { diffArrays } from 'diff'
import type { FilePair, LineTotals } from '../contract/index.ts'

/** Of one file. */
const ALIGN_MS = 25

/** @returns null where a side is no text, and where it takes too long to say; endings of lines do not count */
export function lineTotals(pair: FilePair): LineTotals | null {
  if (pair.kind !== 'text') return null
  const [before, after] = [linesOf(pair.before ?? ''), linesOf(pair.after ?? '')]
  const shortest = Math.min(before.length, after.length)
  let start = 0
  while (start < shortest && before[start] === after[start]) start++
  let end = 0
  while (end < shortest - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const [gone, come] = [before, after].map((lines) => lines.slice(start, lines.length - end)) as [string[], string[]]
  const parts = diffArrays(gone, come, { timeout: ALIGN_MS })
  if (!parts) return null
  const totals = { added: 0, deleted: 0 }
  for (const { added, removed, value } of parts) {
    if (added) totals.added += value.length
    if (removed) totals.deleted += value.length
  }
  return totals
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  // What follows the last line break is a line only where something stands in it.
  if (lines.at(-1) === '') lines.pop()
  return lines
}
