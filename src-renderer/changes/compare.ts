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
  /** Not a character differs. */
  equal: boolean
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
  /** What it is compared by. */
  key: string
}

export interface CompareOptions {
  /** Lines that differ in white space alone, their endings included, count as the same. */
  ignoreWhitespace: boolean
}

export function compareTexts(
  before: string,
  after: string,
  options: CompareOptions = { ignoreWhitespace: false },
): Comparison {
  const left = splitLines(before, options)
  const right = splitLines(after, options)
  const { pairs, coarse } = pairLines(left, right)
  const rows = pairs.map(([l, r]) => rowOf(left, right, l, r, options))
  return {
    rows,
    equal: before === after,
    added: rows.filter((row) => row.kind === 'change' && row.right).length,
    deleted: rows.filter((row) => row.kind === 'change' && row.left).length,
    eol: { before: eolOf(left), after: eolOf(right) },
    openEnd: { before: left.at(-1)?.eol === '', after: right.at(-1)?.eol === '' },
    coarse,
  }
}

export function splitLines(text: string, { ignoreWhitespace }: CompareOptions = { ignoreWhitespace: false }): Line[] {
  const lines: Line[] = []
  for (const [whole, content = '', eol = ''] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g))
    if (whole !== '') lines.push({ text: content, eol, key: ignoreWhitespace ? content.replace(/\s+/g, '') : content })
  return lines
}

function eolOf(lines: readonly Line[]): Eol | null {
  const kinds = new Set(lines.map(({ eol }) => eol).filter(Boolean))
  if (kinds.size > 1) return 'mixed'
  const [only] = kinds
  return only === undefined ? null : only === '\n' ? 'LF' : only === '\r\n' ? 'CRLF' : 'CR'
}

type Pair = readonly [left: number | null, right: number | null]

/** Indices side by side. */
function pairLines(left: readonly Line[], right: readonly Line[]): { pairs: Pair[]; coarse: boolean } {
  const shortest = Math.min(left.length, right.length)
  let start = 0
  while (start < shortest && left[start]?.key === right[start]?.key) start++
  let end = 0
  while (end < shortest - start && left.at(-1 - end)?.key === right.at(-1 - end)?.key) end++

  const pairs: Pair[] = []
  for (let at = 0; at < start; at++) pairs.push([at, at])
  const middle = [left, right].map((lines) => lines.slice(start, lines.length - end).map(({ key }) => key))
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
    pairs.push(...sideBySide(left, right, gone, come))
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

/** Larger runs of changes are paired in order; looking for likeness there costs more than it shows. */
const LIKENESS_UP_TO = 2500
/** Less alike, two lines stand beside each other only for want of a better place, without marks. */
const ALIKE = 0.45

/** Within a run of changes: like beside like, in order, so that the marks show what was really edited. */
function sideBySide(
  left: readonly Line[],
  right: readonly Line[],
  gone: readonly number[],
  come: readonly number[],
): Pair[] {
  const partners = gone.length * come.length <= LIKENESS_UP_TO ? bestPartners(left, right, gone, come) : []
  const pairs: Pair[] = []
  let g = 0
  let c = 0
  // Between two partners what has none is put side by side in order.
  const fill = (toGone: number, toCome: number) => {
    while (g < toGone || c < toCome)
      pairs.push([g < toGone ? (gone[g++] ?? null) : null, c < toCome ? (come[c++] ?? null) : null])
  }
  for (const [atGone, atCome] of partners) {
    fill(atGone, atCome)
    pairs.push([gone[g++] ?? null, come[c++] ?? null])
  }
  fill(gone.length, come.length)
  return pairs
}

/** The pairs of the highest total likeness that keep the order of both sides. */
function bestPartners(
  left: readonly Line[],
  right: readonly Line[],
  gone: readonly number[],
  come: readonly number[],
): [number, number][] {
  const width = come.length + 1
  const like = gone.map((l) => come.map((r) => likeness(left[l]?.text ?? '', right[r]?.text ?? '')))
  const best = new Float64Array((gone.length + 1) * width)
  const at = (g: number, c: number) => best[g * width + c] ?? 0
  const gain = (g: number, c: number) => {
    const value = like[g]?.[c] ?? 0
    return value >= ALIKE ? value : 0
  }
  for (let g = gone.length - 1; g >= 0; g--)
    for (let c = come.length - 1; c >= 0; c--)
      best[g * width + c] = Math.max(at(g + 1, c), at(g, c + 1), gain(g, c) > 0 ? gain(g, c) + at(g + 1, c + 1) : 0)
  const partners: [number, number][] = []
  let g = 0
  let c = 0
  while (g < gone.length && c < come.length) {
    if (gain(g, c) > 0 && at(g, c) === gain(g, c) + at(g + 1, c + 1)) partners.push([g++, c++])
    else if (at(g, c) === at(g + 1, c)) g++
    else c++
  }
  return partners
}

/** 0 to 1: how much of the longer line is the same at either end, or else in shared words. */
export function likeness(a: string, b: string): number {
  const longest = Math.max(a.trim().length, b.trim().length)
  if (longest === 0) return 1
  const { left } = outerMarks(a.trim(), b.trim())
  const changed = left[0] ? left[0][1] - left[0][0] : 0
  const ends = (a.trim().length - changed) / longest
  if (longest > WORDS_UP_TO) return ends
  const words = new Set(b.match(/\w+/g))
  const own = a.match(/\w+/g) ?? []
  const shared = own.filter((word) => words.has(word)).length / Math.max(1, own.length, words.size)
  return Math.max(ends, shared)
}

function rowOf(
  left: readonly Line[],
  right: readonly Line[],
  l: number | null,
  r: number | null,
  { ignoreWhitespace }: CompareOptions,
): DiffRow {
  const a = l === null ? undefined : left[l]
  const b = r === null ? undefined : right[r]
  if (a && b && a.key === b.key) {
    const kind = ignoreWhitespace || a.eol === b.eol || a.eol === '' || b.eol === '' ? 'same' : 'eol'
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
    if (removed) left.push([l, l + value.length])
    else if (added) right.push([r, r + value.length])
    else common += value.trim().length
    if (!added) l += value.length
    if (!removed) r += value.length
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
