/** A repository of the host, as its git sees it: where it is, what is checked out, which branches there are. */
import { GitError, InvalidOptionError, InvalidPathError } from '../contract/index.ts'
import { type GitCall, git } from './git.ts'

export class GitRepository {
  readonly gitDir: string
  /** The top of its files. */
  readonly top: Buffer
  /** Where the workspace lies below that: empty, or ending in a slash. */
  readonly prefix: Buffer
  /** What stands for no object: as many zeros as its ids are long. */
  readonly noObject: string
  readonly #workspace: string

  /** The one that the workspace lies in, at its top or further down. @throws InvalidPathError outside of any */
  static async around(workspace: string): Promise<GitRepository> {
    const { code, stdout } = await git(['rev-parse', '--is-inside-work-tree'], { cwd: workspace, answers: [0, 128] })
    if (code !== 0 || stdout.toString() !== 'true\n')
      throw new InvalidPathError(`${workspace} is not among the files of a git repository.`, {
        nextStep: 'Run `git init` there, or write the changes as a patch.',
        data: { reason: 'no-repository', path: workspace },
      })
    const ask = async (question: string) => (await git(['rev-parse', question], { cwd: workspace })).stdout
    // Each alone: their answers may hold any character, newlines too.
    const [gitDir, top, prefix, format] = await Promise.all([
      ask('--absolute-git-dir'),
      ask('--show-toplevel'),
      ask('--show-prefix'),
      ask('--show-object-format'),
    ])
    return new GitRepository(workspace, gitDir, top, prefix, format)
  }

  private constructor(workspace: string, gitDir: Buffer, top: Buffer, prefix: Buffer, format: Buffer) {
    this.#workspace = workspace
    this.gitDir = gitDir.subarray(0, -1).toString()
    this.top = top.subarray(0, -1)
    this.prefix = prefix.subarray(0, -1)
    this.noObject = '0'.repeat(format.toString() === 'sha256\n' ? 64 : 40)
  }

  /** How git is called for it, from wherever. */
  get call(): Pick<GitCall, 'cwd'> & { env: Record<string, string> } {
    return { cwd: this.#workspace, env: { GIT_DIR: this.gitDir } }
  }

  /** A path of the workspace as the repository has it. */
  pathOf(path: Uint8Array): Buffer {
    return Buffer.concat([this.prefix, path])
  }

  /** The commit that is checked out; null where there is none yet. @throws GitError where it cannot be read */
  async head(): Promise<string | null> {
    const ask = { ...this.call, answers: [0, 1, 128] }
    const { code, stdout } = await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], ask)
    if (code === 0) return stdout.toString().trim()
    const branch = await git(['symbolic-ref', '--quiet', 'HEAD'], ask)
    if (branch.code === 0 && !(await this.#has(branch.stdout.toString().trim()))) return null
    throw new GitError('What is checked out in this repository cannot be read.', {
      nextStep: 'See what `git status` and `git fsck` say.',
      data: { reason: 'unreadable-head' },
    })
  }

  /** @throws InvalidOptionError for a name that git does not take, and for one that is taken */
  async checkNewBranch(branch: string): Promise<void> {
    const isWord = branch !== 'HEAD' && !branch.startsWith('-') && !branch.includes('\0')
    const ask = { ...this.call, answers: [0, 1] }
    if (!isWord || (await git(['check-ref-format', `refs/heads/${branch}`], ask)).code !== 0)
      throw new InvalidOptionError(`${JSON.stringify(branch)} cannot be the name of a branch.`, {
        nextStep: 'Choose a name such as rewind/my-change.',
        data: { reason: 'bad-branch', branch },
      })
    if (await this.#has(`refs/heads/${branch}`)) throw taken(branch)
  }

  /** @throws InvalidOptionError where it was made meanwhile, or where another one is in its way */
  async makeBranch(branch: string, commit: string): Promise<void> {
    const stdin = [`create refs/heads/${branch}\0${commit}\0`]
    try {
      await git(['update-ref', '-m', 'rewind: the changes of a sandbox', '--stdin', '-z'], { ...this.call, stdin })
    } catch (error) {
      const said = error instanceof GitError ? String(error.data.said) : ''
      throw /already exists|exists; cannot create/.test(said) ? taken(branch) : error
    }
  }

  /** The paths of its submodules in a commit, one character per byte. */
  async submodules(commit: string): Promise<string[]> {
    const { stdout } = await git(['ls-tree', '-r', '-z', '--full-tree', commit], this.call)
    const lines = stdout.toString('latin1').split('\0')
    return lines.filter((line) => line.startsWith('160000 ')).map((line) => line.slice(line.indexOf('\t') + 1))
  }

  /** Also one that cannot be read is there. */
  async #has(ref: string): Promise<boolean> {
    const stdin = [`verify ${ref}\0${this.noObject}\0`]
    const { code } = await git(['update-ref', '--stdin', '-z'], { ...this.call, stdin, answers: [0, 128] })
    return code !== 0
  }
}

const taken = (branch: string): InvalidOptionError =>
  new InvalidOptionError(`The branch ${branch} cannot be made: it, or one that is in its way, is there already.`, {
    nextStep: 'Choose another name.',
    data: { reason: 'branch-taken', branch },
  })
