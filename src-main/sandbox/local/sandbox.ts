/** One sandbox of the local engine: the interface over its namespaces, layers, commands and files. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, FilePair, ProcessInfo } from '../../contract/index.ts'
import { EngineUnavailableError, FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { call } from '../channel/index.ts'
import { createThreadedReader, type LayerFolder, type LayerReader, layerBytes, resolveInside } from '../layers/index.ts'
import type {
  CheckpointOutcome,
  CommandSpec,
  FilesState,
  PruneOutcome,
  ReadState,
  RollbackOutcome,
  RunningCommand,
  Sandbox,
  SandboxFacts,
  SandboxStatus,
} from '../sandbox.ts'
import { ControlGroups } from './cgroup.ts'
import { Commands } from './commands.ts'
import { Files } from './files.ts'
import { Folding } from './folding.ts'
import { Freeing } from './freeing.ts'
import { Freezer } from './freezer.ts'
import { Freezing } from './freezing.ts'
import { Gate } from './gate.ts'
import { Layers } from './layers.ts'
import { asDiskFull, Namespace, type NamespaceOptions } from './namespace.ts'
import { Operations } from './operations.ts'
import { isAlive } from './processes.ts'
import { endHolder, groupName, removeFolder } from './remove.ts'
import { placePath } from './root-plan.ts'
import { Standing } from './standing.ts'
import { bootId, type SandboxState, StateFile, type StoredSpec, withoutFolded } from './state.ts'
import { repairView } from './view.ts'

/** Between a checkpoint and the sync of what it froze: several in a row share one. */
const SYNC_DELAY_MS = 3_000

export class LocalSandbox implements Sandbox {
  readonly id: string
  readonly facts: SandboxFacts
  readonly #folder: string
  readonly #options: NamespaceOptions
  readonly #stored: StoredSpec
  readonly #stateFile: StateFile
  readonly #gate = new Gate()
  /** Who reads frozen layers: together, while none of them is changed. */
  readonly #layersGate = new Gate()
  readonly #groups: ControlGroups | null
  readonly #layers: Layers
  readonly #commands: Commands
  readonly #standing: Standing
  readonly #operations: Operations
  readonly #freeing: Freeing
  readonly #freezer: Freezer
  readonly #files: Files
  readonly #reader: LayerReader
  readonly #namespace: Namespace
  /** Frozen layers are measured once. */
  readonly #frozenBytes = new Map<string, number>()
  readonly #losses: string[] = []
  #open = false
  #syncTimer: NodeJS.Timeout | undefined

  /** @param options its folder holds spec.json, state.json and the layers of that state */
  constructor(options: NamespaceOptions) {
    const { folder, stored, plan } = options
    this.#options = options
    this.#stored = stored
    this.#folder = folder
    this.id = stored.spec.id
    this.facts = stored.facts
    this.#stateFile = new StateFile(folder)
    const state = this.#stateFile.read()
    const user = stored.mode === 'user'
    this.#groups = state.ended ? null : ControlGroups.open(groupName(folder))
    this.#namespace = new Namespace(options)
    this.#layers = new Layers(folder, state.next)
    this.#commands = new Commands({
      namespace: this.#namespace,
      inView: (use) => this.#inView(use),
      groups: this.#groups,
      stored,
      home: plan.home,
      starter: options.programs.starter,
      kept: join(folder, 'kept'),
    })
    this.#freezer = new Freezer(this.#groups, () => this.#commands.processes())
    this.#reader = createThreadedReader(user ? 'user.overlay.opaque' : 'trusted.overlay.opaque')
    const reopen = () => this.#reopen()
    this.#standing = new Standing(
      {
        stored,
        namespace: this.#namespace,
        layers: this.#layers,
        stateFile: this.#stateFile,
        base: this.#basePath,
        nested: placePath(plan, stored.facts.workspace) !== null,
        reopen,
      },
      state,
    )
    this.#operations = new Operations({
      folder,
      standing: this.#standing,
      namespace: this.#namespace,
      layers: this.#layers,
      stateFile: this.#stateFile,
      commands: this.#commands,
      freezer: this.#freezer,
      freezing: new Freezing({
        folder,
        stored,
        namespace: this.#namespace,
        layers: this.#layers,
        reader: this.#reader,
        base: this.#basePath,
      }),
      base: this.#basePath,
      reopen,
    })
    this.#freeing = new Freeing({
      standing: this.#standing,
      folding: new Folding({
        stored,
        layers: this.#layers,
        reader: this.#reader,
        base: this.#basePath,
        forget: (path) => this.#frozenBytes.delete(path),
      }),
      commands: this.#commands,
      reopen,
    })
    this.#files = new Files({
      root: () => this.#namespace.path(stored.facts.workspace),
      workspace: stored.facts.workspace,
      agent: stored.agent,
      own: user,
    })
  }

  /** Builds it up: namespaces, the layers of the state, holder and launcher. */
  async start(): Promise<void> {
    try {
      await this.#namespace.build()
      await this.#repair()
      const holder = await this.#namespace.hold()
      this.#write({ ...this.#standing.state, holder, bootId: bootId() })
      await this.#commands.openLauncher()
    } catch (error) {
      await this.#namespace.close()
      throw error
    }
    this.#open = true
    this.#operations.prepare()
  }

  /** Takes hold of it after another host: with its processes where its holder lives, else anew. */
  async take(): Promise<void> {
    const { state } = this.#standing
    if (state.ended) return
    this.#write({ ...state, generation: state.generation + 1 })
    const { holder } = state
    if (holder === null || state.bootId !== bootId() || !isAlive(holder)) {
      // What an earlier host left half way, and what was killed with its holder.
      this.#losses.push(...lossesOf(state))
      this.#write(this.#afterLoss(this.#standing.state))
      await this.start()
      await this.#commands.adopt()
      return
    }
    await this.#namespace.enter(holder)
    await this.#repair()
    await this.#commands.openLauncher()
    this.#freezer.thaw()
    await this.#commands.adopt()
    this.#open = true
    this.#operations.prepare()
  }

  get ended(): boolean {
    return this.#standing.state.ended
  }

  get losses(): readonly string[] {
    return this.#losses
  }

  async status(): Promise<SandboxStatus> {
    const { workspace, machine, operations } = this.#standing.state
    return {
      head: { workspace: workspace.head, machine: machine.head },
      operations: new Map(operations.map(({ id, ...result }) => [id, result])),
    }
  }

  async exec(spec: CommandSpec): Promise<RunningCommand> {
    this.#mustBeOpen()
    const { workspace } = this.facts
    const { cwd = workspace } = spec
    if (cwd.includes('\0')) throw new InvalidPathError('A working folder cannot hold a NUL byte.')
    const dir = cwd.startsWith('/') ? cwd : `${workspace}/${cwd}`
    return this.#inView(() => this.#commands.start(spec, dir))
  }

  async commands(): Promise<RunningCommand[]> {
    return this.#commands.all
  }

  async writeFile(path: string, content: Uint8Array): Promise<string> {
    this.#mustBeOpen()
    const relative = resolveInside(this.facts.workspace, path)
    await this.#inView(() => this.#files.write(relative, content))
    return `${this.facts.workspace}/${relative}`
  }

  async readFile(path: string, state: ReadState = 'now'): Promise<Uint8Array> {
    const relative = resolveInside(this.facts.workspace, path)
    if (state === 'now' && this.#open) {
      return this.#inView(() => this.#files.read(relative))
    }
    return this.#layersGate.shared(() =>
      this.#reader.read(relative, this.#stack(state), { workspaceInside: this.facts.workspace }),
    )
  }

  checkpoint(operation: string): Promise<CheckpointOutcome> {
    return this.#alone(() => this.#operations.checkpoint(operation))
  }

  rollback(operation: string, to: FilesState): Promise<RollbackOutcome> {
    return this.#alone(() => this.#operations.rollback(operation, to))
  }

  prune(kept: readonly FilesState[]): Promise<PruneOutcome> {
    const free = () => this.#layersGate.exclusive(() => this.#freeing.prune(kept))
    // Of one that has ended nothing is mounted.
    return this.#standing.state.ended ? this.#gate.exclusive(free) : this.#alone(free)
  }

  usage(): Promise<number> {
    // While layers are folded their sizes are neither the old nor the new ones.
    return this.#layersGate.shared(async () => {
      const { state } = this.#standing
      const changing = new Set([join(this.#folder, 'kept')])
      for (const overlay of ['workspace', 'machine'] as const) {
        // The one that comes next is empty only until then.
        for (const number of [state[overlay].upper, this.#layers.spareNumber(overlay)])
          if (number !== null) changing.add(this.#layers.path(overlay, number))
      }
      let sum = 0
      for (const path of [...this.#layers.all(this.facts.base === 'live'), join(this.#folder, 'kept')]) {
        const bytes = this.#frozenBytes.get(path) ?? (await this.#bytesOf(path))
        if (!changing.has(path)) this.#frozenBytes.set(path, bytes)
        sum += bytes
      }
      return sum
    })
  }

  /** The agent may have closed a folder to us, who are the same user; the control shell passes any mode. */
  async #bytesOf(path: string): Promise<number> {
    try {
      return await layerBytes(path)
    } catch (error) {
      if (!(error instanceof EngineUnavailableError) || !this.#open) throw error
      const inside = `/run/s/${path.slice(this.#folder.length + 1)}`
      return Number.parseInt(await this.#namespace.must(call('du', '-sk', inside), 'Measuring a layer'), 10) * 1024
    }
  }

  changes(from: ReadState, to: ReadState): Promise<Change[]> {
    return this.#layersGate.shared(() => this.#reader.changes(this.#stack(from), this.#stack(to)))
  }

  pair(path: Uint8Array, from: ReadState, to: ReadState, textLimitBytes: number): Promise<FilePair> {
    return this.#layersGate.shared(() => this.#reader.pair(path, this.#stack(from), this.#stack(to), textLimitBytes))
  }

  async lastChange(): Promise<number | null> {
    this.#mustBeOpen()
    return this.#layers.lastChange('workspace', this.#standing.state.workspace)
  }

  async processes(): Promise<ProcessInfo[]> {
    return this.#open && this.#namespace.holderLives ? this.#commands.describeProcesses() : []
  }

  async detach(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    clearTimeout(this.#syncTimer)
    await this.#gate.exclusive(async () => {
      this.#commands.close(null)
      await this.#namespace.close()
    })
  }

  async end(): Promise<void> {
    if (this.#standing.state.ended) return
    await this.#gate.exclusive(async () => {
      clearTimeout(this.#syncTimer)
      this.#open = false
      const { holder } = this.#standing.state
      if (holder !== null && isAlive(holder)) await endHolder(holder)
      await this.#namespace.close()
      this.#commands.moveOutputs(this.#layers.paths('machine', this.#standing.state.machine))
      this.#commands.close('cancelled')
      await ControlGroups.remove(groupName(this.#folder))
      this.#write({ ...this.#standing.state, holder: null, ended: true })
    })
  }

  async destroy(): Promise<void> {
    await this.end()
    await removeFolder(this.#folder, this.#stored.mode, this.#options.programs)
  }

  get #basePath(): string {
    const { facts, spec } = this.#stored
    return facts.base === 'live' ? spec.workspace : join(this.#folder, 'w', '0')
  }

  /** The layers of a state as folders of the host, top first. */
  #stack(state: ReadState): LayerFolder[] {
    const { upper, lowers } = this.#standing.state.workspace
    const frozen = state === 'now' ? lowers : withoutFolded(state, this.#standing.state.folded).workspace
    const folders = frozen.map((number) =>
      number === 0
        ? { path: this.#basePath, frozen: this.facts.base === 'copy' }
        : { path: this.#layers.path('workspace', number), frozen: true },
    )
    const missing = folders.find(({ path }) => !existsSync(path))
    if (missing) {
      throw new FileNotFoundError('The files of that state are no longer held.', {
        nextStep: 'Choose another checkpoint of this session.',
      })
    }
    return state === 'now' ? [{ path: this.#layers.path('workspace', upper), frozen: false }, ...folders] : folders
  }

  async #alone<T>(act: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    return this.#gate.exclusive(async () => {
      try {
        if (!this.#namespace.holderLives || !this.#namespace.shellLives) await this.#reopen()
        return await act()
      } finally {
        setImmediate(() => {
          if (this.#open) this.#operations.prepare()
        })
        this.#syncSoon()
      }
    })
  }

  /**
   * Uses the view beside others. A control shell or holder that was killed is replaced first, and
   * where that happens in the middle the use is tried once more.
   */
  #inView<T>(use: () => Promise<T>): Promise<T> {
    return this.#gate.shared(async () => {
      for (let attempt = 0; ; attempt++) {
        this.#mustBeOpen()
        if (!this.#namespace.shellLives || !this.#namespace.holderLives) await this.#reopenOnce()
        try {
          return await use()
        } catch (error) {
          if (attempt > 0 || (this.#namespace.shellLives && this.#namespace.holderLives)) throw error
        }
      }
    })
  }

  #reopening: Promise<void> | null = null

  #reopenOnce(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null
    })
    return this.#reopening
  }

  /** Another control shell in the same namespaces; new ones where the holder is gone too. */
  async #reopen(): Promise<void> {
    const { holder } = this.#standing.state
    if (holder !== null && isAlive(holder)) {
      if (!this.#namespace.shellLives) {
        await this.#namespace.enter(holder)
        await this.#repair()
        await this.#commands.openLauncher()
        return
      }
      await this.#repair()
      return
    }
    // Its holder was killed, and all processes with it.
    await this.#namespace.close()
    await this.#namespace.build()
    await this.#repair()
    const fresh = await this.#namespace.hold()
    this.#write({ ...this.#standing.state, holder: fresh, bootId: bootId() })
    await this.#commands.openLauncher()
  }

  #repair(): Promise<void> {
    return repairView(this.#standing.state, {
      namespace: this.#namespace,
      layers: this.#layers,
      plan: this.#options.plan,
      stored: this.#stored,
    })
  }

  /**
   * In the same boot all that was written is there, synced or not: the live layers go on. After a reboot they may be
   * torn: the head is opened with fresh ones, and they stay aside as they are.
   */
  #afterLoss(state: SandboxState): SandboxState {
    if (state.bootId === bootId()) return { ...state, holder: null }
    const fresh = (overlay: 'workspace' | 'machine'): SandboxState['workspace'] => {
      const { head } = state[overlay]
      const { upper } = this.#layers.spare(overlay)
      const like = overlay === 'workspace' && head[0] === 0 ? this.#basePath : this.#layers.path(overlay, head[0] ?? 0)
      this.#layers.dress(this.#layers.path(overlay, upper), like)
      this.#layers.used(overlay)
      return { upper, lowers: [...head], head: [...head], copiedAt: null }
    }
    const { aside, workspace, machine } = state
    return {
      ...state,
      holder: null,
      aside: { workspace: [...aside.workspace, workspace.upper], machine: [...aside.machine, machine.upper] },
      workspace: fresh('workspace'),
      machine: fresh('machine'),
      next: this.#layers.next,
    }
  }

  #write(state: SandboxState): void {
    try {
      this.#stateFile.write(state)
    } catch (error) {
      if (asDiskFull(error, '') === error) throw error
      // What must be said also on a full disk: that it was taken over, or ended.
      rmSync(join(this.#folder, 'ballast'), { force: true })
      this.#stateFile.write(state)
    }
    this.#standing.state = state
  }

  /** `volatile` layers reach the disk by this alone; it is nobody's to wait for. */
  #syncSoon(): void {
    clearTimeout(this.#syncTimer)
    const { head } = this.#standing.state.workspace
    const through = Math.max(...head, ...this.#standing.state.machine.head)
    if (this.#standing.state.syncedThrough >= through) return
    this.#syncTimer = setTimeout(() => {
      void this.#namespace.shell
        .run('sync -f /run/s/w')
        .then(({ code }) => {
          // Between operations: one of them may have its own next state written beside the old one.
          return this.#gate.exclusive(async () => {
            if (code === 0 && this.#open) this.#write({ ...this.#standing.state, syncedThrough: through })
          })
        })
        // The next checkpoint tries again; until then an attach after a reboot says that it may not be whole.
        .catch(() => {})
    }, SYNC_DELAY_MS)
    this.#syncTimer.unref()
  }

  #mustBeOpen(): void {
    if (this.#open) return
    throw new EngineUnavailableError(`The sandbox ${this.id} has ended.`, {
      nextStep: 'Start a new session; the files of its checkpoints can still be read.',
    })
  }
}

/** What is lost where the holder of a sandbox is gone, as a person is told. */
function lossesOf({ bootId: boot, workspace, machine, syncedThrough }: SandboxState): string[] {
  if (boot === bootId()) return ['Its processes were ended from outside; its files are as they were.']
  const losses = [
    'The machine was started anew: its processes ended, and what was written after its last checkpoint is no longer in view.',
  ]
  if (Math.max(...workspace.head, ...machine.head) > syncedThrough) {
    losses.push(
      'Its last checkpoint may not have reached the disk whole: look through its files, or go back to an older one.',
    )
  }
  return losses
}
