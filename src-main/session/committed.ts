/**
 * What the host was given last, path by path: by the commit that wrote a path last, which may have left others out, or
 * have taken some lines of a file alone. What differs from that is what the next commit writes.
 */
import {
  bytesOf,
  type Candidate,
  FileHunks,
  type HostTree,
  HUNKED_BYTES,
  isPending,
  readHostFile,
  type Side,
  unitOf,
} from '../commit/index.ts'
import { type Change, FileNotFoundError, type WholeReason } from '../contract/index.ts'
import {
  type ByteString,
  type EntryFacts,
  type FilesState,
  type ReadState,
  type Sandbox,
  showPath,
  toBytes,
} from '../sandbox/index.ts'
import type { CommitPart, CommitRow, Store } from '../store/index.ts'

/** What stands for a path since it was last written: what a point has there, or what is kept beside the commit. */
type LastWritten = { point: string; part: CommitPart | null }

export class Committed {
  readonly #store: Pick<Store, 'commits' | 'points'>
  readonly #session: string

  constructor(store: Pick<Store, 'commits' | 'points'>, session: string) {
    this.#store = store
    this.#session = session
  }

  /** Every commit and undo, oldest first. */
  get rows(): CommitRow[] {
    return this.#store.commits.list(this.#session)
  }

  /** The commit that stands; null where what the session began from does. */
  get standing(): CommitRow | null {
    return this.#made.at(-1) ?? null
  }

  stateOf(point: string): FilesState {
    return this.#store.points.held(this.#session, point).state
  }

  /**
   * Ids of the points that paths were written from last, as things stand and after each undo that can still be made.
   * @param undoable how many commits can be undone
   */
  points(undoable: number): Set<string> {
    const made = this.#made
    const ids = new Set<string>()
    for (let last = Math.max(0, made.length - undoable - 1); last < made.length; last++) {
      // What a commit left out stands as an earlier one wrote it.
      let left = made[last]?.leftOut ?? []
      ids.add(made[last]?.point ?? '')
      for (let at = last - 1; at >= 0 && left.length > 0; at--) {
        const leftOut = new Set(made[at]?.leftOut)
        const still = left.filter((path) => leftOut.has(path))
        if (still.length < left.length) ids.add(made[at]?.point ?? '')
        left = still
      }
    }
    return ids
  }

  /** What differs since the last commit, what that left out, and the rest of what it took in part; sorted by path. */
  async changes(sandbox: Sandbox, to: ReadState): Promise<Change[]> {
    const { standing } = this
    const changes = await sandbox.changes(this.stateOf(standing?.point ?? 'base'), to)
    const lastWritten = this.lastWritten()
    const parts = new Map<ByteString, CommitPart>()
    for (const path of this.#made.flatMap(({ partly }) => partly)) {
      const { part } = lastWritten(path)
      if (part) parts.set(path, part)
    }
    const leftOut = (standing?.leftOut ?? []).filter((path) => !parts.has(path))
    if (leftOut.length === 0 && parts.size === 0) return changes
    const found = new Map(changes.map((change) => [bytesOf(change), change]))
    const settle = (path: ByteString, change: Change | null | undefined): void => {
      if (change) found.set(path, change)
      else found.delete(path)
    }
    for (const [point, paths] of Map.groupBy(leftOut, (path) => lastWritten(path).point)) {
      const since = new Map((await sandbox.changes(this.stateOf(point), to)).map((change) => [bytesOf(change), change]))
      for (const path of paths) settle(path, since.get(path))
    }
    for (const [path, part] of parts) settle(path, await changeSince(part, sandbox, this.stateOf('base'), to))
    return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, change]) => change)
  }

  lastWritten(): (path: ByteString) => LastWritten {
    const made = this.#made.map((row) => ({ row, left: new Set(row.leftOut), partly: new Set(row.partly) }))
    return (path) => {
      const last = made.findLast(({ left }) => !left.has(path))
      const part = last?.partly.has(path) ? this.#store.commits.part(last.row.id, path) : undefined
      return { point: last?.row.point ?? 'base', part: part ?? null }
    }
  }

  /** What of a path can be committed by itself; why nothing can where that is so. */
  async hunksOf(
    candidate: Candidate,
    sandbox: Sandbox,
    to: ReadState,
    tree: HostTree,
  ): Promise<FileHunks | WholeReason> {
    const path = bytesOf(candidate.change)
    if (unitOf(path) !== null) return 'repository'
    if (!isPending(candidate) || candidate.change.status === 'added' || candidate.change.status === 'deleted')
      return 'not-edited'
    const { point, part } = this.lastWritten()(path)
    if (part === null && candidate.changedOnHost && (await isShown(path, sandbox, this.stateOf(point), to)))
      return 'no-base'
    return FileHunks.of({
      base: part ? part.content : await readFile(path, sandbox, this.stateOf(point)),
      sandbox: await readFile(path, sandbox, to),
      host: readHostFile(tree, path),
    })
  }

  /** Parts that nothing goes back to any more, of commits that can no longer be undone. */
  dropParts(settled: readonly CommitRow[]): void {
    for (const row of settled)
      for (const path of row.partly)
        if (settled.findLast(({ leftOut }) => !leftOut.includes(path)) !== row)
          this.#store.commits.dropPart(row.id, path)
  }

  get #made(): CommitRow[] {
    return this.rows.filter(({ kind, status }) => kind === 'commit' && status === 'done')
  }
}

/** No commit gives the host the right to run as somebody else. */
export const withoutSetId = (mode: number): number => mode & ~(S_ISUID | S_ISGID)

const S_ISUID = 0o4000
const S_ISGID = 0o2000

/** Whether the host has what a commit that took a part of it left there. */
export function isAsLeft(path: ByteString, { mode, content }: CommitPart, tree: HostTree): boolean {
  const host = readHostFile(tree, path)
  return host instanceof Uint8Array && tree.look(path)?.mode === mode && Buffer.from(host).equals(content)
}

async function changeSince(
  { path, mode, content }: CommitPart,
  sandbox: Sandbox,
  from: FilesState,
  to: ReadState,
): Promise<Change | null> {
  const [meeting] = await sandbox.meetings(from, to, [toBytes(path)])
  const after = meeting?.after ?? null
  const status = await statusOf(after)
  if (status === null) return null
  const modes = { before: mode, after: after && after.format | after.mode }
  return {
    ...showPath(path),
    status,
    kind: after?.kind ?? 'file',
    before: content.length,
    after: after?.size ?? null,
    modes,
  }

  async function statusOf(now: EntryFacts | null): Promise<Change['status'] | null> {
    if (now === null) return 'deleted'
    if (now.kind !== 'file') return 'type'
    const bytes = now.size === content.length ? await readFile(path, sandbox, to) : null
    if (!(bytes instanceof Uint8Array) || !Buffer.from(bytes).equals(content)) return 'modified'
    return withoutSetId(now.format | now.mode) === mode ? null : 'mode'
  }
}

/** Whether a state shows the host's own entry there, whatever became of that since. */
async function isShown(path: ByteString, sandbox: Sandbox, from: FilesState, to: ReadState): Promise<boolean> {
  const [meeting] = await sandbox.meetings(from, to, [toBytes(path)])
  return meeting?.host === 'shown'
}

async function readFile(path: ByteString, sandbox: Sandbox, state: ReadState): Promise<Side> {
  try {
    const { pieces, next } = await sandbox.pieces(state, [toBytes(path)], { index: 0, offset: 0 }, HUNKED_BYTES)
    return next === null ? Buffer.concat(pieces.map(({ bytes }) => bytes)) : 'large'
  } catch (error) {
    if (error instanceof FileNotFoundError) return null
    throw error
  }
}
