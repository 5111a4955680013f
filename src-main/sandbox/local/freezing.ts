/**
 * What a live layer becomes when it is frozen: mostly itself. Where folders were renamed in it, or processes go on
 * writing to it, a layer is written that says the same (see layers/delta.ts).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineUnavailableError } from '../../contract/index.ts'
import { call } from '../channel/index.ts'
import type { LayerFolder, LayerReader, Since } from '../layers/index.ts'
import type { Layers, Overlay } from './layers.ts'
import { cleanMapped } from './mapped.ts'
import { asDiskFull, failure, type Namespace } from './namespace.ts'
import { mayHoldRenames } from './renames.ts'
import { ROOT, type RootPlan } from './root-plan.ts'
import type { OverlayState, StateFile, StoredSpec } from './state.ts'
import { newWhiteout } from './whiteout.ts'

export interface FreezingOptions {
  folder: string
  stored: StoredSpec
  namespace: Namespace
  layers: Layers
  stateFile: StateFile
  reader: LayerReader
  plan: RootPlan
  /** Told that a layer was written that holds files of others. */
  onShared: () => void
}

export class Freezing {
  readonly #options: FreezingOptions
  /**
   * The folders of a live layer when it was written down at `copiedAt`; lost with the host, then more is compared. What
   * was written and came to nothing does not count: the state bears another time.
   */
  readonly #folders = new Map<Overlay, { upper: number; copiedAt: string; folders: Since['folders'] }>()

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
    const isItself = state.copiedAt === null && !(await this.#wasRenamedIn(overlay, state))
    const how = { quiet: true, guard, point: `${operation}-renamed` }
    const number = isItself ? state.upper : (await this.#write(overlay, state, how)).layer
    this.#options.stateFile.trees[overlay].add(number, state.head)
    return number
  }

  /**
   * Writes what changed since the overlay's head, while its processes stand still.
   * @param copiedAt when that is, as the state will bear it
   * @returns the new head
   */
  async written(overlay: Overlay, state: OverlayState, guard: string, copiedAt: string): Promise<number> {
    const how = { quiet: false, guard, point: 'checkpoint-copied' }
    const tree = this.#options.stateFile.trees[overlay]
    try {
      const { layer, folders } = await this.#write(overlay, state, how)
      this.#folders.set(overlay, { upper: state.upper, copiedAt, folders })
      tree.add(layer, state.head)
      return layer
    } catch (error) {
      // The agent may have closed a folder to us, who are the same user there; the control shell passes any mode.
      if (!(error instanceof EngineUnavailableError) || this.#options.stored.mode === 'root') throw error
      const number = await this.#copyWhole(overlay, state, guard)
      tree.add(number, state.on)
      return number
    }
  }

  /** What the processes, which stand still, change through memory: later changes are told from those until now. */
  cleanMapped(overlay: Overlay, { upper }: OverlayState, pids: readonly number[]): void {
    const { layers, plan, stored } = this.#options
    const path = bytes(layers.path(overlay, upper))
    const places =
      overlay === 'workspace'
        ? [{ inside: bytes(ROOT + stored.facts.workspace), upper: path }]
        : plan.places.map(({ inside, folder }) => ({ inside: ROOT + inside, upper: `${path}/${folder}` }))
    cleanMapped(pids, places)
  }

  async #wasRenamedIn(overlay: Overlay, { upper, lowers }: OverlayState): Promise<boolean> {
    const { stored, reader } = this.#options
    // In a user namespace the kernel renames no folder of a lower layer.
    if (stored.mode === 'user') return false
    const live = this.#live(overlay, upper)
    const below = lowers.map((number) => this.#options.layers.folder(overlay, number).path)
    if (!mayHoldRenames({ upper: live.path, lowers: below, view: this.#view(overlay) })) return false
    return reader.hasRedirects(live)
  }

  async #write(
    overlay: Overlay,
    state: OverlayState,
    { quiet, guard, point }: { quiet: boolean; guard: string; point: string },
  ): Promise<{ layer: number; folders: Since['folders'] }> {
    const { layers, reader, namespace, stateFile, plan } = this.#options
    const number = layers.number()
    const target = layers.path(overlay, number)
    const known = this.#folders.get(overlay)
    try {
      mkdirSync(target, { mode: 0o700 })
      const [head = [], on = []] = stateFile.trees[overlay]
        .pair(state.head, state.on)
        .map((stack) => stack.map((one) => layers.folder(overlay, one)))
      const delta = await reader.delta(head, [this.#live(overlay, state.upper), ...on], {
        target,
        view: this.#view(overlay),
        quiet,
        since:
          state.copiedAt === null
            ? null
            : {
                time: BigInt(state.copiedAt),
                folders: known?.upper === state.upper && known.copiedAt === state.copiedAt ? known.folders : new Map(),
              },
        except: overlay === 'machine' && !quiet ? plan.runs : null,
        whiteout: () => newWhiteout(namespace, this.#options.folder),
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
      if (delta.shares) this.#options.onShared()
      return { layer: number, folders: delta.folders }
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

  #live(overlay: Overlay, upper: number): LayerFolder {
    return { path: this.#options.layers.path(overlay, upper), frozen: false }
  }

  #view(overlay: Overlay): string {
    const { namespace, stored } = this.#options
    return overlay === 'workspace' ? namespace.path(stored.facts.workspace) : namespace.ownPath('/run/v')
  }

  #viewInside(overlay: Overlay): string {
    return overlay === 'workspace' ? `/run/m${this.#options.stored.facts.workspace}` : '/run/v'
  }
}

const bytes = (path: string): string => Buffer.from(path).toString('latin1')
