/**
 * What stands: the state of a sandbox, the mounts that show it, and the one way in which both change.
 *
 * The order is always: write the new state beside the old one (a full disk is noticed here), swap, look whether the
 * kernel mounted what was asked for, let the new state count. What stands does not count before that last step: a
 * control shell or host that dies on the way is followed by one that puts the old view back.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../channel/index.ts'
import type { Layers, Overlay } from './layers.ts'
import { asDiskFull, failure, type Namespace } from './namespace.ts'
import { overlayWords, standsAt } from './overlay.ts'
import { ROOT } from './root-plan.ts'
import type { OverlayState, SandboxState, StateFile, StoredSpec } from './state.ts'

export const OVERLAYS = ['workspace', 'machine'] as const

/** The overlays that get other layers, with the new ones. */
export type Overlays = Partial<Record<Overlay, OverlayState>>

export interface StandingOptions {
  stored: StoredSpec
  namespace: Namespace
  layers: Layers
  stateFile: StateFile
  /** True where the workspace is mounted within one of the machine layer's places. */
  nested: boolean
  /** Opens a control shell in place of one that died, and puts the view back that the state has. */
  reopen: () => Promise<void>
}

const NOTHING = '-'

/** The shell's exit codes, see control.sh. */
const BUSY = 75
const BACK = 74
const REPLACED = 70

export class Standing {
  readonly #options: StandingOptions
  state: SandboxState

  constructor(options: StandingOptions, state: SandboxState) {
    this.#options = options
    this.state = state
  }

  /** A fresh layer to be put on a frozen one, dressed as that is. */
  fresh(overlay: Overlay, on: number): OverlayState {
    const { layers, stateFile } = this.#options
    try {
      const { upper } = layers.spare(overlay)
      layers.dress(layers.path(overlay, upper), layers.folder(overlay, on).path)
      return { upper, on, lowers: stateFile.trees[overlay].stack(on), head: on, copiedAt: null }
    } catch (error) {
      throw asDiskFull(error, 'Preparing a layer')
    }
  }

  /**
   * Puts other layers under the mounts, and lets `next` count.
   * @returns false where something holds them for longer than that; nothing changed then
   */
  async swap(name: string, to: Overlays, next: SandboxState, limitMs: number): Promise<boolean> {
    const { namespace, layers, stateFile, stored, nested } = this.#options
    if (Object.keys(to).length === 0) {
      this.commit(next)
      return true
    }
    const words = (overlay: Overlay, which: 'old' | 'new'): string => {
      const now = this.state[overlay]
      const wanted = to[overlay]
      // Within a place of the machine layer the workspace has to be unmounted with it.
      const follows = overlay === 'workspace' && nested && to.machine !== undefined
      if (wanted === undefined && !follows) return NOTHING
      const work = which === 'new' && wanted !== undefined ? wanted.upper : layers.undo(overlay)
      const { upper, lowers } = which === 'new' ? (wanted ?? now) : now
      return overlayWords({ upper, work, lowers }, stored.mode)
    }
    const script = (): string => {
      try {
        stateFile.prepare({ ...next, next: layers.next + 4 })
        const args = [
          words('workspace', 'old'),
          words('workspace', 'new'),
          words('machine', 'old'),
          words('machine', 'new'),
        ]
        return `${this.guard()} && ${call('swap', name, ...args)}`
      } catch (error) {
        throw asDiskFull(error, 'Writing the state of the sandbox')
      }
    }
    const used = (): void => {
      for (const overlay of OVERLAYS) if (to[overlay]) layers.used(overlay)
      layers.settled()
    }
    for (const end = Date.now() + limitMs; ; await sleep(5)) {
      const answer = await namespace.shell.run(script()).catch((error: unknown) => {
        // Whatever it came to, these folders may have been mounted.
        used()
        throw error
      })
      if (answer.code === BUSY) {
        if (Date.now() < end) continue
        layers.settled()
        return false
      }
      used()
      if (answer.code !== 0) {
        if (answer.code !== BACK) await this.#options.reopen()
        throw failure(answer, 'Changing the layers of the sandbox')
      }
      if (!this.#stands(next)) {
        await this.#options.reopen()
        throw failure(
          { code: 0, output: 'the kernel mounted something else than it was asked to' },
          'Changing the layers',
        )
      }
      this.#commitPrepared({ ...next, next: layers.next + 4 })
      return true
    }
  }

  #stands(state: SandboxState): boolean {
    const { namespace, stored } = this.#options
    const mounts = namespace.overlays()
    return standsAt(mounts, ROOT + stored.facts.workspace, state.workspace) && standsAt(mounts, '/run/v', state.machine)
  }

  /** Takes overlays away for a moment. @returns false where something holds them; they stand then */
  async down(overlays: readonly Overlay[]): Promise<boolean> {
    const { namespace, nested, reopen } = this.#options
    const lines = [this.guard()]
    if (nested || overlays.includes('workspace')) lines.push('workspace_down')
    if (overlays.includes('machine')) lines.push('machine_down')
    const answer = await namespace.shell.run(lines.join(' && '))
    if (answer.code === 0) return true
    if (answer.code === REPLACED) throw failure(answer, 'Freeing layers')
    await reopen()
    return false
  }

  /** Nothing has to be mounted: the state alone changes. @throws DiskFullError, with nothing changed */
  commit(state: SandboxState): void {
    const { stateFile, layers } = this.#options
    const next = { ...state, next: layers.next }
    try {
      stateFile.prepare(next)
    } catch (error) {
      throw asDiskFull(error, 'Writing the state of the sandbox')
    }
    this.#commitPrepared(next)
  }

  #commitPrepared(state: SandboxState): void {
    this.#options.stateFile.commit()
    this.state = state
  }

  /** Script that refuses the orders of an earlier host. */
  guard(): string {
    return call('guard', String(this.state.generation))
  }
}
