/**
 * One change as unified text, as git writes it. `git apply` takes what this writes for text, symlinks and modes;
 * what cannot be shown is named, never left out.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff'
import type { Change, EntryKind, FilePair } from '../contract/index.ts'
import { binarySection, type Contents } from './binary.ts'

/** Lines of unchanged text around each difference. */
const CONTEXT = 3
/** Two long texts with little in common take minutes to align; after this the whole is shown as replaced. */
const ALIGN_MS = 2_000
/** Texts over this go as bytes: nobody reads their hunks. */
export const ALIGN_BYTES = 8 << 20

/** The bits of a mode that say what an entry is. */
const FORMAT = 0o170000
const REGULAR = 0o100000
const SYMLINK = 0o120000

/**
 * @param pair both sides of the change's path; null for what has none
 * @param contents the bytes of both sides, where {@link contentsNeeded} asks for them and they can be had
 * @returns lines, ending in a newline
 */
export function unifiedPatch(change: Change, pair: FilePair | null, contents: Contents | null = null): string {
  if (pair === null) return `# ${describe(change)}\n`
  if (change.status !== 'type') return section(change, pair, contents)
  // A change of type is a deletion and an addition, as in git.
  const halves = halvesOf(change, pair, contents)
  return [`# ${describe(change)}\n`, ...halves.map((half) => section(...half))].join('')
}

/** The sides whose bytes the patch has to hold because the pair does not; null where none are needed. */
export function contentsNeeded(change: Change, pair: FilePair | null): { before: boolean; after: boolean } | null {
  if (pair === null || change.status === 'mode') return null
  const isFile = (mode: number | null | undefined) => mode !== null && mode !== undefined && kindOf(mode) === 'file'
  const { before, after } = change.modes ?? {}
  if (pair.kind === 'symlink') {
    // Beside a symlink, a pair does not hold the file that was or is in its place.
    const needed = { before: isFile(before), after: isFile(after) }
    return change.status === 'type' && (needed.before || needed.after) ? needed : null
  }
  return pair.kind === 'text' ? null : { before: pair.before !== null, after: pair.after !== null }
}

/** Whether {@link unifiedPatch} holds the whole change. Folders count as held: git makes them with what is in them. */
export function isWhole(change: Change, pair: FilePair | null, contents: Contents | null): boolean {
  if (pair === null) return change.kind === 'folder' && change.status !== 'type'
  return contents !== null || contentsNeeded(change, pair) === null
}

type Half = [change: Change, pair: FilePair, contents: Contents | null]

function halvesOf(change: Change, pair: FilePair, contents: Contents | null): Half[] {
  const halves: Half[] = []
  for (const [side, status, other] of [
    ['before', 'deleted', 'after'],
    ['after', 'added', 'before'],
  ] as const) {
    const mode = change.modes?.[side] ?? null
    const kind = mode === null ? change.kind : kindOf(mode)
    if (kind !== 'file' && kind !== 'symlink') continue
    const half: Change = { ...change, kind, status, modes: { before: null, after: null, [side]: mode } }
    const held = contents && { ...contents, [other]: null }
    if (kind === 'file' && pair.kind === 'symlink')
      halves.push([half, { kind: 'binary', before: null, after: null, [side]: held?.[side]?.length ?? 0 }, held])
    else halves.push([half, { ...pair, [other]: null }, held])
  }
  return halves
}

const section = (change: Change, pair: FilePair, contents: Contents | null): string =>
  [header(change), ...body(change, pair, contents)].join('')

function header(change: Change): string {
  const lines = [`diff --git ${quoted('a/', change)} ${quoted('b/', change)}`]
  const { before, after } = change.modes ?? {}
  if (change.status === 'added') lines.push(`new file mode ${gitMode(after, change)}`)
  else if (change.status === 'deleted') lines.push(`deleted file mode ${gitMode(before, change)}`)
  else if (before !== after) lines.push(`old mode ${gitMode(before, change)}`, `new mode ${gitMode(after, change)}`)
  return `${lines.join('\n')}\n`
}

const gitMode = (mode: number | null | undefined, { kind }: Change): string =>
  // git has one mode for symlinks, whatever their permission bits are.
  kind === 'symlink' || ((mode ?? 0) & FORMAT) === SYMLINK ? '120000' : (mode ?? 0o100644).toString(8)

function body(change: Change, pair: FilePair, contents: Contents | null): string[] {
  if (change.status === 'mode') return []
  const a = change.status === 'added' ? '/dev/null' : quoted('a/', change)
  const b = change.status === 'deleted' ? '/dev/null' : quoted('b/', change)
  if (pair.kind !== 'text' && pair.kind !== 'symlink') {
    if (contents !== null) return fromContents(change, contents)
    if (pair.kind === 'binary') return [`Binary files ${a} and ${b} differ\n`]
    return [`Large files ${a} and ${b} differ (${bytes(pair.before)}, ${bytes(pair.after)})\n`]
  }
  const before = pair.before ?? ''
  const after = pair.after ?? ''
  if (before === after) return []
  return [sideNames(a, b), textHunks(before, after)]
}

/** The two lines before a file's hunks. As git does: a tab marks the end of a name with spaces in it. */
export function sideNames(before: string, after: string): string {
  const name = (side: string) => (side.includes(' ') && !side.startsWith('"') ? `${side}\t` : side)
  return `--- ${name(before)}\n+++ ${name(after)}\n`
}

/** What leads from one text to the other, without the header of a file. */
export const textHunks = (before: string, after: string): string => formatPatch(aligned(before, after), OMIT_HEADERS)

/** Text where both sides are that and can be aligned in reasonable time, else the bytes as they are. */
function fromContents(change: Change, contents: Contents): string[] {
  const { before, after } = contents
  const isText = (side: Uint8Array | null) => side === null || isPatchText(side)
  if (!isText(before) || !isText(after)) return [binarySection(contents)]
  const text = (side: Uint8Array | null) => side && Buffer.from(side).toString('utf8')
  return body(change, { kind: 'text', before: text(before), after: text(after) }, null)
}

/** Whether a patch shows these bytes as lines. */
export const isPatchText = (bytes: Uint8Array): boolean =>
  bytes.length <= ALIGN_BYTES && isUtf8(bytes) && !bytes.includes(0)

function aligned(before: string, after: string): StructuredPatch {
  const options = { context: CONTEXT, timeout: ALIGN_MS }
  return structuredPatch('', '', before, after, undefined, undefined, options) ?? replaced(before, after)
}

/** All of the old lines away, all of the new ones there. */
export function replaced(before: string, after: string): StructuredPatch {
  const old = linesOf(before)
  const now = linesOf(after)
  const marked = (lines: string[], text: string, sign: string) => [
    ...lines.map((line) => `${sign}${line}`),
    ...(text === '' || text.endsWith('\n') ? [] : ['\\ No newline at end of file']),
  ]
  const lines = [...marked(old, before, '-'), ...marked(now, after, '+')]
  const hunk = { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines }
  return { oldFileName: '', newFileName: '', oldHeader: undefined, newHeader: undefined, hunks: [hunk] }
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/**
 * Lines added and removed; null where a side is no text.
 */
export function lineCounts(pair: FilePair): { insertions: number; deletions: number } | null {
  if (pair.kind !== 'text' && pair.kind !== 'symlink') return null
  const lines = aligned(pair.before ?? '', pair.after ?? '').hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  return { insertions: count('+'), deletions: count('-') }
}

/**
 * One line that sums up a change: `src/a.ts | +3 -1`.
 * @param pair as for {@link unifiedPatch}
 */
export function statLine(change: Change, pair: FilePair | null): string {
  const counts = pair && lineCounts(pair)
  const name = change.kind === 'folder' ? `${change.path}/` : change.path
  if (counts !== null && counts.insertions + counts.deletions > 0)
    return `${name} | +${counts.insertions} -${counts.deletions}`
  if (change.status === 'modified' && change.kind === 'file')
    return `${name} | ${bytes(change.before)} -> ${bytes(change.after)}`
  return `${name} | ${summary(change)}`
}

/** In words, for what has no lines. */
const describe = (change: Change): string => `${printable(change)}: ${summary(change)}`

function summary({ kind, status, modes }: Change): string {
  const what = wordFor(kind)
  const octal = (mode: number) => (mode & 0o7777).toString(8).padStart(4, '0')
  if (status === 'type') return `is now a ${what}${modes?.before ? `, was a ${wordFor(kindOf(modes.before))}` : ''}`
  if (status !== 'mode') return `${what} ${status}`
  const { before, after } = modes ?? {}
  if (before === null || after === null || before === undefined || after === undefined) return `${what}, permissions`
  return before === after ? `${what}, another owner` : `${what}, mode ${octal(before)} -> ${octal(after)}`
}

const KINDS = new Map<number, EntryKind>([
  [0o040000, 'folder'],
  [REGULAR, 'file'],
  [SYMLINK, 'symlink'],
])
const kindOf = (mode: number): EntryKind => KINDS.get(mode & FORMAT) ?? 'other'

const wordFor = (kind: EntryKind): string => (kind === 'other' ? 'FIFO, socket or device' : kind)

const bytes = (size: number | null): string => (size === null ? 'not there' : `${size} bytes`)

const pathBytes = ({ path, rawPath }: Change): Buffer =>
  rawPath === null ? Buffer.from(path) : Buffer.from(rawPath, 'base64')

const printable = (change: Change): string => (change.kind === 'folder' ? `${change.path}/` : change.path)

/**
 * What needs quotes in a name that can be printed. git puts none around a space before a slash, and then cannot read
 * the header of an empty file itself.
 */
const MISREAD = /["\\]| \//

function quoted(prefix: 'a/' | 'b/', change: Change): string {
  if (change.rawPath === null && !MISREAD.test(change.path)) return `${prefix}${change.path}`
  return inQuotes(Buffer.concat([Buffer.from(prefix), pathBytes(change)]))
}

/** A name as git writes it: in quotes with octal escapes where it would be misread, plain otherwise. */
export function gitName(prefix: 'a/' | 'b/', path: Uint8Array): string {
  const name = Buffer.from(path).toString('latin1')
  return /^[\x20-\x7e]*$/.test(name) && !MISREAD.test(name)
    ? `${prefix}${name}`
    : inQuotes(Buffer.concat([Buffer.from(prefix), path]))
}

/** What C writes as a letter of its own; other bytes go by number. */
const C_ESCAPES: Partial<Record<number, string>> = {
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
}

/** Bytes as git reads them in quotes. */
export function inQuotes(bytes: Uint8Array): string {
  const escaped = Array.from(bytes, (byte) => {
    const letter = C_ESCAPES[byte]
    if (letter !== undefined) return `\\${letter}`
    if (byte < 0x20 || byte >= 0x7f) return `\\${byte.toString(8).padStart(3, '0')}`
    return String.fromCharCode(byte)
  })
  return `"${escaped.join('')}"`
}
