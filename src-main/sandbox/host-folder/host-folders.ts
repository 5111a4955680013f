/**
 * What becomes of the host's folders while sessions stand on them: edits there show in a sandbox whose base is live, and
 * stand in the way of a commit. One thread watches them all.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { toByteString } from '../layers/index.ts'
import { ThreadClient } from '../threads/index.ts'
import { Manifest } from './manifest.ts'
import type { HostCheck, HostComparison, HostReport, Written } from './tracked-folder.ts'

export class HostFolders {
  readonly #folder: string
  readonly #listeners = new Map<string, (report: HostReport) => void>()
  readonly #thread: ThreadClient

  /** @param home the data folder */
  constructor(home: string) {
    this.#folder = join(home, 'manifests')
    this.#thread = new ThreadClient('host-folder-thread', import.meta, (notice) => {
      const { id, report } = notice as { id: string; report: HostReport }
      this.#listeners.get(id)?.(report)
    })
  }

  /**
   * Begins to list and watch the folder of a session, or goes on where an earlier host stopped.
   * @param since when the session began, ms since 1970
   * @param listener is told in the background, each time something was found
   * @throws the system's ENOENT and the like where the folder is not there, ENOSPC
   */
  async track(id: string, folder: string, since: number, listener: (report: HostReport) => void): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#listeners.set(id, listener)
    await this.#thread.call('track', { id, folder, since, manifest: this.#file(id) })
  }

  /** What changed since the check before; null where the folder is not tracked. */
  async check(id: string): Promise<HostCheck | null> {
    return this.#listeners.has(id) ? this.#thread.call<HostCheck | null>('check', id) : null
  }

  /**
   * Which entries are not what they were when the session began, or when they were last accepted.
   * @param paths bytes, relative to the folder
   * @param trees count as changed where anything in them was
   * @returns null where the folder is not tracked, or was never listed whole
   */
  async compare(
    id: string,
    paths: readonly Uint8Array[],
    trees: readonly Uint8Array[],
  ): Promise<HostComparison | null> {
    if (!this.#listeners.has(id)) return null
    return this.#thread.call<HostComparison | null>('compare', id, paths.map(toByteString), trees.map(toByteString))
  }

  /**
   * Takes what was written at these paths for what the session began from: it wrote it itself. Where somebody else wrote
   * there since, that counts as changed.
   */
  async accept(id: string, entries: readonly Written[]): Promise<void> {
    if (this.#listeners.has(id)) await this.#thread.call('accept', id, entries)
  }

  /** Stops watching; what was listed is kept. */
  async release(id: string): Promise<void> {
    if (this.#listeners.delete(id)) await this.#thread.call('release', id)
  }

  /** Stops watching for good. */
  async forget(id: string): Promise<void> {
    await this.release(id)
    Manifest.remove(this.#file(id))
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.db`)
  }
}
