/**
 * Changes as one patch that `git apply` takes: what `git diff --binary --full-index` would write for them.
 *
 * A file's content is held only up to the size that is still shown as lines; anything larger is read twice, once for
 * its id, once to be packed, and flows through. What a patch cannot hold is told at the end, by name.
 *
 * The format: https://git-scm.com/docs/diff-format#generate_patch_text_with_p; binary sections as in emit_binary_diff
 * (diff.c) and parse_binary_hunk (apply.c) of git's source.
 */
import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { createDeflate } from 'node:zlib'
import { CommitConflictError } from '../contract/index.ts'
import {
  ALIGN_BYTES,
  BASE85_LINE_BYTES,
  base85Line,
  gitName,
  isPatchText,
  sideNames,
  textHunks,
} from '../diff/index.ts'
import { readableName, refusedByGit, refusedPart } from './git-names.ts'

/** What stands at a path, before or after. */
export type PatchSide =
  | { kind: 'file'; mode: number; size: number; read(): AsyncIterable<Uint8Array> }
  | { kind: 'symlink'; mode: number; target: Uint8Array }
  | { kind: 'folder' | 'other'; mode: number }

export interface PatchEntry {
  /** Relative to where the patch will be applied. */
  path: Uint8Array
  /** null where nothing stands there. */
  before: PatchSide | null
  after: PatchSide | null
}

/** Something that the patch does not do. */
export interface PatchNote {
  path: Uint8Array
  /**
   * `folder`: an empty one comes or goes, and git knows files only; `special`: a FIFO, socket or device; `mode`:
   * permissions other than whether it can be run; `git`: a name that git keeps for itself, with all below it.
   */
  reason: 'folder' | 'special' | 'mode' | 'git'
}

/** @returns what is left out. @throws CommitConflictError where a file changes while it is read */
export async function* gitPatch(
  entries: Iterable<PatchEntry> | AsyncIterable<PatchEntry>,
): AsyncGenerator<string, PatchNote[]> {
  const notes: PatchNote[] = []
  const folders = new EmptyFolders()
  const refused = new Set<string>()
  for await (const { path, before, after } of entries) {
    if (refusedByGit(path, before?.kind === 'symlink' || after?.kind === 'symlink')) {
      const part = refusedPart(path)
      const key = Buffer.from(part).toString('latin1')
      if (!refused.has(key)) notes.push({ path: part, reason: 'git' })
      refused.add(key)
      continue
    }
    if (before?.kind === 'other' || after?.kind === 'other') notes.push({ path, reason: 'special' })
    folders.see(path, before, after)
    const old = inPatch(before)
    const now = inPatch(after)
    if (old && now && losesMode(old, now)) notes.push({ path, reason: 'mode' })
    // A change of type is a deletion and an addition, as in git.
    if (old && now && old.kind !== now.kind) {
      yield* section(path, old, null)
      yield* section(path, null, now)
    } else if (old || now) yield* section(path, old, now)
  }
  return [...notes, ...folders.notes()]
}

type Blob = Extract<PatchSide, { kind: 'file' | 'symlink' }>

const inPatch = (side: PatchSide | null): Blob | null =>
  side?.kind === 'file' || side?.kind === 'symlink' ? side : null

const gitMode = (side: Blob): string =>
  side.kind === 'symlink' ? '120000' : (side.mode & 0o100) !== 0 ? '100755' : '100644'

const permissions = ({ kind, mode }: Blob): number => (kind === 'symlink' ? 0 : mode & 0o7777)

/** Whether permissions differ in what git's two modes for files do not say. */
function losesMode(before: Blob, after: Blob): boolean {
  if (before.kind !== after.kind || permissions(before) === permissions(after)) return false
  const runs = gitMode(after) === '100755' ? 0o111 : 0
  return (permissions(before) & ~0o111) !== (permissions(after) & ~0o111) || (permissions(after) & 0o111) !== runs
}

async function* section(path: Uint8Array, before: Blob | null, after: Blob | null): AsyncGenerator<string> {
  const old = before && (await Content.of(path, before))
  const now = after && (await Content.of(path, after))
  const modes = { old: before && gitMode(before), new: after && gitMode(after) }
  const isSame = old?.id === now?.id
  if (isSame && modes.old === modes.new) return
  const names = { old: gitName('a/', path), new: gitName('b/', path) }
  yield `diff --git ${names.old} ${names.new}\n`
  if (modes.old === null) yield `new file mode ${modes.new}\n`
  else if (modes.new === null) yield `deleted file mode ${modes.old}\n`
  else if (modes.old !== modes.new) yield `old mode ${modes.old}\nnew mode ${modes.new}\n`
  if (isSame) return
  const stays = modes.old === modes.new ? ` ${modes.old}` : ''
  yield `index ${old?.id ?? NO_FILE}..${now?.id ?? NO_FILE}${stays}\n`
  const texts = { old: old ? old.text() : '', new: now ? now.text() : '' }
  if (texts.old === null || texts.new === null) {
    yield 'GIT binary patch\n'
    yield* literal(now)
    yield* literal(old)
  } else if (texts.old !== texts.new)
    yield `${sideNames(old ? names.old : '/dev/null', now ? names.new : '/dev/null')}${textHunks(texts.old, texts.new)}`
}

const NO_FILE = '0'.repeat(40)

/** A side's bytes: git's id for them, and the bytes themselves as long as they are few. */
class Content {
  readonly id: string
  readonly size: number
  readonly #path: Uint8Array
  readonly #read: () => AsyncIterable<Uint8Array>
  readonly #bytes: Buffer | null

  /** @throws CommitConflictError where the file is of another size than was said */
  static async of(path: Uint8Array, side: Blob): Promise<Content> {
    const size = side.kind === 'file' ? side.size : side.target.length
    const read = side.kind === 'file' ? () => side.read() : () => Readable.from([side.target])
    const kept: Uint8Array[] = []
    const hash = new BlobHash(size)
    for await (const bytes of read()) {
      hash.update(bytes)
      if (size <= ALIGN_BYTES && hash.seen <= size) kept.push(bytes)
    }
    if (hash.seen !== size) throw changedMeanwhile(path)
    return new Content(path, hash.id(), size, read, size <= ALIGN_BYTES ? Buffer.concat(kept) : null)
  }

  private constructor(
    path: Uint8Array,
    id: string,
    size: number,
    read: () => AsyncIterable<Uint8Array>,
    bytes: Buffer | null,
  ) {
    this.id = id
    this.size = size
    this.#path = path
    this.#read = read
    this.#bytes = bytes
  }

  /** null where a patch does not show it as lines. */
  text(): string | null {
    return this.#bytes && isPatchText(this.#bytes) ? this.#bytes.toString('utf8') : null
  }

  /** @throws CommitConflictError where it is not what it was when its id was made */
  async *pieces(): AsyncGenerator<Uint8Array> {
    if (this.#bytes) {
      yield this.#bytes
      return
    }
    const hash = new BlobHash(this.size)
    for await (const bytes of this.#read()) {
      hash.update(bytes)
      yield bytes
    }
    if (hash.id() !== this.id) throw changedMeanwhile(this.#path)
  }
}

/** What git calls a file of these bytes. */
class BlobHash {
  seen = 0
  readonly #hash = createHash('sha1')

  constructor(size: number) {
    this.#hash.update(`blob ${size}\0`)
  }

  update(bytes: Uint8Array): void {
    this.seen += bytes.length
    this.#hash.update(bytes)
  }

  id(): string {
    return this.#hash.digest('hex')
  }
}

const changedMeanwhile = (path: Uint8Array): CommitConflictError =>
  new CommitConflictError(`${readableName(path)} changed while the patch was written.`, {
    nextStep: 'Write the patch again.',
  })

/** A whole side, packed; nothing counts as an empty file. */
async function* literal(content: Content | null): AsyncGenerator<string> {
  yield `literal ${content?.size ?? 0}\n`
  const packed = createDeflate()
  // Where reading fails, `packed` is destroyed with that error, which ends the loop.
  pipeline(Readable.from(content ? content.pieces() : []), packed, () => {})
  let rest = Buffer.alloc(0)
  for await (const piece of packed) {
    const bytes = Buffer.concat([rest, piece as Buffer])
    const whole = bytes.length - (bytes.length % BASE85_LINE_BYTES)
    yield base85Lines(bytes.subarray(0, whole))
    rest = bytes.subarray(whole)
  }
  yield `${base85Lines(rest)}\n`
}

function base85Lines(bytes: Buffer): string {
  let lines = ''
  for (let at = 0; at < bytes.length; at += BASE85_LINE_BYTES)
    lines += base85Line(bytes.subarray(at, at + BASE85_LINE_BYTES))
  return lines
}

/** Folders come and go with the files in them; those without any are what a patch cannot make or remove. */
class EmptyFolders {
  readonly #come = new Map<string, Uint8Array>()
  readonly #go = new Map<string, Uint8Array>()
  readonly #filled = new Set<string>()
  readonly #emptied = new Set<string>()

  see(path: Uint8Array, before: PatchSide | null, after: PatchSide | null): void {
    const name = Buffer.from(path).toString('latin1')
    if (before?.kind !== 'folder' && after?.kind === 'folder') this.#come.set(name, path)
    // git removes an empty folder where a file comes in its place.
    if (before?.kind === 'folder' && after?.kind !== 'folder' && !inPatch(after)) this.#go.set(name, path)
    if (inPatch(after)) addParents(this.#filled, name)
    if (inPatch(before) && !inPatch(after)) addParents(this.#emptied, name)
  }

  notes(): PatchNote[] {
    const left = (folders: Map<string, Uint8Array>, held: Set<string>) =>
      [...folders].filter(([name]) => !held.has(name)).map(([, path]): PatchNote => ({ path, reason: 'folder' }))
    return [...left(this.#come, this.#filled), ...left(this.#go, this.#emptied)]
  }
}

/** Those above it are there already where the nearest is. */
function addParents(set: Set<string>, name: string): void {
  for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) {
    const parent = name.slice(0, at)
    if (set.has(parent)) return
    set.add(parent)
  }
}
