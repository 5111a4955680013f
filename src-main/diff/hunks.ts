/**
 * A text that two sides may have changed, cut into stretches of lines: those that are as they were, and those that one of
 * the two has otherwise, or both. What a commit writes of a file is put together from them, each whole.
 *
 * Texts are a character per byte and lines keep their ends, so that whatever is put together has the bytes it came from.
 */
import { diffArrays } from 'diff'

/** Nobody chooses among more; and a host that looks for them answers nobody else meanwhile. */
const MOST_HUNKS = 500
/**
 * Lines to be put in and taken out; what it costs grows with their square, a third of a second for these. Counted, not
 * timed: what was offered once is found again on a busy machine.
 */
const MOST_EDITED = 1_000
/** As many as that are aligned much sooner, unless the machine stands still. */
const ALIGN_MS = 5_000

/** Lines with their ends; all but a text's last one have one. */
type Lines = readonly string[]

export interface Stretch {
  /**
   * `same` in all three; changed by the `sandbox` or by the `host` alone; by `both` to the same; `clash`: by both, and not
   * to the same, or so close to each other that one cannot be had without the other.
   */
  kind: 'same' | 'sandbox' | 'host' | 'both' | 'clash'
  base: Lines
  sandbox: Lines
  host: Lines
}

/** Lines of the base that a side has others for. */
interface Edit {
  from: number
  /** The first line after them: `from` itself where lines are only put in. */
  to: number
  lines: Lines
  side: 'sandbox' | 'host'
}

/** @returns null where the texts take too long to align, or differ in too many places to choose among */
export function stretchesOf(base: string, sandbox: string, host: string): Stretch[] | null {
  const lines = linesOf(base)
  const ours = editsOf(lines, linesOf(sandbox), 'sandbox')
  const theirs = ours && editsOf(lines, host === base ? lines : linesOf(host), 'host')
  if (ours === null || theirs === null || ours.length > MOST_HUNKS) return null
  const stretches: Stretch[] = []
  let done = 0
  const same = (to: number): void => {
    const between = lines.slice(done, to)
    if (between.length > 0) stretches.push({ kind: 'same', base: between, sandbox: between, host: between })
  }
  for (const group of touching([...ours, ...theirs].sort((one, other) => one.from - other.from || one.to - other.to))) {
    const from = Math.min(...group.map((edit) => edit.from))
    const to = Math.max(...group.map((edit) => edit.to))
    same(from)
    stretches.push(stretchOf(lines, from, to, group))
    done = to
  }
  same(lines.length)
  return stretches
}

/** Whether a person chooses if it goes to the host. */
export const isHunk = ({ kind }: Pick<Stretch, 'kind'>): boolean => kind === 'sandbox' || kind === 'clash'

/**
 * What the host is to have, and what of the sandbox's has gone there: where the host changed nothing the two are one.
 * @param takes whether the sandbox's side of a hunk is wanted; the host keeps its own elsewhere
 */
export function merge(
  stretches: readonly Stretch[],
  takes: (hunk: Stretch) => boolean,
): { host: string; committed: string } {
  const host: string[] = []
  const committed: string[] = []
  for (const stretch of stretches) {
    const isTaken = isHunk(stretch) && takes(stretch)
    host.push((isTaken ? stretch.sandbox : stretch.host).join(''))
    committed.push((isTaken || stretch.kind === 'both' ? stretch.sandbox : stretch.base).join(''))
  }
  return { host: host.join(''), committed: committed.join('') }
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function editsOf(base: Lines, side: Lines, name: Edit['side']): Edit[] | null {
  if (base === side) return []
  const shortest = Math.min(base.length, side.length)
  let head = 0
  while (head < shortest && base[head] === side[head]) head++
  let tail = 0
  while (tail < shortest - head && base.at(-1 - tail) === side.at(-1 - tail)) tail++
  const before = base.slice(head, base.length - tail)
  const after = side.slice(head, side.length - tail)
  if (before.length === 0 || after.length === 0)
    return before.length + after.length > 0 ? [{ from: head, to: head + before.length, lines: after, side: name }] : []
  const parts = diffArrays(before, after, { maxEditLength: MOST_EDITED, timeout: ALIGN_MS })
  if (!parts) return null
  const edits: Edit[] = []
  let at = head
  let open: Edit | null = null
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      at += value.length
      open = null
      continue
    }
    if (open === null) {
      open = { from: at, to: at, lines: [], side: name }
      edits.push(open)
    }
    if (removed) {
      at += value.length
      open.to = at
    } else open.lines = open.lines.concat(value)
  }
  return edits
}

/** Edits with no line between them that both sides left as it was. @param edits sorted */
function touching(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = []
  let end = -1
  for (const edit of edits) {
    const last = groups.at(-1)
    if (last && edit.from <= end) last.push(edit)
    else groups.push([edit])
    end = Math.max(last && edit.from <= end ? end : -1, edit.to)
  }
  return groups
}

function stretchOf(lines: Lines, from: number, to: number, group: readonly Edit[]): Stretch {
  const sideOf = (name: Edit['side']): Lines => {
    let side: Lines = []
    let at = from
    for (const edit of group.filter(({ side }) => side === name)) {
      side = side.concat(lines.slice(at, edit.from), edit.lines)
      at = edit.to
    }
    return side.concat(lines.slice(at, to))
  }
  const [sandbox, host] = [sideOf('sandbox'), sideOf('host')]
  const sides = new Set(group.map(({ side }) => side))
  const [only = 'sandbox'] = sides
  const kind = sides.size === 1 ? only : sandbox.join('') === host.join('') ? 'both' : 'clash'
  return { kind, base: lines.slice(from, to), sandbox, host }
}
