/**
 * What a sandbox takes on disk, as `du` would say: a file that several layers share is counted once. Frozen layers are
 * measured once each, so that the sum costs what is new.
 */
import { compactBytes, layerBytes } from '../layers/index.ts'

export interface Measured {
  path: string
  kind: 'layer' | 'compact'
  /** It may be another size the next time. */
  changing: boolean
}

export class LayerSizes {
  readonly #known = new Map<string, number>()
  /** Files of layers may stand in others too: those are measured together. */
  #sharing = true
  /** Says what a folder takes that is closed to us. */
  readonly #closed: (path: string, error: unknown) => Promise<number>

  constructor(closed: (path: string, error: unknown) => Promise<number>) {
    this.#closed = closed
  }

  /** A layer was written of links to files of others, or was changed or removed. */
  forget(path: string): void {
    if (this.#sharing) this.#known.clear()
    else this.#known.delete(path)
  }

  /** A layer was written that holds files of others. */
  shares(): void {
    this.#sharing = true
    this.#known.clear()
  }

  async sum(folders: Iterable<Measured>): Promise<number> {
    const counted = this.#known.size === 0 ? new Set<string>() : null
    let [sum, sharing] = [0, false]
    for (const { path, kind, changing } of folders) {
      let bytes = this.#known.get(path)
      if (bytes === undefined) {
        const measured = await this.#measure(path, kind, counted)
        bytes = measured.bytes
        sharing ||= measured.shares
        if (!changing) this.#known.set(path, bytes)
      }
      sum += bytes
    }
    if (counted !== null) this.#sharing = sharing
    return sum
  }

  async #measure(path: string, kind: Measured['kind'], counted: Set<string> | null) {
    try {
      if (kind === 'compact') return { bytes: await compactBytes(path), shares: false }
      return await layerBytes(path, counted ?? undefined)
    } catch (error) {
      return { bytes: await this.#closed(path, error), shares: false }
    }
  }
}
