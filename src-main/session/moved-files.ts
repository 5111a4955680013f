/** Files between two states beyond the list of what differs: which of them moved, both sides of one that did, lines. */
import { Buffer } from 'node:buffer'
import {
  type Change,
  EngineUnavailableError,
  FileNotFoundError,
  type FilePair,
  type LineTotals,
  type Rename,
} from '../contract/index.ts'
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

/** What cannot be read is no reason to say nothing of the rest: it stays what went, or what came. */
export async function renamesBetween(
  sandbox: Pick<Sandbox, 'pieces'>,
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
        const size = sizeOf(change)
        if (size > left) return false
        left -= size
        return true
      })
      .slice(0, MOST_FILES)
  }
  return renamesAmong(await read(sandbox, from, wanted(gone, come)), await read(sandbox, to, wanted(come, gone)))
}

/** Of a file that is on one side alone. */
const sizeOf = ({ before, after }: Change): number => before ?? after ?? 0

/**
 * What is in the files, without those that cannot be read and those that grew since they were listed: whoever writes to
 * them does not decide how much is held here.
 */
async function read(
  sandbox: Pick<Sandbox, 'pieces'>,
  state: ReadState,
  changes: readonly Change[],
): Promise<Candidate[]> {
  const files = changes.map((change) => ({ change, path: pathBytes(change), bytes: new Growing(sizeOf(change)) }))
  let at = { index: 0, offset: 0 }
  let left = READ_BYTES
  // Halved where one of them cannot be read, until it is found.
  let together = files.length
  while (at.index < files.length && left >= 0) {
    const asked = files.slice(at.index, at.index + together)
    const paths = asked.map(({ path }) => path)
    const answer = await unlessClosed(sandbox.pieces(state, paths, { index: 0, offset: at.offset }, AT_ONCE))
    if (answer === null) {
      if (asked.length === 1) {
        asked[0]?.bytes.leaveOut()
        at = { index: at.index + 1, offset: 0 }
      }
      together = Math.ceil(asked.length / 2)
      continue
    }
    for (const { index, bytes } of answer.pieces) {
      left -= bytes.length
      asked[index]?.bytes.add(bytes)
    }
    const { index, offset } = answer.next ?? { index: asked.length, offset: 0 }
    at = asked[index]?.bytes.isLeftOut
      ? { index: at.index + index + 1, offset: 0 }
      : { index: at.index + index, offset }
    together *= 2
  }
  // What was not read to its end is none.
  return files
    .slice(0, at.index)
    .flatMap(({ change, bytes }) => (bytes.isLeftOut ? [] : [{ change, bytes: bytes.joined() }]))
}

/** A file's bytes as they come; of one that has more than it should, none are kept. */
class Growing {
  #parts: Uint8Array[] = []
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  get isLeftOut(): boolean {
    return this.#left < 0
  }

  add(bytes: Uint8Array): void {
    this.#left -= bytes.length
    this.#parts.push(bytes)
    if (this.isLeftOut) this.leaveOut()
  }

  leaveOut(): void {
    this.#left = -1
    this.#parts = []
  }

  joined(): Uint8Array {
    return Buffer.concat(this.#parts)
  }
}

/** Null where a file is there no more, or its mode keeps this user out. */
async function unlessClosed<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    // Without a path it is the engine that is away, and all else would fail too.
    const isClosed = error instanceof EngineUnavailableError && 'path' in error.data
    if (isClosed || error instanceof FileNotFoundError) return null
    throw error
  }
}

/** The path's bytes, as the sandbox takes them. */
export const pathBytes = ({ path, rawPath }: { path: string; rawPath: string | null }): Uint8Array =>
  rawPath === null ? Buffer.from(path) : Buffer.from(rawPath, 'base64')

/** Both sides, each under the name that it had. @throws FileNotFoundError where neither state has it */
export async function pairOf(
  sandbox: Pick<Sandbox, 'pair'>,
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

/** Lines added and taken away, path by path; null where that is not to be said, or not in a moment. */
export async function linesBetween(
  sandbox: Pick<Sandbox, 'pair'>,
  paths: readonly PathPair[],
  from: ReadState,
  to: ReadState,
): Promise<(LineTotals | null)[]> {
  const totals: (LineTotals | null)[] = []
  // One after the other: whoever else asks comes in between.
  for (const path of paths) {
    const pair = await unlessClosed(pairOf(sandbox, path, from, to, COUNTED_BYTES))
    totals.push(pair && lineTotals(pair))
  }
  return totals
}
