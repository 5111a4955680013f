/**
 * The host's folder beneath a live base, held by a descriptor: by its path it would be lost, or mistaken for another
 * folder, once somebody moves, removes or replaces it. It is taken from within the sandbox, where it shows as the layers
 * do: with the agent as its owner.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { LayerFolder } from '../layers/index.ts'
import type { FolderIdentity } from './state.ts'

const O_PATH = 0o10000000

export class LiveBase implements LayerFolder {
  /** The host goes on writing to it. */
  readonly frozen = false
  readonly #workspace: string
  readonly #source: string
  readonly #identity: FolderIdentity | null
  #fd: number | null = null

  /**
   * @param workspace as a person knows it
   * @param source where this process finds it
   * @param identity what it was when the sandbox was made; not there where that was not written down
   */
  constructor(workspace: string, source: string, identity: FolderIdentity | null | undefined) {
    this.#workspace = workspace
    this.#source = source
    this.#identity = identity ?? null
  }

  /**
   * The folder, for system calls of this process and of those that it starts.
   * @throws EngineUnavailableError where it is not held, and the workspace is not what it was
   */
  get path(): string {
    if (this.#fd !== null) return `/proc/${process.pid}/fd/${this.#fd}/.`
    this.check()
    return this.#source
  }

  /** @throws EngineUnavailableError where another folder, or none, is in the workspace's place */
  check(): void {
    const now = identityOf(this.#source)
    const same = now?.ino === this.#identity?.ino && now?.birthtimeMs === this.#identity?.birthtimeMs
    if (now !== null && (this.#identity === null || same)) return
    throw new EngineUnavailableError(
      `${this.#workspace} was moved, removed or replaced on the host, and this session was begun on it without a copy.`,
      {
        nextStep: 'Put the folder back in its place. Sessions begun with --base copy do not depend on it.',
        data: { path: this.#workspace },
      },
    )
  }

  /** Whether the folder that is held was removed: it can still be mounted, but the kernel lists nothing of what is on it. */
  get removed(): boolean {
    return this.#fd !== null && fstatSync(this.#fd).nlink === 0
  }

  /** @param path of the folder as the sandbox has it */
  hold(path: string): void {
    this.release()
    this.#fd = openSync(path, O_PATH | constants.O_DIRECTORY)
  }

  release(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }
}

/** @returns null where there is no folder */
export function identityOf(folder: string): FolderIdentity | null {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() ? { ino: stat.ino, birthtimeMs: stat.birthtimeMs } : null
}
