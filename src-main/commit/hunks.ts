/**
 * Commits of some of a file's lines: the hunks that can be chosen, and what the host is to have when some of them are. A
 * hunk is named by the texts it is cut from, so that nothing which was chosen is ever put into another text.
 */
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { CommitConflictError, type FileStretch, type WholeReason, wholeText } from '../contract/index.ts'
import { isHunk, isPatchText, merge, type Stretch, stretchesOf } from '../diff/index.ts'
import { type ByteString, readableBytes, toBytes } from '../sandbox/index.ts'
import type { HostTree } from './host-tree.ts'

/** Of larger files nobody chooses lines. */
export const HUNKED_BYTES = 1 << 20
/** Lines of what did not change that are listed at each end of a hunk. */
const CONTEXT = 3
const ID_LENGTH = 16

/** A file in each of the three; null where there is none, `large` where it is over {@link HUNKED_BYTES}. */
export type Side = Uint8Array | 'large' | null
export type Sides = Record<'base' | 'sandbox' | 'host', Side>

/** A file of which a part goes to the host. */
export interface Part {
  /** What is to be there. */
  content: Uint8Array
  /** What it would be, had the sandbox only what was committed so far: the rest differs from this. */
  committed: Uint8Array
  /** Nothing of the file is left to be committed later. */
  isAll: boolean
}

export class FileHunks {
  readonly #stretches: readonly Stretch[]
  readonly #ids: ReadonlyMap<Stretch, string>

  /** @returns why there is nothing to choose, where that is so */
  static of({ base, sandbox, host }: Sides): FileHunks | WholeReason {
    if (base === null || sandbox === null || host === null) return 'not-edited'
    if (base === 'large' || sandbox === 'large' || host === 'large') return 'large'
    const sides = [base, sandbox, host] as const
    if (!sides.every(isPatchText)) return 'binary'
    const [before, ours, theirs] = sides.map(textOf) as [string, string, string]
    const stretches = stretchesOf(before, ours, theirs)
    if (stretches === null) return 'tangled'
    return stretches.some(isHunk) ? new FileHunks(stretches, sides) : 'not-edited'
  }

  private constructor(stretches: readonly Stretch[], sides: readonly Uint8Array[]) {
    this.#stretches = stretches
    const texts = sides.map((side) => createHash('sha256').update(side).digest('hex')).join(' ')
    const idOf = (n: number) => createHash('sha256').update(`${texts} ${n}`).digest('hex').slice(0, ID_LENGTH)
    this.#ids = new Map(stretches.filter(isHunk).map((hunk, n) => [hunk, idOf(n)]))
  }

  /** @returns null where one of them is no hunk of this file */
  take(ids: readonly string[]): Part | null {
    const wanted = new Set(ids)
    const known = new Set(this.#ids.values())
    if (ids.some((id) => !known.has(id))) return null
    const { host, committed } = merge(this.#stretches, (hunk) => wanted.has(this.#ids.get(hunk) ?? ''))
    return { content: bytesOf(host), committed: bytesOf(committed), isAll: wanted.size === known.size }
  }

  shown(): FileStretch[] {
    const at = { base: 1, sandbox: 1, host: 1 }
    return this.#stretches.map((stretch, index): FileStretch => {
      const { kind, base, sandbox, host } = stretch
      const id = this.#ids.get(stretch) ?? null
      const from = { ...at }
      at.base += base.length
      at.sandbox += sandbox.length
      at.host += host.length
      if (kind !== 'same')
        return { kind, id, at: from, base: shown(base), sandbox: shown(sandbox), host: shown(host), cut: null }
      const head = index === 0 ? 0 : CONTEXT
      const tail = index === this.#stretches.length - 1 ? 0 : CONTEXT
      const isCut = base.length > head + tail + 1
      const lines = isCut ? [...base.slice(0, head), ...base.slice(base.length - tail)] : base
      const cut = isCut ? { after: head, lines: base.length - head - tail } : null
      return { kind, id, at: from, base: shown(lines), sandbox: [], host: [], cut }
    })
  }
}

/** A hunk that was chosen is there no more, or never was. */
export function staleHunks(path: ByteString, why: WholeReason | null): CommitConflictError {
  const name = readableBytes(toBytes(path))
  const text =
    why === null ? `The hunks of ${name} are others now` : `${name} ${wholeText[why]}, so it has no hunks to choose`
  return new CommitConflictError(`${text}; nothing was committed.`, {
    nextStep: 'Look at what differs there now and choose again, or commit the file whole.',
    data: { conflicts: [], obstacles: [], sessions: [], path: name },
  })
}

/** A file of the host, as far as it is worth reading. */
export function readHostFile(tree: HostTree, path: ByteString): Side {
  const address = tree.at(path)
  if (address === null) return null
  let fd: number
  try {
    // A pipe would wait for its writer.
    fd = openSync(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return null
    if (stat.size > HUNKED_BYTES) return 'large'
    const bytes = Buffer.alloc(HUNKED_BYTES + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(fd, bytes, length, bytes.length - length, null)
    return length > HUNKED_BYTES ? 'large' : Buffer.from(bytes.subarray(0, length))
  } finally {
    closeSync(fd)
  }
}

/** A character per byte. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const shown = (lines: readonly string[]): string[] => lines.map((line) => Buffer.from(line, 'latin1').toString('utf8'))
