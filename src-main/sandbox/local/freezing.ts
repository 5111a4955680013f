/**
 * What a live layer becomes when it is frozen: mostly itself. Where folders were renamed in it, or processes go on
 * writing to it, a layer is written that says the same (see layers/delta.ts).
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineUnavailableError } from '../../contract/index.ts'
import { call } from '../channel/index.ts'
import type { LayerFolder, LayerReader, Since } from '../layers/index.ts'
import type { Layers, Overlay } from './layers.ts'
import { asDiskFull, failure, type Namespace } from './namespace.ts'
import { mayHoldRenames } from './renames.ts'
import type { OverlayState, StoredSpec } from './state.ts'

export interface FreezingOptions {
  folder: string
  stored: StoredSpec
  namespace: Namespace
  layers: Layers
  reader: LayerReader
  /** Host folder of the lowest workspace layer. */
  base: string
}

/** A point under live processes adds a layer without mounting it; that it can be mounted must be seen to here. */
const DEEPEST = 450

export class Freezing {
  readonly #options: FreezingOptions
  /** The folders of a live layer when it was last written down; lost with the host, then more is compared. */
  readonly #folders = new Map<Overlay, { upper: number; folders: Since['folders'] }>()

  constructor(options: FreezingOptions) {
    this.#options = options
  }

  /**
   * The layer to freeze in place of a live one that nobody writes to, on top of the overlay's head: the live one itself
   * where that will do, else another, which the caller discards if it comes to nothing.
   * @param guard script that refuses the orders of an earlier host
   * @param operation names the crash point in the middle
   */
  async settled(overlay: Overlay, state: OverlayState, guard: string, operation: string): Promise<number> {
    if (state.copiedAt === null && !(await this.#wasRenamedIn(overlay, state))) return state.upper
    return this.#write(overlay, state, state.head, { quiet: true, guard, point: `${operation}-renamed` })
  }

  /**
   * Writes what changed since the overlay's head, while its processes stand still.
   * @returns the new head
   */
  async written(overlay: Overlay, state: OverlayState, guard: string): Promise<number[]> {
    const how = { quiet: false, guard, point: 'checkpoint-copied' }
    const below = state.head.length < DEEPEST ? state.head : state.lowers
    try {
      return [await this.#write(overlay, state, below, how), ...below]
    } catch (error) {
      // The agent may have closed a folder to us, who are the same user there; the control shell passes any mode.
      if (!(error instanceof EngineUnavailableError) || this.#options.stored.mode === 'root') throw error
      return [await this.#copyWhole(overlay, state, guard), ...state.lowers]
    }
  }

  async #wasRenamedIn(overlay: Overlay, { upper, lowers }: OverlayState): Promise<boolean> {
    const { stored, reader } = this.#options
    // In a user namespace the kernel renames no folder of a lower layer.
    if (stored.mode === 'user') return false
    const live = this.#folder(overlay, upper, false)
    const below = lowers.map((number) => this.#folder(overlay, number, true).path)
    if (!mayHoldRenames({ upper: live.path, lowers: below, view: this.#view(overlay) })) return false
    return reader.hasRedirects(live)
  }

  async #write(
    overlay: Overlay,
    state: OverlayState,
    head: readonly number[],
    { quiet, guard, point }: { quiet: boolean; guard: string; point: string },
  ): Promise<number> {
    const { layers, reader, namespace } = this.#options
    const number = layers.number()
    const target = layers.path(overlay, number)
    const known = this.#folders.get(overlay)
    const cumulative = state.copiedAt === null || head === state.lowers
    try {
      mkdirSync(target, { mode: 0o700 })
      const frozen = (numbers: readonly number[]): LayerFolder[] =>
        numbers.map((one) => this.#folder(overlay, one, true))
      const live = [this.#folder(overlay, state.upper, false), ...frozen(state.lowers)]
      const delta = await reader.delta(frozen(head), live, {
        target,
        view: this.#view(overlay),
        quiet,
        since: cumulative
          ? null
          : {
              time: BigInt(state.copiedAt ?? 0),
              folders: known?.upper === state.upper ? known.folders : new Map(),
            },
        except: overlay === 'machine' && !quiet ? 'run' : null,
        whiteout: () => this.#whiteout(),
      })
      if (delta.copies.length > 0) {
        writeFileSync(
          join(this.#options.folder, 'copies'),
          delta.copies.map((path) => `./${path}\0`).join(''),
          'latin1',
        )
        const script = call('copy_listed', point, this.#viewInside(overlay), `/run/s/${layers.inside(overlay, number)}`)
        const answer = await namespace.shell.run(`${guard} && ${script}`)
        if (answer.code !== 0) throw failure(answer, 'Freezing the sandbox')
      }
      delta.seal()
      this.#folders.set(overlay, { upper: state.upper, folders: delta.folders })
      return number
    } catch (error) {
      await layers.discard(overlay, number)
      throw asDiskFull(error, 'Freezing the sandbox')
    }
  }

  /** The whole live layer, over the same lower ones. */
  async #copyWhole(overlay: Overlay, { upper }: OverlayState, guard: string): Promise<number> {
    const { namespace, layers } = this.#options
    const number = layers.number()
    const letter = overlay === 'workspace' ? 'w' : 'm'
    const script = `${guard} && ${call('copy_layer', 'checkpoint', letter, String(upper), String(number))}`
    const answer = await namespace.shell.run(script)
    if (answer.code === 0) return number
    await layers.discard(overlay, number)
    throw failure(answer, 'Freezing the sandbox')
  }

  async #whiteout(): Promise<string> {
    const { namespace, folder } = this.#options
    await namespace.must('rm -f /run/s/whiteout && mknod /run/s/whiteout c 0 0', 'Freezing the sandbox')
    const path = join(folder, 'whiteout')
    chmodSync(path, 0)
    return path
  }

  #folder(overlay: Overlay, number: number, frozen: boolean): LayerFolder {
    const { layers, base, stored } = this.#options
    if (overlay === 'workspace' && number === 0) return { path: base, frozen: stored.facts.base === 'copy' }
    return { path: layers.path(overlay, number), frozen }
  }

  #view(overlay: Overlay): string {
    const { namespace, stored } = this.#options
    return overlay === 'workspace' ? namespace.path(stored.facts.workspace) : namespace.ownPath('/run/v')
  }

  #viewInside(overlay: Overlay): string {
    return overlay === 'workspace' ? `/run/m${this.#options.stored.facts.workspace}` : '/run/v'
  }
}
