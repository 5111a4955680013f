/** Making two layers one, and removing what nobody needs: what is planned (pruning.ts) done to the folders. */
import { crashPoint } from '../../store/index.ts'
import type { LayerFolder, LayerReader } from '../layers/index.ts'
import { BASE, type Fold } from './layer-tree.ts'
import type { Layers, Overlay } from './layers.ts'
import type { StateFile } from './state.ts'

export interface FoldingOptions {
  layers: Layers
  stateFile: StateFile
  reader: LayerReader
  /** Told of a layer whose bytes are others now. */
  forget: (path: string) => void
}

/** Layers whose folders are looked at together. */
const FOLDS_PER_TURN = 256

export class Folding {
  readonly #options: FoldingOptions

  constructor(options: FoldingOptions) {
    this.#options = options
  }

  /**
   * Folds layers that nothing has mounted, each left as an empty folder while the state may still name it.
   * @returns those that were: not all where a folder is closed to us (the agent is the same user there) or lies too deep
   */
  async fold(overlay: Overlay, folds: readonly Fold[]): Promise<Fold[]> {
    const done: Fold[] = []
    for (const [older, some] of Map.groupBy(folds, (one) => one.older)) {
      let together = FOLDS_PER_TURN
      for (let at = 0; at < some.length; ) {
        const wanted = some.slice(at, at + together)
        const folded = await this.#foldInto(overlay, older, wanted)
        done.push(...wanted.slice(0, folded))
        at += folded
        if (folded === wanted.length) continue
        if (together === 1) break
        // One of them is closed: those beneath it can be folded all the same.
        together = 1
      }
    }
    return done
  }

  removeStrays(overlay: Overlay): Promise<void> {
    return this.#options.layers.discardStrays(overlay)
  }

  async remove(overlay: Overlay, numbers: Iterable<number>): Promise<void> {
    const { layers, reader, forget } = this.#options
    for (const number of numbers) {
      const path = layers.path(overlay, number)
      await layers.discard(overlay, number)
      reader.forget(path)
      forget(path)
    }
  }

  /** @returns how many of them went into it */
  async #foldInto(overlay: Overlay, older: number, folds: readonly Fold[]): Promise<number> {
    const { layers, stateFile, reader, forget } = this.#options
    const folder = (number: number): LayerFolder => layers.folder(overlay, number)
    const tree = stateFile.trees[overlay]
    // Of layers that went into others in this very turn there are empty folders left, which show nothing.
    const beneath = tree.stack(tree.beneath(older) ?? BASE).map(folder)
    const newer = folds.map((one) => one.newer)
    let count = 0
    try {
      await reader.fold(folder(older), newer.map(folder), beneath, {
        moved: () => crashPoint('prune:half-folded'),
        folded: () => count++,
      })
      return count
    } catch (error) {
      if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(codeOf(error))) throw error
      return count
    } finally {
      for (const number of [older, ...newer]) {
        reader.forget(folder(number).path)
        forget(folder(number).path)
      }
    }
  }
}

/** The code of an error, or of what it explains. */
export function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return cause?.code ?? code ?? ''
}
