/**
 * Commits of one session to its workspace on the host. What is written is the difference between what was committed last
 * and what stands; what the host has meanwhile is never lost: it stops the commit, is left out, or is kept for an undo.
 */
import { randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  apply as applyWork,
  bytesOf,
  type Candidate,
  commitEntry,
  FileHunks,
  HostTree,
  inspectRepository,
  isFolder,
  isPending,
  keepReplaced,
  makeStaging,
  movedAway,
  type Plan,
  type PlanEntry,
  planCommit,
  prepare,
  prepareUndo,
  readWork,
  removeStaging,
  resolvePlan,
  staleHunks,
  syncSoon,
  takeBack,
  unitOf,
  type Work,
  workspaceGate,
  writeWork,
} from '../commit/index.ts'
import {
  CancelledError,
  type ChosenHunks,
  CommitConflictError,
  type CommitHunks,
  type CommitPreview,
  type CommitRecord,
  type CommitResult,
  InvalidOptionError,
  nameOf,
  type Point,
  type UnkeptSession,
} from '../contract/index.ts'
import { countChanges } from '../diff/index.ts'
import {
  type ByteString,
  type FilesState,
  type Meeting,
  type ReadState,
  readableBytes,
  type Sandbox,
  toByteString,
  toBytes,
  type Written,
} from '../sandbox/index.ts'
import { type CommitPart, type CommitRow, crashPoint } from '../store/index.ts'
import { type Fetched, fetchRepositories } from './commit-repositories.ts'
import { Committed, isAsLeft, withoutSetId } from './committed.ts'
import type { SessionContext } from './context.ts'
import type { Inputs } from './inputs.ts'
import type { Pair } from './pair.ts'
import type { Actor } from './pair-records.ts'

/** Entries in one answer; more than anybody reads. */
const LISTED = 5_000
/** Commits of a session whose replaced entries are kept, so that they can be undone. */
const UNDOABLE = 10
const ROOT = 0

/** A live session whose sandbox shows a folder of the host. */
export interface Neighbour {
  id: string
  name: string
  workspace: string
  sandbox(): Promise<Sandbox>
}

export class Commits {
  readonly #context: SessionContext
  readonly #pair: Pair
  readonly #neighbours: () => Neighbour[]
  /** Where commits are prepared, and what they replaced is kept. */
  readonly #home: string
  readonly #committed: Committed

  /** @param neighbours every live session, this one among them */
  constructor(context: SessionContext, pair: Pair, neighbours: () => Neighbour[]) {
    this.#context = context
    this.#pair = pair
    this.#neighbours = neighbours
    this.#home = join(context.home, 'commits')
    this.#committed = new Committed(context.store, context.id)
  }

  /** Oldest first. */
  list(): CommitRecord[] {
    return this.#rows.filter(isMade).map(recordOf)
  }

  /** The commit that stands; null where what the session began from does. */
  get standing(): CommitRow | null {
    return this.#committed.standing
  }

  /** Ids of points that are what is committed, path by path, or are so after an undo. */
  get points(): Set<string> {
    return this.#committed.points(UNDOABLE)
  }

  get #rows(): CommitRow[] {
    return this.#committed.rows
  }

  async preview(input: Inputs['commit']['preview']): Promise<CommitPreview> {
    const { sandbox, state } = await this.#standingFiles()
    return this.#context.gate.shared(() =>
      this.#inHost(async (tree) => {
        const plan = await this.#plan(sandbox, state(), input, tree)
        const entries = plan.entries.map(commitEntry)
        return {
          entries: entries.slice(0, LISTED),
          truncated: entries.length > LISTED,
          counts: countChanges(plan.entries.map(({ change }) => change)),
          conflicts: entries.filter(({ conflict }) => conflict !== null).length,
          obstacles: entries.filter(({ obstacle }) => obstacle !== null).length,
          warnings: await this.#warnings(plan),
          since: this.standing?.point ?? null,
        }
      }),
    )
  }

  /** What of a file can be committed by itself. */
  async hunks(path: Inputs['commit']['hunks']): Promise<CommitHunks> {
    const { sandbox, state } = await this.#standingFiles()
    return this.#context.gate.shared(() =>
      this.#inHost(async (tree) => {
        const { candidates } = await this.#candidates(sandbox, state(), tree, bytesOf(path))
        const [candidate] = candidates
        const found = candidate ? await this.#committed.hunksOf(candidate, sandbox, state(), tree) : 'not-edited'
        return found instanceof FileHunks
          ? { kind: 'hunks', stretches: found.shown() }
          : { kind: 'whole', reason: found }
      }),
    )
  }

  /**
   * Writes what was changed to the host: all of it, or nothing.
   * @throws CommitConflictError that names what stands in the way, InvalidPathError (the workspace), DiskFullError,
   *   SessionHaltedError, CancelledError (rewound meanwhile); the host is as it was then
   */
  async apply(input: Inputs['commit']['apply'], by: Actor): Promise<CommitResult> {
    const context = this.#context
    const hasEnded = context.row.status === 'ended'
    const sandbox = hasEnded ? await context.layers() : await context.workable()
    context.assertEpoch(input.epoch)
    return this.#gate.exclusive(async () => {
      await this.recover()
      const point = hasEnded ? context.point(context.row.head) : await this.#frozen(sandbox, by)
      return context.gate.exclusive(async () => {
        if (context.row.head !== point.id)
          throw new CancelledError('The session was rewound while it was about to be committed; nothing was written.', {
            nextStep: 'See what stands now, then commit again.',
          })
        return this.#inHost((tree) => this.#write(sandbox, point, input, by, tree))
      })
    })
  }

  /**
   * Takes a commit back: the host has what it had before.
   * @throws InvalidOptionError where there is none, or a later one stands on it; CommitConflictError where the host was
   *   changed since; nothing is changed then
   */
  async undo({ id, force }: Inputs['commit']['undo'], by: Actor): Promise<CommitResult> {
    const context = this.#context
    return this.#gate.exclusive(() =>
      context.gate.exclusive(() =>
        this.#inHost(async (tree) => {
          await this.recover()
          const row = this.#undoable(id)
          const done = await readWork(row.folder)
          if (done === null) throw nothingKept(row)
          return this.#takeBack(row, done, { by, force }, tree)
        }),
      ),
    )
  }

  /**
   * Nothing that a host which was killed left half done stays on the host. Where the workspace cannot be reached it is tried
   * again: at the next start, and before anything else is committed.
   */
  async recover(): Promise<void> {
    const { store } = this.#context
    for (const row of this.#rows.filter(({ status }) => status === 'applying')) {
      let strays: string[]
      try {
        new HostTree(this.#context.row.workspace).close()
        const work = await readWork(row.folder)
        strays = work === null ? [] : await takeBack(work, row.folder)
      } catch (error) {
        this.#note(`A commit was interrupted and waits to be taken back: ${messageOf(error)}`)
        continue
      }
      if (strays.length === 0) await this.#removeAll(row)
      this.#context.durably(() => store.commits.update(row.id, { status: 'failed' }))
      if (strays.length > 0)
        this.#note(
          `A commit was interrupted, and others changed ${strays.slice(0, 3).join(', ')} since: what the host had there is kept in ${row.folder}.`,
        )
    }
  }

  /** What is kept of its commits goes with the session's files; not what the host had and could not be given back. */
  async forget(): Promise<void> {
    for (const row of this.#rows) {
      this.#context.store.commits.dropParts(row.id)
      if (row.status !== 'failed') await this.#removeAll(row)
    }
  }

  /** Its folder, wherever that was, and the copy of it. */
  async #removeAll({ id, folder }: Pick<CommitRow, 'id' | 'folder'>): Promise<void> {
    await removeStaging(folder)
    await removeStaging(join(this.#home, id))
  }

  async #write(
    sandbox: Sandbox,
    point: Point,
    input: Inputs['commit']['apply'],
    by: Actor,
    tree: HostTree,
  ): Promise<CommitResult> {
    const context = this.#context
    const { workspace } = context.row
    const state = this.#stateOf(point.id)
    const plan = await this.#plan(sandbox, state, input, tree)
    const { writes, missing, skipped } = resolvePlan(plan, tree, input)
    const counts = countChanges(writes.map(({ change }) => change))
    const entries = writes.map(commitEntry)
    const result = {
      written: entries.slice(0, LISTED),
      truncated: entries.length > LISTED,
      counts,
      skipped: skipped.slice(0, LISTED).map(commitEntry),
      warnings: await this.#warnings(plan),
    }
    if (writes.length === 0) {
      const { refs, warnings } = await this.#fetched(sandbox, plan)
      return { status: 'nothing', commit: null, ...result, refs, warnings: [...result.warnings, ...warnings] }
    }

    const row: CommitRow = {
      ...this.#newRow('commit', by),
      point: point.id,
      counts,
      leftOut: [...plan.left, ...skipped.map(({ path }) => path)],
    }
    const parts = writes.flatMap(partOf)
    const left = row.leftOut.length + parts.length
    const folder = await this.#staged(row, parts)
    try {
      const owner = process.getuid?.() === ROOT ? lstatSync(workspace) : null
      const preparing = { folder, workspace, root: tree.root, owner, sandbox, state }
      const work = await prepare(writes, missing, preparing)
      writeWork(folder, work)
      crashPoint('commit:staged')
      await this.#carryOut({ ...row, folder }, work, input.force, (kept) => {
        context.store.commits.update(row.id, { status: 'done', folder: kept })
        context.appendLedger({
          eventType: 'commit',
          status: 'committed',
          checkpoint: nameOf(point),
          point: point.id,
          notes: `${countsText(counts)}${left > 0 ? `; ${left} left out` : ''}`,
          decidedBy: by,
        })
      })
    } catch (error) {
      await this.#failed({ id: row.id, folder })
      throw error
    }
    await this.#dropOld().catch(ignore)
    const { refs, warnings } = await this.#fetched(sandbox, plan)
    const commit = this.#tell(row.id)
    return { status: 'committed', commit, ...result, refs, warnings: [...result.warnings, ...warnings] }
  }

  /** The sandbox's commits where they cannot be taken whole. In an ended one git cannot be run any more. */
  async #fetched(sandbox: Sandbox, { apart }: Plan): Promise<Fetched> {
    return sandbox.ended ? { refs: [], warnings: [] } : fetchRepositories(this.#context, sandbox, apart)
  }

  async #takeBack(
    row: CommitRow,
    done: Work,
    { by, force }: { by: Actor; force: boolean },
    tree: HostTree,
  ): Promise<CommitResult> {
    const context = this.#context
    const undo: CommitRow = { ...row, ...this.#newRow('undo', by), undoes: row.id }
    const folder = await this.#staged(undo)
    try {
      const work = await prepareUndo(done, row.folder, folder, tree)
      writeWork(folder, work)
      crashPoint('commit:staged')
      await this.#carryOut({ ...undo, folder }, work, force, () => {
        context.store.commits.update(undo.id, { status: 'done' })
        context.store.commits.update(row.id, { status: 'undone', undoneAt: new Date() })
        context.appendLedger({
          eventType: 'commit_undo',
          status: 'undone',
          checkpoint: nameOf(context.point(row.point)),
          point: row.point,
          notes: countsText(row.counts),
          decidedBy: by,
        })
      })
    } catch (error) {
      await this.#failed({ id: undo.id, folder })
      throw error
    }
    await this.#removeAll(row).catch(ignore)
    await this.#removeAll(undo).catch(ignore)
    const commit = this.#tell(row.id)
    return {
      status: 'undone',
      commit,
      written: [],
      truncated: false,
      counts: row.counts,
      skipped: [],
      warnings: [],
      refs: [],
    }
  }

  /** Keeps what others show, does the work, and records it. @param record is given where what was replaced is kept */
  async #carryOut(row: CommitRow, work: Work, force: boolean, record: (kept: string) => void): Promise<void> {
    const context = this.#context
    // A folder would be kept with all that is in it, for its permissions alone.
    const files = work.modes.filter(({ seen }) => !isFolder(seen))
    await this.#keepFor(
      [...work.replacements, ...files].map(({ path }) => path),
      force,
    )
    crashPoint('commit:kept')
    await applyWork(work, row.folder)
    crashPoint('commit:applied')
    const kept = await keepReplaced(row.folder, this.#home, row.id)
    context.durably(() => {
      record(kept)
      context.raiseSummary()
    })
    crashPoint('commit:recorded')
    // From here on it is done, whatever else fails.
    if (kept !== row.folder) await removeStaging(row.folder).catch(ignore)
    syncSoon(work.workspace)
    // In order with what is asked about the folder next.
    void context.hostFolders.accept(context.id, written(work)).catch(ignore)
  }

  /** What every live session shows of these paths stays as it is. @throws CommitConflictError that names those that cannot */
  async #keepFor(paths: readonly ByteString[], force: boolean): Promise<void> {
    const { workspace } = this.#context.row
    const unkept: UnkeptSession[] = []
    for (const neighbour of this.#shown()) {
      const theirs = pathsWithin(neighbour.workspace, workspace, paths)
      if (theirs.length === 0) continue
      const { id, name } = neighbour
      try {
        if (!(await (await neighbour.sandbox()).keepHostEntries(theirs.map(toBytes))))
          unkept.push({
            id,
            name,
            reason:
              id === this.#context.id && this.#context.row.status === 'ended'
                ? 'it has ended'
                : 'its processes hold files of the workspace',
          })
      } catch (error) {
        unkept.push({ id, name, reason: messageOf(error) })
      }
    }
    if (unkept.length === 0 || force) return
    const [first] = unkept
    throw new CommitConflictError(
      `Earlier points of ${unkept.map(({ name }) => name).join(', ')} show the host's own files, and could not keep them: ${first?.reason}. Nothing was committed.`,
      {
        nextStep: 'Stop what runs there, or commit with --force: those points then show what is committed.',
        data: { conflicts: [], obstacles: [], sessions: unkept },
      },
    )
  }

  /** Every live session, and this one also where it has ended. */
  #shown(): Neighbour[] {
    const { id, name, workspace, status } = this.#context.row
    const live = this.#neighbours()
    return status === 'ended' ? [...live, { id, name, workspace, sandbox: () => this.#context.layers() }] : live
  }

  /** Where files are read from that stand now. @returns `state`, which a rewind may change until it is the turn of it */
  async #standingFiles(): Promise<{ sandbox: Sandbox; state: () => ReadState }> {
    const context = this.#context
    if (context.row.status !== 'ended') return { sandbox: await context.live(), state: () => 'now' }
    return { sandbox: await context.layers(), state: () => this.#stateOf(context.row.head) }
  }

  /** The files as they stand, in a point. */
  async #frozen(sandbox: Sandbox, by: Actor): Promise<Point> {
    const context = this.#context
    await this.#pair.finish(sandbox)
    if ((await context.gate.shared(() => sandbox.lastChange())) === null) return context.point(context.row.head)
    const takenBy = by === 'rule' ? 'auto' : by
    return this.#pair.checkpoint({ label: null, why: 'to be committed', messages: null, takenBy })
  }

  async #plan(
    sandbox: Sandbox,
    to: ReadState,
    { paths, hunks = [] }: Inputs['commit']['preview'],
    tree: HostTree,
  ): Promise<Plan> {
    const { row } = this.#context
    const { candidates, unitChanged } = await this.#candidates(sandbox, to, tree)
    const { partly, declined } = await this.#choose(hunks, candidates, sandbox, to, tree)
    const gitFiles = await this.#gitFilesThatLeadOut(sandbox, to, candidates)
    return planCommit(candidates, {
      tree,
      unitChanged,
      leadsOut: (path) => gitFiles.has(path),
      chosen: paths && [...paths.map(bytesOf), ...partly],
      declined,
      roots: [row.workspace, row.workspaceInside],
    })
  }

  /** Has each candidate of which hunks were chosen know them. @throws CommitConflictError where one is there no more */
  async #choose(
    hunks: readonly ChosenHunks[],
    candidates: readonly Candidate[],
    sandbox: Sandbox,
    to: ReadState,
    tree: HostTree,
  ): Promise<{ partly: ByteString[]; declined: Set<ByteString> }> {
    const byPath = new Map(candidates.map((candidate) => [bytesOf(candidate.change), candidate]))
    const chosen = new Map(hunks.map((one) => [bytesOf(one), new Set(one.take)]))
    const declined = new Set<ByteString>()
    for (const [path, take] of chosen) {
      const candidate = byPath.get(path)
      if (candidate === undefined || !isPending(candidate)) throw staleHunks(path, 'not-edited')
      if (unitOf(path) !== null) throw staleHunks(path, 'repository')
      if (take.size === 0) {
        declined.add(path)
        continue
      }
      const found = await this.#committed.hunksOf(candidate, sandbox, to, tree)
      const taken = found instanceof FileHunks ? found.take([...take]) : null
      if (taken === null) throw staleHunks(path, found instanceof FileHunks ? null : found)
      const { modes } = candidate.change
      // All of it is the file as it is, with its permissions; what the host has there keeps its own.
      if (!taken.isAll || candidate.changedOnHost)
        candidate.part = { ...taken, isAll: taken.isAll && modes?.before === modes?.after }
    }
    return { partly: [...chosen.keys()].filter((path) => !declined.has(path)), declined }
  }

  /** Every change with what it meets on the host. @param only of one path alone */
  async #candidates(
    sandbox: Sandbox,
    to: ReadState,
    tree: HostTree,
    only: ByteString | null = null,
  ): Promise<{ candidates: Candidate[]; unitChanged: (unit: ByteString) => boolean }> {
    const context = this.#context
    const { row } = context
    const committed = this.#committed
    const from = committed.stateOf(this.standing?.point ?? 'base')
    const changes = (await committed.changes(sandbox, to)).filter((one) => only === null || bytesOf(one) === only)
    const paths = changes.map(bytesOf)
    const hosts = paths.map((path) => tree.look(path))
    const meetings = await sandbox.meetings(from, to, paths.map(toBytes))
    const units = [...new Set(paths.flatMap((path) => unitOf(path) ?? []))]
    const compared = await context.hostFolders.compare(row.id, paths.map(toBytes), units.map(toBytes))
    const lastWritten = committed.lastWritten()
    const changedOnHost = (path: ByteString, meeting: Meeting, index: number): boolean => {
      const { part } = lastWritten(path)
      if (part) return !isAsLeft(path, part, tree)
      // The layers say byte for byte that it is what it was, whatever became of its times.
      if (meeting.host === 'same') return false
      if (compared !== null) return compared.paths[index]?.differs === true
      return meeting.host === 'changed' || tree.changedSince(path, row.createdAt.getTime())
    }
    const candidates = changes.map((change, index): Candidate => {
      const meeting = meetings[index] as Meeting
      const known = compared?.paths[index]
      const was = known ? known.was : (change.modes?.before ?? null)
      const isChanged = changedOnHost(paths[index] ?? '', meeting, index)
      return { change, meeting, host: hosts[index] ?? null, changedOnHost: isChanged, was, part: null }
    })
    return {
      candidates,
      unitChanged: (unit) =>
        compared?.trees[units.indexOf(unit)] ?? tree.anyChangedSince(unit, row.createdAt.getTime()),
    }
  }

  async #gitFilesThatLeadOut(
    sandbox: Sandbox,
    to: ReadState,
    candidates: readonly Candidate[],
  ): Promise<Set<ByteString>> {
    const found = new Set<ByteString>()
    for (const { change, meeting } of candidates) {
      const path = bytesOf(change)
      if (meeting.after?.kind !== 'file' || !/(^|\/)\.git$/.test(path)) continue
      const text = change.rawPath === null ? toByteString(await sandbox.readFile(change.path, to)) : ''
      const target = /^gitdir: (.*?)\n?$/.exec(text)?.[1] ?? '/'
      const way = join('/', path, '..', target)
      const within = !target.startsWith('/') && relative('/', way) !== '' && !escapes(path, target)
      if (!within) found.add(path)
    }
    return found
  }

  async #warnings({ apart }: Plan): Promise<string[]> {
    const { workspace, name, status } = this.#context.row
    const state = await inspectRepository(workspace)
    const busy = state.kind === 'none' ? null : state.busy
    return [
      ...(busy === null
        ? []
        : [busy === 'index.lock' ? 'Git is at work on the host.' : `A ${busy} is under way on the host.`]),
      ...apart.map(
        (unit) =>
          `${readableBytes(toBytes(unit))} was changed on the host and in the sandbox: the host's is left as it is${status === 'ended' ? '' : `, and the sandbox's commits are fetched under refs/rewind/${name}`}.`,
      ),
    ]
  }

  #newRow(kind: CommitRow['kind'], by: Actor): CommitRow {
    const id = `c${randomBytes(8).toString('hex')}`
    return {
      id,
      session: this.#context.id,
      kind,
      undoes: null,
      status: 'applying',
      point: 'base',
      by,
      at: new Date(),
      counts: { added: 0, modified: 0, deleted: 0 },
      leftOut: [],
      partly: [],
      folder: join(this.#home, id),
      undoneAt: null,
    }
  }

  /** Its folder; the row is there before it, so that a folder which nobody asks for is found again. */
  async #staged(row: CommitRow, parts: readonly CommitPart[] = []): Promise<string> {
    const { commits } = this.#context.store
    return makeStaging(this.#context.row.workspace, this.#home, row.id, (folder) => {
      this.#context.durably(() => commits.insert({ ...row, folder }, parts))
    })
  }

  /** The host is as it was, or an error says what is not: then what it had is still in the folder. */
  async #failed({ id, folder }: Pick<CommitRow, 'id' | 'folder'>): Promise<void> {
    const work = await readWork(folder)
    const isClean = work === null || (await takeBack(work, folder).catch(() => [''])).length === 0
    if (isClean) await this.#removeAll({ id, folder })
    this.#context.store.commits.update(id, { status: 'failed' })
  }

  #undoable(id: string | null): CommitRow {
    const { standing } = this
    if (standing === null || (id !== null && standing.id !== id))
      throw new InvalidOptionError(
        standing === null
          ? 'There is no commit to undo.'
          : `${id} is not the last commit that stands, which is ${standing.id}.`,
        { nextStep: 'Undo goes from the last commit backwards: see `rewind commit --list`.' },
      )
    return standing
  }

  /** What the oldest ones replaced is not kept for ever. */
  async #dropOld(): Promise<void> {
    const kept = this.#rows.filter(({ kind, status }) => kind === 'commit' && status === 'done')
    const settled = kept.slice(0, -UNDOABLE)
    for (const { folder } of settled) await removeStaging(folder)
    this.#committed.dropParts(settled)
  }

  #tell(id: string): CommitRecord {
    const commit = recordOf(this.#context.store.commits.get(id) as CommitRow)
    this.#context.raise({ type: 'committed', commit })
    return commit
  }

  #note(text: string): void {
    const context = this.#context
    if (context.row.notes.includes(text)) return
    context.updateRow({ notes: [...context.row.notes, text] })
    context.raiseSummary()
  }

  get #gate() {
    const { workspace } = this.#context.row
    try {
      return workspaceGate(workspace)
    } catch {
      throw movedAway(workspace)
    }
  }

  async #inHost<T>(use: (tree: HostTree) => Promise<T>): Promise<T> {
    const { workspace } = this.#context.row
    let tree: HostTree
    try {
      tree = new HostTree(workspace)
    } catch {
      throw movedAway(workspace)
    }
    try {
      return await use(tree)
    } finally {
      tree.close()
    }
  }

  #stateOf(point: string): FilesState {
    return this.#committed.stateOf(point)
  }
}

/** What the commit took of an entry where that is not all. */
function partOf({ path, part, change, host }: PlanEntry): CommitPart[] {
  if (part === null || part.isAll) return []
  return [{ path, mode: withoutSetId(change.modes?.before ?? host?.mode ?? 0), content: part.committed }]
}

/** What is there now, unless somebody wrote to it since; not what holds their edits, which stays theirs. */
const written = ({ replacements, modes }: Work): Written[] => [
  ...replacements.flatMap(({ path, fresh, edited }) => (edited?.fresh ? [] : [{ path, now: fresh }])),
  ...modes.map(({ path, seen }) => ({ path, now: seen })),
]

const isMade = ({ kind, status }: CommitRow): boolean => kind === 'commit' && (status === 'done' || status === 'undone')

const recordOf = ({ id, session, point, at, by, counts, leftOut, partly, undoneAt }: CommitRow): CommitRecord => ({
  id,
  session,
  point,
  at,
  by,
  counts,
  left: leftOut.length + partly.length,
  undoneAt,
})

const nothingKept = (row: CommitRow): InvalidOptionError =>
  new InvalidOptionError(`What the commit ${row.id} replaced is no longer kept.`, {
    nextStep: 'Take the changes back by hand, or from your own version control.',
  })

/** Whether `target`, from the folder that `path` is in, leads above the workspace. */
function escapes(path: ByteString, target: string): boolean {
  let depth = path.split('/').length - 1
  for (const part of target.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}

/** Paths of one workspace as another one names them that holds it, or lies in it. */
function pathsWithin(theirs: string, ours: string, paths: readonly ByteString[]): ByteString[] {
  if (theirs === ours) return [...paths]
  const [their, our] = [toByteString(theirs), toByteString(ours)]
  if (our.startsWith(`${their}/`)) return paths.map((path) => `${our.slice(their.length + 1)}/${path}`)
  if (!their.startsWith(`${our}/`)) return []
  const within = `${their.slice(our.length + 1)}/`
  return paths.flatMap((path) => (path.startsWith(within) ? [path.slice(within.length)] : []))
}

const countsText = ({ added, modified, deleted }: CommitRecord['counts']): string =>
  `${added} added, ${modified} modified, ${deleted} deleted`

const ignore = (): void => {}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
