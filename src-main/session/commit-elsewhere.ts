/** What a commit would write, written elsewhere: as a patch, or on a branch of the host's repository. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BranchEntry,
  bytesOf,
  commitToBranch,
  gitPatch,
  type PatchEntry,
  type PatchSide,
} from '../commit/index.ts'
import type { BranchResult, ChosenPath, PatchPart } from '../contract/index.ts'
import {
  type ByteString,
  type EntryFacts,
  type FilesState,
  type ReadState,
  readableBytes,
  type Sandbox,
  toBytes,
} from '../sandbox/index.ts'
import type { CommitPart } from '../store/index.ts'
import { Committed } from './committed.ts'
import type { SessionContext } from './context.ts'
import type { Inputs } from './inputs.ts'

/** What is at a path, and where it was copied to if it is a file. */
interface Side {
  facts: Pick<EntryFacts, 'kind' | 'mode' | 'format' | 'size' | 'target'>
  file: string | null
}

/** A path at which there is something else than the host was given last. */
interface Difference {
  path: Uint8Array
  before: Side | null
  after: Side | null
}

/** Why a patch leaves something out, as a person reads it. */
const patchReasons = {
  folder: 'git knows no empty folders',
  special: 'git knows no pipes, sockets and devices',
  mode: 'git knows of permissions only whether a file can be run',
  git: 'git keeps names like this for itself',
}
/** Of a mode, what says what kind of entry it is: see inode(7). */
const FORMAT = 0o170000

const branchReasons = { git: patchReasons.git, submodule: 'lies in a submodule' }

export class CommitElsewhere {
  readonly #context: SessionContext
  readonly #committed: Committed

  constructor(context: SessionContext) {
    this.#context = context
    this.#committed = new Committed(context.store, context.id)
  }

  /**
   * The changes as a patch that `git apply` takes, in parts; what it cannot hold is told last.
   * @throws CommitConflictError where a file changes while it is read, DiskFullError
   */
  async *patch({ paths }: Inputs['commit']['patch']): AsyncGenerator<PatchPart> {
    const { sandbox, to } = await this.#standing()
    const scratch = await this.#scratch()
    try {
      const differences = await this.#context.gate.shared(() => this.#differences(sandbox, to, paths, scratch, 'both'))
      const entries = differences.map(
        ({ path, before, after }): PatchEntry => ({ path, before: patchSide(before), after: patchSide(after) }),
      )
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
    const { sandbox, to } = await this.#standing()
    const scratch = await this.#scratch()
    try {
      const differences = await context.gate.shared(() => this.#differences(sandbox, to, paths, scratch, 'after'))
      const entries = differences.flatMap(branchEntry)
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

  async #standing(): Promise<{ sandbox: Sandbox; to: ReadState }> {
    const context = this.#context
    return context.row.status === 'ended'
      ? { sandbox: await context.layers(), to: this.#committed.stateOf(context.row.head) }
      : { sandbox: await context.live(), to: 'now' }
  }

  /**
   * What a commit would write: what differs since the host was given each path, be that by the last commit or an earlier
   * one, whole or in part.
   * @param copied of which side the files are copied to `scratch`
   */
  async #differences(
    sandbox: Sandbox,
    to: ReadState,
    chosen: ChosenPath[] | null,
    scratch: string,
    copied: 'both' | 'after',
  ): Promise<Difference[]> {
    const wanted = chosen?.map(bytesOf) ?? null
    const paths = (await this.#committed.changes(sandbox, to))
      .map(bytesOf)
      .filter((path) => path !== '.' && (wanted?.some((one) => path === one || path.startsWith(`${one}/`)) ?? true))
    const last = this.#committed.stateOf(this.#committed.standing?.point ?? 'base')
    const after = await sidesOf(sandbox, { since: last, state: to }, paths, await folderIn(scratch))
    const before = new Map<ByteString, Side | null>()
    const lastWritten = this.#committed.lastWritten()
    const given = paths.map((path) => ({ path, ...lastWritten(path) }))
    const folder = copied === 'both' ? await folderIn(scratch) : null
    for (const { path, part } of given) if (part) before.set(path, await partSide(part, folder))
    const whole = given.filter(({ part }) => part === null)
    for (const [point, some] of Map.groupBy(whole, (one) => one.point)) {
      const names = some.map(({ path }) => path)
      const into = copied === 'both' ? await folderIn(scratch) : null
      const state = this.#committed.stateOf(point)
      const sides = await sidesOf(sandbox, { since: state, state }, names, into)
      names.forEach((path, index) => {
        before.set(path, sides[index] ?? null)
      })
    }
    return paths.map((path, index) => ({
      path: toBytes(path),
      before: before.get(path) ?? null,
      after: after[index] ?? null,
    }))
  }

  async #scratch(): Promise<string> {
    const home = join(this.#context.home, 'commits')
    await mkdir(home, { recursive: true, mode: 0o700 })
    return mkdtemp(join(home, 'elsewhere-'))
  }
}

/** An empty one. */
const folderIn = (scratch: string): Promise<string> => mkdtemp(join(scratch, 'files-'))

/** @param folder to which the files among them are copied; null where nobody reads them */
async function sidesOf(
  sandbox: Sandbox,
  { since, state }: { since: FilesState; state: ReadState },
  names: readonly ByteString[],
  folder: string | null,
): Promise<(Side | null)[]> {
  const paths = names.map(toBytes)
  const facts = (await sandbox.meetings(since, state, paths)).map(({ after }) => after)
  const files = facts.flatMap((fact, index) => (fact?.kind === 'file' ? [index] : []))
  const places = new Map(files.map((index, n) => [index, String(n)]))
  if (folder !== null)
    await sandbox.extract(
      state,
      files.map((index) => paths[index] ?? new Uint8Array()),
      folder,
    )
  return facts.map((fact, index) => {
    const place = places.get(index)
    return fact && { facts: fact, file: folder === null || place === undefined ? null : join(folder, place) }
  })
}

/** What a commit that took a part of a file made of it. */
async function partSide({ mode, content }: CommitPart, folder: string | null): Promise<Side> {
  const facts = {
    kind: 'file' as const,
    format: mode & FORMAT,
    mode: mode & ~FORMAT,
    size: content.length,
    target: null,
  }
  if (folder === null) return { facts, file: null }
  const file = join(folder, randomUUID())
  await writeFile(file, content)
  return { facts, file }
}

function patchSide(side: Side | null): PatchSide | null {
  if (side === null) return null
  const { kind, mode, size, target } = side.facts
  const { file } = side
  if (kind === 'file' && file !== null) return { kind, mode, size: size ?? 0, read: () => createReadStream(file) }
  if (kind === 'symlink') return { kind, mode, target: target ?? new Uint8Array() }
  return { kind: kind === 'folder' ? 'folder' : 'other', mode }
}

/** None for what git knows nothing of: folders, pipes. */
function branchEntry({ path, before, after }: Difference): BranchEntry[] {
  const mode = ({ facts }: Side) => facts.format | facts.mode
  if (after?.file) return [{ path, mode: mode(after), content: { file: after.file } }]
  if (after?.facts.target) return [{ path, mode: mode(after), content: { target: after.facts.target } }]
  const isGone = before?.facts.kind === 'file' || before?.facts.kind === 'symlink'
  return isGone ? [{ path, mode: mode(before), content: null }] : []
}
