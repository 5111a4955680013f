/**
 * Which of the files that went are which of those that came: the same bytes first, then most of the same lines. Pure,
 * and bounded: past its budget likeness is not looked for, and the two stay a deletion and an addition.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { basename } from 'node:path/posix'
import type { Change, Rename } from '../contract/index.ts'

export interface Candidate {
  change: Change
  bytes: Uint8Array
}

/** Of the larger text, in lines that both have. */
const LEAST_ALIKE = 0.5
/** Shorter files are alike by chance. */
const SHORTEST_ALIKE_BYTES = 64
/** Longer files are only ever found by their bytes. */
export const LONGEST_ALIKE_BYTES = 64 << 10
/** Of either side, taken apart into lines. */
const ALIKE_BYTES = 1 << 20
const ALIKE_FILES = 150
/** Lines that are looked up in all; with the above a tenth of a second at the worst. */
const LOOKUPS = 300_000

/** @returns by the path of what came */
export function renamesAmong(gone: readonly Candidate[], come: readonly Candidate[]): Rename[] {
  const exact = sameBytes(gone, come)
  const taken = new Set([...exact].flat())
  const rest = (side: readonly Candidate[]) => side.filter((one) => !taken.has(one))
  return [...exact, ...alike(rest(gone), rest(come))]
    .map(([from, to]) => ({ from: nameOf(from.change), to: nameOf(to.change) }))
    .sort((a, b) => (a.to.path < b.to.path ? -1 : 1))
}

type Found = [from: Candidate, to: Candidate]

const nameOf = ({ path, rawPath }: Change) => ({ path, rawPath })
const fileName = ({ change }: Candidate): string => basename(change.path)

function sameBytes(gone: readonly Candidate[], come: readonly Candidate[]): Found[] {
  const byContent = Map.groupBy(gone.filter(isThere), contentOf)
  const found: Found[] = []
  // A file that kept its name is the first choice among copies.
  const left = come.filter(isThere).filter((to) => !take(to, (from) => fileName(from) === fileName(to)))
  for (const to of left) take(to, () => true)
  return found

  function take(to: Candidate, fits: (from: Candidate) => boolean): boolean {
    const copies = byContent.get(contentOf(to)) ?? []
    const at = copies.findIndex(fits)
    const [from] = at < 0 ? [] : copies.splice(at, 1)
    if (from) found.push([from, to])
    return from !== undefined
  }
}

/** Every empty file is like every other. */
const isThere = ({ bytes }: Candidate): boolean => bytes.length > 0

const contents = new WeakMap<Candidate, string>()

function contentOf(candidate: Candidate): string {
  const known = contents.get(candidate) ?? createHash('sha256').update(candidate.bytes).digest('base64')
  contents.set(candidate, known)
  return known
}

/** A text's lines, and for how much of it each stands. */
interface Lines {
  of: Candidate
  size: number
  lines: Map<string, number>
}

function alike(gone: readonly Candidate[], come: readonly Candidate[]): Found[] {
  const [from, to] = [linesOf(gone), linesOf(come)]
  const pairs = to
    .flatMap((b) => from.map((a) => ({ a, b, isNamedAlike: fileName(a.of) === fileName(b.of), likeness: 0 })))
    .filter(({ a, b }) => Math.min(a.size, b.size) >= LEAST_ALIKE * Math.max(a.size, b.size))
    .sort((x, y) => Number(y.isNamedAlike) - Number(x.isNamedAlike))
  let left = LOOKUPS
  for (const pair of pairs) {
    left -= Math.min(pair.a.lines.size, pair.b.lines.size)
    if (left < 0) break
    pair.likeness = likeness(pair.a, pair.b)
  }
  const found: Found[] = []
  const taken = new Set<Candidate>()
  for (const { a, b, likeness } of pairs.sort((x, y) => y.likeness - x.likeness)) {
    if (likeness < LEAST_ALIKE) break
    if (taken.has(a.of) || taken.has(b.of)) continue
    taken.add(a.of).add(b.of)
    found.push([a.of, b.of])
  }
  return found
}

function linesOf(candidates: readonly Candidate[]): Lines[] {
  const found: Lines[] = []
  let left = ALIKE_BYTES
  for (const of of candidates) {
    const { bytes } = of
    if (bytes.length < SHORTEST_ALIKE_BYTES || bytes.length > Math.min(LONGEST_ALIKE_BYTES, left)) continue
    if (found.length === ALIKE_FILES) break
    if (!isUtf8(bytes) || bytes.includes(0)) continue
    left -= bytes.length
    const lines = new Map<string, number>()
    const text = Buffer.from(bytes).toString('utf8')
    for (const line of text.split('\n')) lines.set(line, (lines.get(line) ?? 0) + line.length + 1)
    found.push({ of, size: text.length + 1, lines })
  }
  return found
}

function likeness(a: Lines, b: Lines): number {
  const [few, many] = a.lines.size < b.lines.size ? [a, b] : [b, a]
  let shared = 0
  for (const [line, size] of few.lines) shared += Math.min(size, many.lines.get(line) ?? 0)
  return shared / Math.max(a.size, b.size)
}
