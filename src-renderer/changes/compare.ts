/**
 * Two texts, line against line. Pure and bounded in time and in what it hands back, so that it can run in a worker
 * and its answer can be drawn whatever the texts are.
 */
import { diffArrays, diffWordsWithSpace } from 'diff'

/** From and to, in characters of the cell's text. */
export type MarkRange = readonly [number, number]

export interface Cell {
  /** 1 is the first line. */
  line: number
  text: string
  /** What differs within the line. */
  marks: MarkRange[]
  /** Characters of the line that are not in `text`, before and after it. */
  cut: { before: number; after: number }
}

/** One line of the side-by-side view. `eol`: the same text, another line ending. */
export interface DiffRow {
  kind: 'same' | 'change' | 'eol'
  left: Cell | null
  right: Cell | null
}

export interface Comparison {
  rows: DiffRow[]
  added: number
  deleted: number
  /** Line endings of either side: null where it has none. */
  eol: { before: Eol | null; after: Eol | null }
  /** Whether the last line of either side lacks its ending. */
  openEnd: { before: boolean; after: boolean }
  /** The texts were too different to be compared in time: everything is shown as replaced. */
  coarse: boolean
}

export type Eol = 'LF' | 'CRLF' | 'CR' | 'mixed'

const COMPARE_MS = 1500
/** Longer lines are compared by their common start and end alone. */
const WORDS_UP_TO = 2000
/** So much of a line is handed out. */
const SHOWN = 1200
/** So much of it stands before the first difference. */
const LEAD = 200

interface Line {
  text: string
  eol: string
}

export function compareTexts(before: string, after: string): Comparison {
  const left = splitLines(before)
  const right = splitLines(after)
  const { pairs, coarse } = pairLines(left, right)
  const rows = pairs.map(([l, r]) => rowOf(left, right, l, r))
  return {
    rows,
    added: rows.filter((row) => row.kind === 'change' && row.right).length,
    deleted: rows.filter((row) => row.kind === 'change' && row.left).length,
    eol: { before: eolOf(left), after: eolOf(right) },
    openEnd: { before: left.at(-1)?.eol === '', after: right.at(-1)?.eol === '' },
    coarse,
  }
}

export function splitLines(text: string): Line[] {
  const lines: Line[] = []
  for (const [whole, content = '', eol = ''] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g))
    if (whole !== '') lines.push({ text: content, eol })
  return lines
}

function eolOf(lines: readonly Line[]): Eol | null {
  const kinds = new Set(lines.map(({ eol }) => eol).filter(Boolean))
  if (kinds.size > 1) return 'mixed'
  const [only] = kinds
  return only === undefined ? null : only === '\n' ? 'LF' : only === '\r\n' ? 'CRLF' : 'CR'
}

type Pair = readonly [left: number | null, right: number | null]

/** Indices side by side; within a run of changes the first deleted line stands beside the first added one. */
function pairLines(left: readonly Line[], right: readonly Line[]): { pairs: Pair[]; coarse: boolean } {
  const shortest = Math.min(left.length, right.length)
  let start = 0
  while (start < shortest && left[start]?.text === right[start]?.text) start++
  let end = 0
  while (end < shortest - start && left.at(-1 - end)?.text === right.at(-1 - end)?.text) end++

  const pairs: Pair[] = []
  for (let at = 0; at < start; at++) pairs.push([at, at])
  const middle = [left, right].map((lines) => lines.slice(start, lines.length - end).map(({ text }) => text))
  const found = diffArrays(middle[0] ?? [], middle[1] ?? [], { timeout: COMPARE_MS })
  const parts = found ?? [
    { removed: true, added: false, value: middle[0] ?? [] },
    { removed: false, added: true, value: middle[1] ?? [] },
  ]
  let l = start
  let r = start
  let gone: number[] = []
  let come: number[] = []
  const settle = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at++) pairs.push([gone[at] ?? null, come[at] ?? null])
    gone = []
    come = []
  }
  for (const part of parts) {
    for (let at = 0; at < part.value.length; at++) {
      if (part.removed) gone.push(l++)
      else if (part.added) come.push(r++)
      else {
        settle()
        pairs.push([l++, r++])
      }
    }
  }
  settle()
  for (let at = 0; at < end; at++) pairs.push([l++, r++])
  return { pairs, coarse: found === undefined }
}

function rowOf(left: readonly Line[], right: readonly Line[], l: number | null, r: number | null): DiffRow {
  const a = l === null ? undefined : left[l]
  const b = r === null ? undefined : right[r]
  if (a && b && a.text === b.text) {
    const kind = a.eol === b.eol || a.eol === '' || b.eol === '' ? 'same' : 'eol'
    return { kind, left: cell(a.text, l, []), right: cell(b.text, r, []) }
  }
  const marks = a && b ? marksOf(a.text, b.text) : { left: [], right: [] }
  return {
    kind: 'change',
    left: a ? cell(a.text, l, marks.left) : null,
    right: b ? cell(b.text, r, marks.right) : null,
  }
}

function cell(text: string, index: number | null, marks: MarkRange[]): Cell {
  const line = (index ?? 0) + 1
  if (text.length <= SHOWN) return { line, text, marks, cut: { before: 0, after: 0 } }
  const first = marks[0]?.[0] ?? 0
  const from = first > LEAD ? first - LEAD : 0
  const shown = text.slice(from, from + SHOWN)
  const inside = marks
    .map(([a, b]): MarkRange => [Math.max(0, a - from), Math.min(shown.length, b - from)])
    .filter(([a, b]) => a < b)
  return { line, text: shown, marks: inside, cut: { before: from, after: text.length - from - shown.length } }
}

/** What differs within two lines; nothing where they have too little in common for marks to help. */
export function marksOf(a: string, b: string): { left: MarkRange[]; right: MarkRange[] } {
  if (a.length > WORDS_UP_TO || b.length > WORDS_UP_TO) return outerMarks(a, b)
  const left: MarkRange[] = []
  const right: MarkRange[] = []
  let l = 0
  let r = 0
  let common = 0
  for (const { value, added, removed } of diffWordsWithSpace(a, b)) {
    if (removed) left.push([l, (l += value.length)])
    else if (added) right.push([r, (r += value.length)])
    else {
      l += value.length
      r += value.length
      common += value.trim().length
    }
  }
  const shorter = Math.min(a.trim().length, b.trim().length)
  return common * 3 < shorter ? { left: [], right: [] } : { left, right }
}

function outerMarks(a: string, b: string): { left: MarkRange[]; right: MarkRange[] } {
  const shortest = Math.min(a.length, b.length)
  let start = 0
  while (start < shortest && a[start] === b[start]) start++
  let end = 0
  while (end < shortest - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const of = (text: string): MarkRange[] => (start < text.length - end ? [[start, text.length - end]] : [])
  return { left: of(a), right: of(b) }
}
