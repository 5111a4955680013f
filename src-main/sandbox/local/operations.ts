/**
 * Checkpoint and rollback: what is frozen, what is put under the mounts in its place, and that a crash in between
 * leaves all of it or nothing.
 * How layers are put under the mounts is standing.ts's.
 */
import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DiskFullError,
  EngineUnavailableError,
  InvalidOptionError,
  type ProcessInfo,
  RewindError,
  RollbackFailedError,
} from '../../contract/index.ts'
import { ShellDied } from '../channel/index.ts'
import type { CheckpointOutcome, FilesState, RollbackOutcome } from '../sandbox.ts'
import { takeBallast, withBallast } from './ballast.ts'
import type { Commands } from './commands.ts'
import type { Compacting } from './compacting.ts'
import type { Freezer } from './freezer.ts'
import type { Freezing } from './freezing.ts'
import { type Layers, type Overlay, quickBytes } from './layers.ts'
import { asDiskFull, type Namespace } from './namespace.ts'
import { OVERLAYS, type Overlays, type Standing } from './standing.ts'
import { type OperationResult, type OverlayState, type SandboxState, type StateFile, withOperation } from './state.ts'

/** A process that ended a moment ago may still hold its files. */
const BUSY_LIMIT_MS = 250
const BUSY_AFTER_KILL_MS = 5_000

export interface OperationsOptions {
  folder: string
  standing: Standing
  namespace: Namespace
  layers: Layers
  stateFile: StateFile
  commands: Commands
  freezer: Freezer
  freezing: Freezing
  compacting: Compacting
  /** Opens a control shell in place of one that died, and puts the view back that the state has. */
  reopen: () => Promise<void>
}

/** What a rollback ends: told also where it fails after that. */
interface Stopping {
  begun: boolean
  readonly stopped: ProcessInfo[]
}

export class Operations {
  readonly #options: OperationsOptions

  constructor(options: OperationsOptions) {
    this.#options = options
  }

  get #state(): SandboxState {
    return this.#options.standing.state
  }

  /** Runs alone: the caller holds the gate. */
  async checkpoint(operation: string): Promise<CheckpointOutcome> {
    const result = await this.#withShell(operation, () => this.#checkpoint(operation))
    if (result.kind !== 'checkpoint') throw otherKind(operation)
    return result.outcome
  }

  async rollback(operation: string, target: FilesState): Promise<RollbackOutcome> {
    const to = this.#known(target)
    const stopping: Stopping = { begun: false, stopped: [] }
    await this.#shorten(this.#heads())
    await this.#shorten(to)
    const act = () => this.#withShell(operation, () => this.#rollback(operation, to, stopping))
    // It may be what the person does about a full disk.
    const result = await withBallast(this.#options.folder, act).catch((error: unknown) => {
      throw stopping.begun && stopping.stopped.length > 0 ? afterStopping(error, stopping.stopped) : error
    })
    if (result.kind !== 'rollback') throw otherKind(operation)
    return result.outcome
  }

  /** Makes ready off the path of any operation. Where it fails, the operation that needs it says why. */
  prepare(): void {
    try {
      const { layers, namespace, stateFile } = this.#options
      for (const overlay of OVERLAYS) layers.spare(overlay)
      layers.sweepWork(namespace.overlays())
      stateFile.tidy()
      takeBallast(this.#options.folder)
    } catch (error) {
      if (error instanceof ShellDied) return
      if (asDiskFull(error, '') === error) throw error
    }
  }

  #heads(): FilesState {
    return { workspace: this.#state.workspace.head, machine: this.#state.machine.head }
  }

  async #shorten(state: FilesState): Promise<void> {
    try {
      for (const overlay of OVERLAYS) await this.#options.compacting.shorten(overlay, state[overlay])
    } catch (error) {
      throw asDiskFull(error, 'Making a long line of points short')
    }
  }

  /** Answers again what was done, and does once more what a dying control shell left undone. */
  async #withShell(operation: string, act: () => Promise<OperationResult>): Promise<OperationResult> {
    for (let attempt = 0; ; attempt++) {
      const known = this.#state.operations.find(({ id }) => id === operation)
      if (known) return known
      try {
        return await act()
      } catch (error) {
        if (!(error instanceof ShellDied)) throw error
        await this.#options.reopen()
        if (attempt > 0)
          throw new EngineUnavailableError('The control shell of the sandbox was ended twice.', { cause: error })
      }
    }
  }

  async #checkpoint(operation: string): Promise<OperationResult> {
    await this.#shorten(this.#heads())
    const { layers, commands, freezer } = this.#options
    const dirty: Overlay[] = []
    for (const overlay of OVERLAYS) if (await layers.changed(overlay, this.#state[overlay])) dirty.push(overlay)
    if (dirty.length === 0) return this.#record({}, operation, 0)
    if (commands.agentProcesses().length === 0) {
      const frozen = await this.#freeze('checkpoint', dirty, (to) =>
        this.#options.standing.swap('checkpoint', to, this.#result(operation, to, this.#weigh(to)), BUSY_LIMIT_MS),
      )
      if (frozen) return this.#last()
    }
    return freezer.whileFrozen(() => this.#freezeUnderLife(operation, dirty))
  }

  /**
   * Freezes live layers that nobody writes to.
   * @param use puts fresh layers over them; what was written for it is dropped where that comes to nothing, else the
   * live layer that it stands for
   */
  async #freeze(name: string, dirty: readonly Overlay[], use: (to: Overlays) => Promise<boolean>): Promise<boolean> {
    const { freezing, layers } = this.#options
    const before = this.#state
    const written: [Overlay, number][] = []
    let done = false
    try {
      const to: Overlays = {}
      for (const overlay of dirty) {
        const now = before[overlay]
        const number = await freezing.settled(overlay, now, this.#options.standing.guard(), name)
        if (number !== now.upper) written.push([overlay, number])
        to[overlay] = this.#options.standing.fresh(overlay, number)
      }
      done = await use(to)
      return done
    } finally {
      for (const [overlay, number] of written) {
        void layers.discard(overlay, done ? before[overlay].upper : number)
      }
    }
  }

  /**
   * The workspace is swapped where no process holds it; else copied. The machine layer is copied at once: the output
   * of a running command is an open file in it.
   */
  async #freezeUnderLife(operation: string, dirty: readonly Overlay[]): Promise<OperationResult> {
    const to: Overlays = {}
    try {
      if (dirty.includes('machine')) to.machine = await this.#write('machine')
      if (dirty.includes('workspace')) {
        const frozen = await this.#freeze('checkpoint', ['workspace'], (swapped) =>
          this.#options.standing.swap('checkpoint', swapped, this.#result(operation, { ...to, ...swapped }, null), 0),
        )
        if (frozen) return this.#last()
        to.workspace = await this.#write('workspace')
      }
    } catch (error) {
      // While everything is still frozen, so that no process meets a view without its files.
      if (error instanceof ShellDied) await this.#options.reopen()
      throw error
    }
    return this.#record(to, operation, null)
  }

  /** What the overlay's live layer holds that its head does not, as a layer; the mount stays as it is. */
  async #write(overlay: Overlay): Promise<OverlayState> {
    const { freezing, standing, commands } = this.#options
    const now = this.#state[overlay]
    const pids = commands.agentProcesses().map(({ pid }) => pid)
    freezing.cleanMapped(overlay, now, pids)
    // Frozen: whatever is changed later is not older than this.
    const copiedAt = await this.#tick()
    return { ...now, head: await freezing.written(overlay, now, standing.guard(), copiedAt), copiedAt }
  }

  async #rollback(operation: string, to: FilesState, stopping: Stopping): Promise<OperationResult> {
    const { layers, commands } = this.#options
    const { stopped } = stopping
    if (!stopping.begun) stopped.splice(0, stopped.length, ...commands.describeProcesses())
    this.#makeRoom(operation, stopped)
    stopping.begun = true
    await commands.killAll()
    const dirty: Overlay[] = []
    for (const overlay of OVERLAYS) if (await layers.changed(overlay, this.#state[overlay])) dirty.push(overlay)
    await this.#freeze('rollback', dirty, (left) => this.#goBack(operation, to, left, stopped))
    return this.#last()
  }

  /** @param left the overlays with what stood frozen, where there was something */
  async #goBack(operation: string, to: FilesState, left: Overlays, stopped: ProcessInfo[]): Promise<boolean> {
    const { layers, commands } = this.#options
    const target: Overlays = {}
    const before = this.#state
    for (const overlay of OVERLAYS) {
      const now = before[overlay]
      const stays = !left[overlay] && now.copiedAt === null && now.on === to[overlay]
      if (!stays) target[overlay] = this.#options.standing.fresh(overlay, to[overlay])
    }
    const outcome: RollbackOutcome = {
      left: {
        state: { workspace: (left.workspace ?? before.workspace).head, machine: (left.machine ?? before.machine).head },
        changed: Object.keys(left).length > 0,
        bytes: this.#weigh(left),
      },
      stopped,
    }
    const result: OperationResult = { id: operation, kind: 'rollback', outcome }
    const frozen = this.#state.frozen + (outcome.left.changed ? 1 : 0)
    const next = withOperation({ ...this.#state, ...target, frozen }, result)
    if (!(await this.#options.standing.swap('rollback', target, next, BUSY_AFTER_KILL_MS))) {
      throw new RollbackFailedError('Something still holds the sandbox’s files, so its layers cannot be changed.', {
        nextStep: 'Try again; if it happens again, destroy the sandbox.',
      })
    }
    // From here on it is done, and nothing may fail it.
    if (target.machine) {
      commands.moveOutputs(layers.paths('machine', before.machine))
      commands.clearView()
    }
    for (const overlay of OVERLAYS) {
      if (target[overlay] && !left[overlay]) void layers.discard(overlay, before[overlay].upper)
    }
    return true
  }

  /** Everything that a full disk could refuse, while nothing has been ended yet. */
  #makeRoom(operation: string, stopped: ProcessInfo[]): void {
    const { layers, stateFile } = this.#options
    const { workspace, machine } = this.#state
    const left = { state: { workspace: workspace.head, machine: machine.head }, changed: false, bytes: null }
    try {
      for (const overlay of OVERLAYS) layers.spare(overlay)
      stateFile.tryRoom(withOperation(this.#state, { id: operation, kind: 'rollback', outcome: { left, stopped } }))
    } catch (error) {
      throw asDiskFull(error, 'Preparing to go back')
    }
  }

  /** Bytes of the layers that are frozen; null where that would take longer than the operation itself. */
  #weigh(frozen: Overlays): number | null {
    let sum: number | null = 0
    for (const overlay of OVERLAYS) {
      const top = frozen[overlay]?.on
      if (top === undefined) continue
      const bytes = quickBytes(this.#options.layers.path(overlay, top))
      sum = sum === null || bytes === null ? null : sum + bytes
    }
    return sum
  }

  /** Nothing has to be mounted: the state alone changes. */
  #record(to: Overlays, operation: string, bytes: number | null): OperationResult {
    this.#options.standing.commit(this.#result(operation, to, bytes))
    return this.#last()
  }

  #result(operation: string, to: Overlays, bytes: number | null): SandboxState {
    const state = { ...this.#state, ...to }
    const outcome: CheckpointOutcome = {
      state: { workspace: state.workspace.head, machine: state.machine.head },
      changed: Object.keys(to).length > 0,
      bytes,
    }
    const frozen = this.#state.frozen + (outcome.changed ? 1 : 0)
    return withOperation({ ...state, frozen }, { id: operation, kind: 'checkpoint', outcome })
  }

  #last(): OperationResult {
    const last = this.#state.operations.at(-1)
    if (last === undefined) throw new Error('no operation was recorded')
    return last
  }

  /** A time of the layers' file system that nothing earlier bears: its clock ticks every few milliseconds only. */
  async #tick(): Promise<string> {
    const path = join(this.#options.folder, 'clock')
    const stamp = (): bigint => {
      writeFileSync(path, '')
      return lstatSync(path, { bigint: true }).ctimeNs
    }
    const before = stamp()
    for (;;) {
      await sleep(1)
      const now = stamp()
      if (now !== before) return String(now)
    }
  }

  /** A state by the numbers that its layers have now. @throws InvalidOptionError where it is not held */
  #known(state: FilesState): FilesState {
    const { stateFile, layers } = this.#options
    const known = (overlay: Overlay): number => {
      const tree = stateFile.trees[overlay]
      const top = tree.resolve(state[overlay])
      const missing = tree.has(top) ? tree.stack(top).find((number) => !layers.has(overlay, number)) : top
      if (missing === undefined) return top
      throw new InvalidOptionError(`This sandbox does not hold the state to go to (layer ${missing}).`, {
        nextStep: 'Choose another checkpoint of this session.',
      })
    }
    return { workspace: known('workspace'), machine: known('machine') }
  }
}

const otherKind = (operation: string): InvalidOptionError =>
  new InvalidOptionError(`The operation ${operation} was of another kind.`, {
    nextStep: 'Give each operation an id of its own.',
  })

/** Going back failed once it had ended processes: the files are as they were, what ran is not. */
function afterStopping(error: unknown, stopped: readonly ProcessInfo[]): RewindError {
  const Class = error instanceof DiskFullError ? DiskFullError : RollbackFailedError
  const known = error instanceof RewindError ? error : null
  const names = stopped.slice(0, 3).map(({ command }) => command.slice(0, 60))
  const more = stopped.length > names.length ? ` and ${stopped.length - names.length} more` : ''
  return new Class(
    `${(error as Error).message} The files are as they were, but what ran in the sandbox was stopped: ${names.join(', ')}${more}.`,
    {
      nextStep: known?.nextStep ?? 'Try again; if it happens again, end this session and begin a new one.',
      data: { ...known?.data, stopped },
      cause: error,
    },
  )
}
