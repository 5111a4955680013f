/** What a commit would write, written elsewhere: as a patch, or on a branch of the host's repository. */
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BranchEntry,
  bytesOf,
  commitToBranch,
  gitPatch,
  type PatchEntry,
  type PatchSide,
} from '../commit/index.ts'
import type { BranchResult, Change, ChosenPath, PatchPart } from '../contract/index.ts'
import {
  type EntryFacts,
  type FilesState,
  type ReadState,
  readableBytes,
  type Sandbox,
  toBytes,
} from '../sandbox/index.ts'
import type { Commits } from './commits.ts'
import type { SessionContext } from './context.ts'
import type { Inputs } from './inputs.ts'

/** What differs between two states, with what each has of it. */
interface Differences {
  changes: Change[]
  paths: Uint8Array[]
  before: (EntryFacts | null)[]
  after: (EntryFacts | null)[]
}

/** Why a patch leaves something out, as a person reads it. */
const patchReasons = {
  folder: 'git knows no empty folders',
  special: 'git knows no pipes, sockets and devices',
  mode: 'git knows of permissions only whether a file can be run',
  git: 'git keeps names like this for itself',
}
const branchReasons = { git: patchReasons.git, submodule: 'lies in a submodule' }

export class CommitElsewhere {
  readonly #context: SessionContext
  readonly #commits: Commits

  constructor(context: SessionContext, commits: Commits) {
    this.#context = context
    this.#commits = commits
  }

  /**
   * The changes as a patch that `git apply` takes, in parts; what it cannot hold is told last.
   * @throws CommitConflictError where a file changes while it is read, DiskFullError
   */
  async *patch({ paths }: Inputs['commit']['patch']): AsyncGenerator<PatchPart> {
    const { sandbox, from, to } = await this.#states()
    const scratch = await this.#scratch()
    try {
      const found = await this.#context.gate.shared(async () => {
        const differences = await this.#differences(sandbox, from, to, paths)
        const sides = {
          before: await takeOut(sandbox, from, differences.paths, differences.before, join(scratch, 'before')),
          after: await takeOut(sandbox, to, differences.paths, differences.after, join(scratch, 'after')),
        }
        return { differences, sides }
      })
      const { differences, sides } = found
      const entries = differences.paths.map((path, index): PatchEntry => {
        const side = (facts: EntryFacts | null | undefined, files: Map<number, string>) =>
          facts ? patchSide(facts, files.get(index)) : null
        return {
          path,
          before: side(differences.before[index], sides.before),
          after: side(differences.after[index], sides.after),
        }
      })
      const parts = gitPatch(entries)
      for (;;) {
        const { value, done } = await parts.next()
        if (!done) yield { text: value }
        else {
          const left = value.map(({ path, reason }) => ({ path: readableBytes(path), reason: patchReasons[reason] }))
          if (left.length > 0) yield { left }
          return
        }
      }
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  /**
   * The changes as one commit on a new branch, beside what the host's folder and its index hold.
   * @throws InvalidOptionError (the branch's name, or nothing to write), InvalidPathError (no repository), GitError
   */
  async branch({ name, message, paths, epoch }: Inputs['commit']['branch']): Promise<BranchResult> {
    const context = this.#context
    context.assertEpoch(epoch)
    const { sandbox, from, to } = await this.#states()
    const scratch = await this.#scratch()
    try {
      const entries = await context.gate.shared(async () => {
        const differences = await this.#differences(sandbox, from, to, paths)
        const files = await takeOut(sandbox, to, differences.paths, differences.after, join(scratch, 'after'))
        return differences.paths.flatMap((path, index) => branchEntry(path, differences, index, files))
      })
      const made = await commitToBranch({
        workspace: context.row.workspace,
        branch: name,
        message: message ?? `Changes of the session ${context.row.name}`,
        entries,
        scratch,
      })
      return {
        commit: made.commit,
        branch: made.branch,
        written: made.written,
        ignored: made.ignored.map(readableBytes),
        skipped: made.refused.map(({ path, reason }) => ({ path: readableBytes(path), reason: branchReasons[reason] })),
      }
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  async #states(): Promise<{ sandbox: Sandbox; from: FilesState; to: ReadState }> {
    const context = this.#context
    const { points } = context.store
    const hasEnded = context.row.status === 'ended'
    return {
      sandbox: hasEnded ? await context.layers() : await context.live(),
      from: points.held(context.id, this.#commits.standing?.point ?? 'base').state,
      to: hasEnded ? points.held(context.id, context.row.head).state : 'now',
    }
  }

  async #differences(
    sandbox: Sandbox,
    from: FilesState,
    to: ReadState,
    chosen: ChosenPath[] | null,
  ): Promise<Differences> {
    const wanted = chosen?.map(bytesOf) ?? null
    const changes = (await sandbox.changes(from, to)).filter((change) => {
      const path = bytesOf(change)
      return path !== '.' && (wanted?.some((one) => path === one || path.startsWith(`${one}/`)) ?? true)
    })
    const paths = changes.map((change) => toBytes(bytesOf(change)))
    const facts = async (state: ReadState) => (await sandbox.meetings(from, state, paths)).map(({ after }) => after)
    return { changes, paths, before: await facts(from), after: await facts(to) }
  }

  async #scratch(): Promise<string> {
    const home = join(this.#context.home, 'commits')
    await mkdir(home, { recursive: true, mode: 0o700 })
    const scratch = await mkdtemp(join(home, 'elsewhere-'))
    for (const side of ['before', 'after']) await mkdir(join(scratch, side))
    return scratch
  }
}

/** Copies the files among them. @returns where each is, by its place in the list */
async function takeOut(
  sandbox: Sandbox,
  state: ReadState,
  paths: readonly Uint8Array[],
  facts: readonly (EntryFacts | null)[],
  folder: string,
): Promise<Map<number, string>> {
  const places = facts.flatMap((fact, index) => (fact?.kind === 'file' ? [index] : []))
  await sandbox.extract(
    state,
    places.map((index) => paths[index] ?? new Uint8Array()),
    folder,
  )
  return new Map(places.map((index, n) => [index, join(folder, String(n))]))
}

function patchSide({ kind, mode, size, target }: EntryFacts, file: string | undefined): PatchSide {
  if (kind === 'file' && file !== undefined) return { kind, mode, size: size ?? 0, read: () => createReadStream(file) }
  if (kind === 'symlink') return { kind, mode, target: target ?? new Uint8Array() }
  return { kind: kind === 'folder' ? 'folder' : 'other', mode }
}

/** None for what git knows nothing of: folders, pipes. */
function branchEntry(
  path: Uint8Array,
  { before, after }: Differences,
  index: number,
  files: ReadonlyMap<number, string>,
): BranchEntry[] {
  const [was, is] = [before[index], after[index]]
  const file = files.get(index)
  if (is && file !== undefined) return [{ path, mode: is.format | is.mode, content: { file } }]
  if (is?.target) return [{ path, mode: is.format | is.mode, content: { target: is.target } }]
  const isGone = was?.kind === 'file' || was?.kind === 'symlink'
  return isGone ? [{ path, mode: was.format | was.mode, content: null }] : []
}
