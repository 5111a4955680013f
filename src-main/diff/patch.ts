/**
 * One change as unified text, as git writes it. `git apply` takes what this writes for text, symlinks and modes;
 * what cannot be shown is named, never left out.
 */
import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff'
import type { Change, FilePair } from '../contract/index.ts'

/** Lines of unchanged text around each difference. */
const CONTEXT = 3
/** Two long texts with little in common take minutes to align; after this the whole is shown as replaced. */
const ALIGN_MS = 2_000

/** The bits of a mode that say what an entry is. */
const FORMAT = 0o170000
const REGULAR = 0o100000
const SYMLINK = 0o120000

/**
 * @param pair both sides of the change's path; null for folders, which have none
 * @returns lines, ending in a newline
 */
export function unifiedPatch(change: Change, pair: FilePair | null): string {
  if (pair === null || change.kind === 'folder' || change.kind === 'other') return `# ${describe(change)}\n`
  if (change.status === 'type') return typePatch(change, pair)
  return [header(change), ...body(change, pair)].join('')
}

/** A change of type is a deletion and an addition, as in git. */
function typePatch(change: Change, pair: FilePair): string {
  const { before = null, after = null } = change.modes ?? {}
  const halves = [
    half({ ...change, status: 'deleted', modes: { before, after: null } }, { ...pair, after: null }),
    half({ ...change, status: 'added', modes: { before: null, after } }, { ...pair, before: null }),
  ]
  return [`# ${describe(change)}\n`, ...halves].join('')
}

function half(change: Change, pair: FilePair): string {
  if (pair.before !== null || pair.after !== null) return [header(change), ...body(change, pair)].join('')
  // Beside a symlink, a pair does not hold the file that was or is in its place.
  const mode = change.modes?.before ?? change.modes?.after ?? 0
  return (mode & FORMAT) === REGULAR ? `# the file that was ${change.status} is not shown\n` : ''
}

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

function body(change: Change, pair: FilePair): string[] {
  const a = change.status === 'added' ? '/dev/null' : quoted('a/', change)
  const b = change.status === 'deleted' ? '/dev/null' : quoted('b/', change)
  if (pair.kind === 'binary') return [`Binary files ${a} and ${b} differ\n`]
  if (pair.kind === 'large') return [`Large files ${a} and ${b} differ (${bytes(pair.before)}, ${bytes(pair.after)})\n`]
  const before = pair.before ?? ''
  const after = pair.after ?? ''
  if (before === after) return []
  // As git does: a tab marks the end of a name with spaces in it.
  const name = (side: string) => (side.includes(' ') && !side.startsWith('"') ? `${side}\t` : side)
  return [`--- ${name(a)}\n+++ ${name(b)}\n`, formatPatch(aligned(before, after), OMIT_HEADERS)]
}

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
  const what = kind === 'other' ? 'FIFO, socket or device' : kind
  const octal = (mode: number) => (mode & 0o7777).toString(8).padStart(4, '0')
  if (status === 'type') return `is now a ${what}${modes?.before ? `, was a ${kindOf(modes.before)}` : ''}`
  if (status !== 'mode') return `${what} ${status}`
  const { before, after } = modes ?? {}
  if (before === null || after === null || before === undefined || after === undefined) return `${what}, permissions`
  return before === after ? `${what}, another owner` : `${what}, mode ${octal(before)} -> ${octal(after)}`
}

const KINDS = new Map([
  [0o040000, 'folder'],
  [REGULAR, 'file'],
  [SYMLINK, 'symlink'],
])
const kindOf = (mode: number): string => KINDS.get(mode & FORMAT) ?? 'FIFO, socket or device'

const bytes = (size: number | null): string => (size === null ? 'not there' : `${size} bytes`)

const pathBytes = ({ path, rawPath }: Change): Buffer =>
  rawPath === null ? Buffer.from(path) : Buffer.from(rawPath, 'base64')

const printable = (change: Change): string => (change.kind === 'folder' ? `${change.path}/` : change.path)

/** A name as git writes it: in quotes with octal escapes where it would be misread, plain otherwise. */
function quoted(prefix: 'a/' | 'b/', change: Change): string {
  if (change.rawPath === null && !/["\\]/.test(change.path)) return `${prefix}${change.path}`
  const escaped = Array.from(pathBytes(change), (byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
    if (byte < 0x20 || byte >= 0x7f) return `\\${byte.toString(8).padStart(3, '0')}`
    return String.fromCharCode(byte)
  })
  return `"${prefix}${escaped.join('')}"`
}
