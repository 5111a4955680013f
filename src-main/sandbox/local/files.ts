/**
 * Files of the workspace as it stands, read and written from the host through the sandbox's own view. The agent made
 * that view: no path in it is opened by name.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  readlinkSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { posix } from 'node:path'
import { FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { openBeneath, readWhole } from '../layers/index.ts'
import { asDiskFull } from './namespace.ts'
import { ROOT } from './root-plan.ts'
import type { Agent } from './state.ts'

export interface FilesOptions {
  /** The workspace as this process opens it. */
  root: () => string
  /** The workspace's path inside. */
  workspace: string
  agent: Agent
  /** Whether this process is the agent's user already. */
  own: boolean
}

const NEW_FILE_MODE = 0o644
const NEW_FOLDER_MODE = 0o755

export class Files {
  readonly #options: FilesOptions

  constructor(options: FilesOptions) {
    this.#options = options
  }

  /** @param path relative to the workspace */
  async read(path: string): Promise<Uint8Array> {
    const { root, workspace } = this.#options
    const fd = await openBeneath(root(), path, constants.O_RDONLY, { insideRoot: workspace })
    try {
      return readWhole(fd, path)
    } finally {
      closeSync(fd)
    }
  }

  /**
   * Writes beside the file and puts it in place at once, so that nobody ever sees half of it. A file keeps its mode; a
   * symlink stays one, and what it leads to inside is written.
   */
  async write(path: string, content: Uint8Array): Promise<void> {
    const target = await this.#throughLinks(path)
    const { root, workspace, agent, own } = this.#options
    const folder = posix.dirname(target)
    const name = posix.basename(target)
    const part = `.rewind-${randomBytes(8).toString('hex')}.part`
    const owner = own ? {} : agent
    const fd = await openBeneath(
      root(),
      posix.join(folder, part),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      {
        mode: 0o600,
        createParents: { mode: NEW_FOLDER_MODE, ...owner },
        insideRoot: workspace,
      },
    )
    let parent: number | null = null
    try {
      parent = await openBeneath(root(), folder, constants.O_RDONLY | constants.O_DIRECTORY, { insideRoot: workspace })
      const at = (entry: string): string => `/proc/self/fd/${parent}/${entry}`
      const before = lstatSync(at(name), { throwIfNoEntry: false })
      if (before?.isDirectory()) throw refuse(path, 'is a folder')
      if (before && !before.isFile() && !before.isSymbolicLink()) throw refuse(path, 'is neither a file nor a folder')
      writeFileSync(fd, content)
      if (!own) fchownSync(fd, agent.uid, agent.gid)
      fchmodSync(fd, before?.isFile() ? before.mode & 0o7777 : NEW_FILE_MODE)
      if (!sameFile(lstatSync(at(part)), fstatSync(fd))) throw refuse(path, 'was moved while it was written')
      renameSync(at(part), at(name))
    } catch (error) {
      if (parent !== null) this.#remove(parent, part)
      throw asDiskFull(error, `Writing ${path}`)
    } finally {
      closeSync(fd)
      if (parent !== null) closeSync(parent)
    }
  }

  /** The path that is really written: the one a symlink leads to inside. One that leads nowhere is replaced. */
  async #throughLinks(path: string): Promise<string> {
    const { root, workspace } = this.#options
    let fd: number
    try {
      fd = await openBeneath(root(), path, constants.O_RDONLY, { insideRoot: workspace })
    } catch (error) {
      if (error instanceof FileNotFoundError) return path
      throw error
    }
    try {
      const real = readlinkSync(`/proc/self/fd/${fd}`)
      const prefix = `${ROOT}${workspace}/`
      return real.startsWith(prefix) ? real.slice(prefix.length) : path
    } finally {
      closeSync(fd)
    }
  }

  #remove(parent: number, name: string): void {
    try {
      unlinkSync(`/proc/self/fd/${parent}/${name}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

const sameFile = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino

const refuse = (path: string, why: string): InvalidPathError =>
  new InvalidPathError(`${JSON.stringify(path)} ${why}.`, { data: { path } })
