/**
 * Changes as one commit on a new branch of the host's repository. It is built from parts, beside everything that a
 * person has under their hands: no file of the work tree, not the index, not HEAD; no hook and no filter sees any of it.
 *
 * Until the branch is made, in the last step, nothing leads to what was written; git drops such objects by itself.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidOptionError } from '../contract/index.ts'
import { inQuotes } from '../diff/index.ts'
import { type GitCall, git, gitValue } from './git.ts'
import { refusedByGit, refusedPart } from './git-names.ts'
import { GitRepository } from './git-repository.ts'
import { ignoredOf } from './ignored.ts'

export interface BranchEntry {
  /** Relative to the workspace. */
  path: Uint8Array
  /** As lstat says it. */
  mode: number
  /** A file of ours that holds the bytes, or where a symlink leads; null for what is deleted. */
  content: { file: string } | { target: Uint8Array } | null
}

export interface BranchRequest {
  workspace: string
  /** Without refs/heads/. */
  branch: string
  message: string
  /** Left out: whoever git takes the person for. */
  author?: { name: string; email: string }
  entries: readonly BranchEntry[]
  /** An existing folder outside of the workspace, for files of the moment. */
  scratch: string
}

export interface BranchResult {
  /** Its id. */
  commit: string
  branch: string
  /** How many entries went into the commit. */
  written: number
  /** Left out as the repository ignores them. */
  ignored: Uint8Array[]
  /** Left out as git cannot have them: names that it keeps for itself, with all below, and what lies in a submodule. */
  refused: { path: Uint8Array; reason: 'git' | 'submodule' }[]
}

/**
 * @throws InvalidOptionError for a branch that is there already, for a name, message or author that git does not take,
 * and where nothing is left to be written; InvalidPathError outside of a repository; GitError
 */
export async function commitToBranch(request: BranchRequest): Promise<BranchResult> {
  checkWords(request)
  const { branch, message } = request
  const repository = await GitRepository.around(request.workspace)
  await repository.checkNewBranch(branch)
  const scratch = await mkdtemp(join(request.scratch, 'branch-'))
  try {
    const call = {
      cwd: scratch,
      env: { ...repository.call.env, GIT_INDEX_FILE: join(scratch, 'index'), ...(await identity(repository, request)) },
    }
    const parent = await repository.head()
    if (parent !== null) await git(['read-tree', parent], call)
    const before = await gitValue(['write-tree'], call)

    const { taken, refused } = await sorted(request.entries, repository, parent)
    const ignored = await ignoredOf(taken, repository, await folderIn(scratch, 'rules'), call.env)
    const kept = taken.filter((entry) => !ignored.has(entry))
    const ids = await writeObjects(kept, await folderIn(scratch, 'links'), call)
    await git(['update-index', '-z', '--index-info'], { ...call, stdin: indexLines(kept, ids, repository) })
    const tree = await gitValue(['write-tree'], call)
    if (tree === before) throw nothingLeft(ignored.size)

    const parents = parent === null ? [] : ['-p', parent]
    const stdin = [message.endsWith('\n') ? message : `${message}\n`]
    const commit = await gitValue(['commit-tree', '--no-gpg-sign', tree, ...parents], { ...call, stdin })
    await repository.makeBranch(branch, commit)
    return { commit, branch, written: kept.length, ignored: [...ignored].map(({ path }) => path), refused }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function folderIn(scratch: string, name: string): Promise<string> {
  const folder = join(scratch, name)
  await mkdir(folder)
  return folder
}

function checkWords({ message, author }: BranchRequest): void {
  if (message.trim() === '' || message.includes('\0'))
    throw new InvalidOptionError('A commit needs a message, without NUL characters.', {
      nextStep: 'Say in a line what the changes are for.',
    })
  if (author && ![author.name, author.email].every((word) => /^[^\p{Cc}<>]*[\p{L}\p{N}][^\p{Cc}<>]*$/u.test(word)))
    throw new InvalidOptionError('An author has a name and an address, each in one line and without < and >.')
}

/** Who writes it. A machine where nobody has told git a name must not be in the way. */
async function identity({ call }: GitRepository, { author }: BranchRequest): Promise<Record<string, string>> {
  const named = (role: string, { name, email }: { name: string; email: string }) => ({
    [`GIT_${role}_NAME`]: name,
    [`GIT_${role}_EMAIL`]: email,
  })
  const known = await git(['var', 'GIT_COMMITTER_IDENT'], { ...call, answers: [0, 128] })
  const somebody = { name: 'Rewind', email: 'rewind@localhost' }
  const isKnown = known.code === 0
  return {
    ...(isKnown && !author ? {} : named('AUTHOR', author ?? somebody)),
    ...(isKnown ? {} : named('COMMITTER', author ?? somebody)),
  }
}

const nothingLeft = (ignored: number): InvalidOptionError =>
  new InvalidOptionError(`Nothing would be in the commit${ignored > 0 ? ': git ignores what changed' : ''}.`, {
    nextStep: 'See what changed with `rewind diff`.',
    data: { reason: 'nothing', ignored },
  })

/** What git can have and what not. One name that it refuses would end it all, and one in a submodule remove that. */
async function sorted(entries: readonly BranchEntry[], repository: GitRepository, parent: string | null) {
  const submodules = parent === null ? [] : await repository.submodules(parent)
  const taken: BranchEntry[] = []
  const refused = new Map<string, BranchResult['refused'][number]>()
  const refuse = (path: Uint8Array, reason: 'git' | 'submodule') =>
    refused.set(Buffer.from(path).toString('latin1'), { path, reason })
  for (const entry of entries) {
    const { path, content } = entry
    const name = `${repository.pathOf(path).toString('latin1')}/`
    if (refusedByGit(path, content !== null && 'target' in content)) refuse(refusedPart(path), 'git')
    else if (submodules.some((submodule) => name.startsWith(`${submodule}/`))) refuse(path, 'submodule')
    else taken.push(entry)
  }
  return { taken, refused: [...refused.values()] }
}

/** @returns the id of each entry's content */
async function writeObjects(
  entries: readonly BranchEntry[],
  folder: string,
  call: GitCall,
): Promise<Map<BranchEntry, string>> {
  const files: { entry: BranchEntry; file: string }[] = []
  for (const entry of entries) {
    if (entry.content === null) continue
    if ('file' in entry.content) files.push({ entry, file: entry.content.file })
    else {
      const file = join(folder, String(files.length))
      await writeFile(file, entry.content.target)
      files.push({ entry, file })
    }
  }
  const names = files.map(({ file }) => `${inQuotes(Buffer.from(file))}\n`)
  const ids = await gitValue(['hash-object', '-w', '--no-filters', '--stdin-paths'], { ...call, stdin: names })
  const found = ids.split('\n')
  return new Map(files.map(({ entry }, at) => [entry, found[at] ?? '']))
}

/** What goes first makes room for what comes: a folder where a file was. */
function indexLines(
  entries: readonly BranchEntry[],
  ids: ReadonlyMap<BranchEntry, string>,
  repository: GitRepository,
): Buffer[] {
  const line = (mode: string, id: string, { path }: BranchEntry) =>
    Buffer.concat([Buffer.from(`${mode} ${id}\t`), repository.pathOf(path), Buffer.of(0)])
  const gone = entries.filter(({ content }) => content === null)
  const there = entries.filter(({ content }) => content !== null)
  return [
    ...gone.map((entry) => line('0', repository.noObject, entry)),
    ...there.map((entry) => line(gitMode(entry), ids.get(entry) ?? '', entry)),
  ]
}

const gitMode = ({ mode, content }: BranchEntry): string =>
  content !== null && 'target' in content ? '120000' : (mode & 0o100) !== 0 ? '100755' : '100644'
