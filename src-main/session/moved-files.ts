/** Files between two states beyond the list of what differs: which of them moved, both sides of one that did, lines. */
import { Buffer } from 'node:buffer'
import { type Change, FileNotFoundError, type FilePair, type LineTotals, type Rename } from '../contract/index.ts'
import { type Candidate, LONGEST_ALIKE_BYTES, lineTotals, renamesAmong } from '../diff/index.ts'
import type { ReadState, Sandbox } from '../sandbox/index.ts'

/** Bytes that are read of either side. */
const READ_BYTES = 8 << 20
/** Files of either side: moves of whole trees are told as what went and what came. */
const MOST_FILES = 1_000
/** Of one answer of the sandbox. */
const AT_ONCE = 1 << 20
/** Larger texts are not counted. */
const COUNTED_BYTES = 256 << 10

export interface PathPair {
  path: Uint8Array
  /** Where the file was before, if elsewhere. */
  was?: Uint8Array
}

export async function renamesBetween(
  sandbox: Sandbox,
  changes: readonly Change[],
  from: ReadState,
  to: ReadState,
): Promise<Rename[]> {
  const gone = changes.filter(({ kind, status, before }) => kind === 'file' && status === 'deleted' && before)
  const come = changes.filter(({ kind, status, after }) => kind === 'file' && status === 'added' && after)
  if (gone.length === 0 || come.length === 0) return []
  const wanted = (side: readonly Change[], others: readonly Change[]) => {
    const sizes = new Set(others.map(sizeOf))
    let left = READ_BYTES
    return side
      .filter((change) => sizes.has(sizeOf(change)) || sizeOf(change) <= LONGEST_ALIKE_BYTES)
      .filter((change) => {
        left -= sizeOf(change)
        return left >= 0
      })
      .slice(0, MOST_FILES)
  }
  try {
    return renamesAmong(await read(sandbox, from, wanted(gone, come)), await read(sandbox, to, wanted(come, gone)))
  } catch (error) {
    // A file that went meanwhile: what stands there changed, and is asked for again.
    if (error instanceof FileNotFoundError) return []
    throw error
  }
}

/** Of a file that is on one side alone. */
const sizeOf = ({ before, after }: Change): number => before ?? after ?? 0

async function read(sandbox: Sandbox, state: ReadState, changes: readonly Change[]): Promise<Candidate[]> {
  const parts: Uint8Array[][] = changes.map(() => [])
  let at: { index: number; offset: number } | null = { index: 0, offset: 0 }
  while (at !== null && changes.length > 0) {
    const { pieces, next } = await sandbox.pieces(state, changes.map(pathBytes), at, AT_ONCE)
    for (const { index, bytes } of pieces) parts[index]?.push(bytes)
    at = next
  }
  return changes.map((change, index) => ({ change, bytes: Buffer.concat(parts[index] ?? []) }))
}

/** The path's bytes, as the sandbox takes them. */
export const pathBytes = ({ path, rawPath }: { path: string; rawPath: string | null }): Uint8Array =>
  rawPath === null ? Buffer.from(path) : Buffer.from(rawPath, 'base64')

/** Both sides, each under the name that it had. @throws FileNotFoundError where neither state has it */
export async function pairOf(
  sandbox: Sandbox,
  { path, was }: PathPair,
  from: ReadState,
  to: ReadState,
  textLimitBytes: number,
): Promise<FilePair> {
  if (was === undefined) return sandbox.pair(path, from, to, textLimitBytes)
  const [before, after] = await Promise.all([
    sandbox.pair(was, from, to, textLimitBytes),
    sandbox.pair(path, from, to, textLimitBytes),
  ])
  return joined(before, after)
}

/** The one's side before beside the other's side after. */
export function joined(one: FilePair, other: FilePair): FilePair {
  const kinds = [one.kind, other.kind]
  if (kinds.every((kind) => kind === 'text' || kind === 'symlink'))
    return {
      kind: kinds.includes('symlink') ? 'symlink' : 'text',
      before: one.before as string | null,
      after: other.after as string | null,
    }
  return {
    kind: kinds.includes('large') ? 'large' : 'binary',
    before: bytesOf(one.before),
    after: bytesOf(other.after),
  }
}

const bytesOf = (side: string | number | null): number | null =>
  typeof side === 'string' ? Buffer.byteLength(side) : side

/** Lines added and taken away, path by path; null where that is not to be said in a moment. */
export async function linesBetween(
  sandbox: Sandbox,
  paths: readonly PathPair[],
  from: ReadState,
  to: ReadState,
): Promise<(LineTotals | null)[]> {
  const totals: (LineTotals | null)[] = []
  // One after the other: whoever else asks comes in between.
  for (const path of paths) totals.push(lineTotals(await pairOf(sandbox, path, from, to, COUNTED_BYTES)))
  return totals
}
