/** One sandbox of the local engine: the interface over its namespaces, layers, commands and files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Change, FilePair, ProcessInfo } from '../../contract/index.ts'
import { EngineUnavailableError, FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { call } from '../channel/index.ts'
import {
  createThreadedReader,
  type LayerFolder,
  type LayerReader,
  resolveInside,
  toByteString,
} from '../layers/index.ts'
import type {
  CheckpointOutcome,
  CommandSpec,
  FilePieces,
  FilesState,
  Meeting,
  PruneOutcome,
  ReadState,
  RollbackOutcome,
  RunningCommand,
  Sandbox,
  SandboxFacts,
  SandboxStatus,
} from '../sandbox.ts'
import { dial, Relay, relayProgram, startRelay } from '../tunnel/index.ts'
import { withBallast } from './ballast.ts'
import { ControlGroups } from './cgroup.ts'
import { Commands } from './commands.ts'
import { Compacting } from './compacting.ts'
import { Files } from './files.ts'
import { Folding } from './folding.ts'
import { Freeing } from './freeing.ts'
import { Freezer } from './freezer.ts'
import { Freezing } from './freezing.ts'
import { Gate } from './gate.ts'
import { LayerSizes, type Measured } from './layer-sizes.ts'
import { BASE } from './layer-tree.ts'
import { Layers } from './layers.ts'
import { LiveBase } from './live-base.ts'
import { Namespace, type NamespaceOptions } from './namespace.ts'
import { Operations } from './operations.ts'
import { PreImages } from './pre-images.ts'
import { isAlive } from './processes.ts'
import { endHolder, groupName, removeFolder } from './remove.ts'
import { placePath } from './root-plan.ts'
import { OVERLAYS, Standing } from './standing.ts'
import { bootId, type Pause, type SandboxState, StateFile, type StoredSpec } from './state.ts'
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
  readonly #preImages: PreImages
  readonly #freezer: Freezer
  readonly #files: Files
  readonly #reader: LayerReader
  readonly #namespace: Namespace
  /** Null where the base is a copy. */
  readonly #liveBase: LiveBase | null
  readonly #compacting: Compacting
  readonly #sizes = new LayerSizes((path, error) => this.#bytesOfClosed(path, error))
  readonly #relay = new Relay(startRelay)
  readonly #losses: string[] = []
  #restarted = false
  #open = false
  #syncTimer: NodeJS.Timeout | undefined

  /** @param options its folder holds spec.json, state.json and the layers of that state */
  constructor(options: NamespaceOptions) {
    const { folder, stored, source, plan } = options
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
    this.#liveBase = stored.facts.base === 'live' ? new LiveBase(stored.spec.workspace, source, stored.identity) : null
    const bases = {
      workspace: this.#liveBase ?? { path: join(folder, 'w', '0'), frozen: true },
      machine: { path: plan.image?.folder ?? join(folder, 'm', '0'), frozen: true },
    }
    this.#layers = new Layers(folder, bases, plan.runs, state.next)
    for (const overlay of OVERLAYS) {
      const tree = this.#stateFile.trees[overlay]
      tree.remove([...tree.compacts.keys()].filter((number) => !this.#layers.has(overlay, number)))
    }
    this.#commands = new Commands({
      namespace: this.#namespace,
      inView: (use) => this.#inView(use),
      groups: this.#groups,
      stored,
      plan,
      environment: options.environment,
      paused: (since) => pausedSince(this.#standing.state.pauses ?? [], since),
      starter: plan.image === null ? [] : options.programs.starter,
      kept: join(folder, 'kept'),
    })
    this.#freezer = new Freezer(this.#groups, () => this.#commands.processes())
    this.#reader = createThreadedReader(user ? 'user.overlay.opaque' : 'trusted.overlay.opaque')
    // Another host may have folded layers since this one looked at them last.
    for (const overlay of OVERLAYS)
      for (const number of this.#layers.numbers(overlay)) this.#reader.forget(this.#layers.path(overlay, number))
    const reopen = () => this.#reopen()
    this.#standing = new Standing(
      {
        stored,
        namespace: this.#namespace,
        layers: this.#layers,
        stateFile: this.#stateFile,
        nested: placePath(plan, stored.facts.workspace) !== null,
        reopen,
      },
      state,
    )
    const forget = (path: string) => this.#sizes.forget(path)
    this.#compacting = new Compacting({
      stateFile: this.#stateFile,
      standing: this.#standing,
      layers: this.#layers,
      reader: this.#reader,
      reading: (use) => this.#layersGate.shared(use),
      isUsed: () => !this.#layersGate.idle || this.#gate.busy,
      forget,
    })
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
        stateFile: this.#stateFile,
        reader: this.#reader,
        plan,
        onShared: () => this.#sizes.shares(),
      }),
      compacting: this.#compacting,
      reopen,
    })
    this.#freeing = new Freeing({
      standing: this.#standing,
      stateFile: this.#stateFile,
      layers: this.#layers,
      folding: new Folding({
        layers: this.#layers,
        stateFile: this.#stateFile,
        reader: this.#reader,
        forget,
      }),
      commands: this.#commands,
      reopen,
    })
    this.#preImages = new PreImages({
      folder,
      standing: this.#standing,
      namespace: this.#namespace,
      layers: this.#layers,
      stateFile: this.#stateFile,
      base: () => this.#layers.folder('workspace', BASE).path,
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
      await this.#build()
      await this.#repair()
      const holder = await this.#namespace.hold()
      await this.#write({ ...this.#standing.state, holder, bootId: bootId() })
      await this.#launch()
    } catch (error) {
      await this.#namespace.close()
      throw error
    }
    this.#begin()
  }

  /** While it is paused there is nothing to launch, and a launcher in frozen groups would be waited for in vain. */
  async #launch(): Promise<void> {
    if (!this.paused) await this.#commands.openLauncher()
  }

  async #build(): Promise<void> {
    this.#liveBase?.check()
    await this.#namespace.build()
    this.#holdBase()
  }

  /** As the sandbox has it, wherever the host's folder goes from here on. */
  #holdBase(): void {
    this.#liveBase?.hold(this.#namespace.ownPath('/run/s/w/0'))
  }

  /** The host's folder was removed: what is mounted from here on stands on an empty one. */
  async #emptyBase(): Promise<void> {
    if (this.#liveBase === null) return
    this.#layers.dress(this.#layers.path('workspace', BASE), this.#liveBase.path)
    // Held by nobody, us included.
    this.#liveBase.release()
    try {
      await this.#namespace.must(call('umount', '/run/s/w/0'), 'Letting go of the removed workspace')
    } finally {
      this.#holdBase()
    }
  }

  /** Takes hold of it after another host: with its processes where its holder lives, else anew. */
  async take(): Promise<void> {
    const { state } = this.#standing
    if (state.ended) return
    await this.#write({ ...state, generation: state.generation + 1 })
    const { holder } = state
    if (holder === null || state.bootId !== bootId() || !isAlive(holder)) {
      // What an earlier host left half way, and what was killed with its holder.
      this.#losses.push(...lossesOf(state))
      this.#restarted = state.bootId !== bootId()
      await this.#write(this.#afterLoss(this.#standing.state))
      await this.start()
      await this.#commands.adopt()
      return
    }
    await this.#namespace.enter(holder)
    this.#holdBase()
    await this.#repair()
    await this.#launch()
    if (this.paused) await this.#freezer.hold(true)
    else this.#freezer.thaw()
    await this.#commands.adopt()
    this.#begin()
  }

  #begin(): void {
    this.#open = true
    this.#operations.prepare()
    void this.#layers.sweepParts()
    this.#compacting.soon()
  }

  get ended(): boolean {
    return this.#standing.state.ended
  }

  get losses(): readonly string[] {
    return this.#losses
  }

  get restarted(): boolean {
    return this.#restarted
  }

  async status(): Promise<SandboxStatus> {
    const { workspace, machine, operations } = this.#standing.state
    return {
      head: { workspace: workspace.head, machine: machine.head },
      operations: new Map(operations.map(({ id, ...result }) => [id, result])),
    }
  }

  get paused(): boolean {
    return this.#standing.state.pauses?.at(-1)?.to === null
  }

  /** Frozen first: a host that dies before that is written down leaves what the next one has go on. */
  pause(): Promise<void> {
    return this.#alone(async () => {
      if (this.paused) return
      await this.#commands.quiet()
      await this.#freezer.hold()
      const { state } = this.#standing
      const since = this.#commands.runsSince ?? Number.POSITIVE_INFINITY
      const pauses = (state.pauses ?? []).filter(({ to }) => to !== null && to > since)
      try {
        await this.#write({ ...state, pauses: [...pauses, { from: Date.now(), to: null }] })
      } catch (error) {
        this.#freezer.release()
        throw error
      }
      this.#commands.paused()
    })
  }

  /** Written down first: a host that dies after that leaves it to the next one to have all go on. */
  unpause(): Promise<void> {
    return this.#alone(async () => {
      if (!this.paused) return
      const { state } = this.#standing
      const to = Date.now()
      await this.#write({
        ...state,
        pauses: (state.pauses ?? []).map((one) => (one.to === null ? { ...one, to } : one)),
      })
      this.#freezer.release()
      this.#commands.paused()
    })
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
    return this.#layersGate.shared(async () =>
      this.#reader.read(relative, this.#stacks(state)[0], { workspaceInside: this.facts.workspace }),
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

  async keepHostEntries(paths: readonly Uint8Array[]): Promise<boolean> {
    const names = paths.map((path) => hostEntry(Buffer.from(path).toString('latin1')))
    if (this.#liveBase === null) return true
    if (this.#standing.state.ended) return false
    return this.#alone(() => this.#layersGate.exclusive(() => this.#preImages.keep(names)))
  }

  usage(): Promise<number> {
    // While layers are folded their sizes are neither the old nor the new ones.
    return this.#layersGate.shared(() => this.#sizes.sum(this.#measured()))
  }

  *#measured(): Iterable<Measured> {
    yield { path: join(this.#folder, 'kept'), kind: 'layer', changing: true }
    for (const overlay of OVERLAYS) {
      const { trees } = this.#stateFile
      const { upper } = this.#standing.state[overlay]
      const layer = (number: number): Measured => ({
        path: this.#layers.path(overlay, number),
        kind: 'layer',
        changing: number === upper,
      })
      if (overlay === 'machine' || this.facts.base === 'copy') yield layer(BASE)
      for (const number of [...trees[overlay].layers, ...this.#standing.state.aside[overlay]]) yield layer(number)
      for (const number of trees[overlay].compacts.keys()) yield { ...layer(number), kind: 'compact' }
      if (!trees[overlay].has(upper)) yield layer(upper)
    }
  }

  /** The agent may have closed a folder to us, who are the same user; the control shell passes any mode. */
  async #bytesOfClosed(path: string, error: unknown): Promise<number> {
    if (!(error instanceof EngineUnavailableError) || !this.#open) throw error
    const inside = `/run/s/${path.slice(this.#folder.length + 1)}`
    return Number.parseInt(await this.#namespace.must(call('du', '-sk', inside), 'Measuring a layer'), 10) * 1024
  }

  changes(from: ReadState, to: ReadState): Promise<Change[]> {
    return this.#layersGate.shared(async () => this.#reader.changes(...this.#stacks(from, to)))
  }

  pair(path: Uint8Array, from: ReadState, to: ReadState, textLimitBytes: number): Promise<FilePair> {
    return this.#layersGate.shared(async () => this.#reader.pair(path, ...this.#stacks(from, to), textLimitBytes))
  }

  meetings(from: FilesState, to: ReadState, paths: readonly Uint8Array[]): Promise<Meeting[]> {
    return this.#layersGate.shared(async () => {
      const base = this.#liveBase?.path ?? null
      const host = { path: base ?? this.#options.source, frozen: false }
      return this.#reader.meetings(paths.map(toByteString), ...this.#stacks(from, to), host, base)
    })
  }

  extract(state: ReadState, paths: readonly Uint8Array[], folder: string, most?: number): Promise<boolean> {
    return this.#layersGate.shared(async () =>
      this.#reader.extract(paths.map(toByteString), this.#stacks(state)[0], folder, most),
    )
  }

  pieces(
    state: ReadState,
    paths: readonly Uint8Array[],
    at: { index: number; offset: number },
    limit: number,
  ): Promise<FilePieces> {
    return this.#layersGate.shared(async () =>
      this.#reader.pieces(paths.map(toByteString), this.#stacks(state)[0], at, limit),
    )
  }

  async lastChange(): Promise<number | null> {
    this.#mustBeOpen()
    return this.#layers.lastChange('workspace', this.#standing.state.workspace)
  }

  async processes(): Promise<ProcessInfo[]> {
    return this.#open && this.#namespace.holderLives ? this.#commands.describeProcesses() : []
  }

  async activity() {
    return this.#open && this.#namespace.holderLives ? this.#commands.activity() : { processes: [], ports: [] }
  }

  async endProcess(key: string): Promise<boolean> {
    this.#mustBeOpen()
    return this.#namespace.holderLives && this.#commands.endProcess(key)
  }

  async connect(port: number, signal?: AbortSignal): Promise<Duplex> {
    this.#mustBeOpen()
    const { engine } = this.facts
    // Its loopback is this machine's.
    if (engine === 'local' && this.#stored.spec.network) return dial(port, signal)
    return this.#relay.connect(await this.relay(), port, signal)
  }

  /** The words of a relay that connects to what listens inside. */
  relay(): Promise<string[]> {
    return this.#inView(async () => this.#namespace.inNetwork([process.execPath, relayProgram()]))
  }

  async detach(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    clearTimeout(this.#syncTimer)
    this.#relay.close()
    await this.#compacting.stop()
    await this.#gate.exclusive(async () => {
      this.#commands.close(null)
      await this.#namespace.close()
      this.#liveBase?.release()
    })
  }

  async end(): Promise<void> {
    if (this.#standing.state.ended) return
    await this.#compacting.stop()
    this.#relay.close()
    await this.#gate.exclusive(async () => {
      clearTimeout(this.#syncTimer)
      this.#open = false
      const { holder } = this.#standing.state
      if (holder !== null && isAlive(holder)) await endHolder(holder)
      await this.#namespace.close()
      this.#liveBase?.release()
      this.#commands.moveOutputs(this.#layers.paths('machine', this.#standing.state.machine))
      this.#commands.close('cancelled')
      await ControlGroups.remove(groupName(this.#folder))
      await this.#write({ ...this.#standing.state, holder: null, ended: true })
    })
  }

  async destroy(): Promise<void> {
    await this.end()
    await removeFolder(this.#folder, this.#stored.mode, this.#options.programs)
  }

  /**
   * States as folders of the host, top first; two states are the same folders from where their layers meet.
   * @throws FileNotFoundError where one is not held any more
   */
  #stacks<States extends readonly ReadState[]>(...states: States): { [K in keyof States]: LayerFolder[] } {
    const tree = this.#stateFile.trees.workspace
    const { upper, on } = this.#standing.state.workspace
    const tops = states.map((state) => (state === 'now' ? on : tree.resolve(state.workspace)))
    const [one = on, other = one] = tops
    if (!tops.every((top) => tree.has(top))) throw notHeld()
    return tree
      .pair(one, other)
      .slice(0, states.length)
      .map((stack, at) => {
        const frozen = stack.map((number) => this.#layers.folder('workspace', number))
        if (frozen.some(({ path }) => !existsSync(path))) throw notHeld()
        const live = states[at] === 'now' ? [{ path: this.#layers.path('workspace', upper), frozen: false }] : []
        return [...live, ...frozen]
      }) as { [K in keyof States]: LayerFolder[] }
  }

  async #alone<T>(act: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    return this.#gate.exclusive(async () => {
      try {
        if (!this.#namespace.holderLives || !this.#namespace.shellLives) await this.#reopen()
        if (this.#liveBase?.removed) await this.#emptyBase()
        return await act()
      } finally {
        setImmediate(() => {
          if (this.#open) this.#operations.prepare()
        })
        this.#compacting.soon()
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
        await this.#launch()
        return
      }
      await this.#repair()
      return
    }
    // Its holder was killed, and all processes with it.
    await this.#namespace.close()
    await this.#build()
    await this.#repair()
    const fresh = await this.#namespace.hold()
    await this.#write({ ...this.#standing.state, holder: fresh, bootId: bootId() })
    await this.#launch()
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
      const tree = this.#stateFile.trees[overlay]
      // They are a cache; those that may be torn too are not needed.
      const torn = [...tree.compacts].filter(([, { frozen }]) => frozen >= state.syncedThrough)
      tree.remove(torn.map(([number]) => number))
      const next = this.#standing.fresh(overlay, state[overlay].head)
      this.#layers.used(overlay)
      return next
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

  /** What must be said also on a full disk: that it was taken over, or ended. */
  async #write(state: SandboxState): Promise<void> {
    await withBallast(this.#folder, () => this.#stateFile.write(state))
    this.#standing.state = state
  }

  /** `volatile` layers reach the disk by this alone; it is nobody's to wait for. */
  #syncSoon(): void {
    clearTimeout(this.#syncTimer)
    const through = this.#standing.state.frozen
    if (this.#standing.state.syncedThrough >= through) return
    this.#syncTimer = setTimeout(() => {
      void this.#namespace.shell
        .run('sync -f /run/s/w')
        .then(({ code }) => {
          // Between operations: one of them may have its own next state written beside the old one.
          return this.#gate.exclusive(async () => {
            if (code === 0 && this.#open) await this.#write({ ...this.#standing.state, syncedThrough: through })
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

/** @throws InvalidPathError where it leads out of the workspace, or is none */
function hostEntry(path: string): string {
  if (
    path !== '' &&
    !path.startsWith('/') &&
    !path.split('/').some((name) => name === '..' || name === '.' || name === '')
  )
    return path
  throw new InvalidPathError(`${JSON.stringify(path)} names no entry of the workspace.`, {
    nextStep: 'Give paths relative to the workspace, without "." and "..".',
  })
}

/** How much of the time since then was paused. */
function pausedSince(pauses: readonly Pause[], since: number): { ms: number; now: boolean } {
  const ms = pauses.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? Date.now()) - Math.max(from, since)), 0)
  return { ms, now: pauses.at(-1)?.to === null }
}

const notHeld = (): FileNotFoundError =>
  new FileNotFoundError('The files of that state are no longer held.', {
    nextStep: 'Choose another checkpoint of this session.',
  })

/** What is lost where the holder of a sandbox is gone, as a person is told. */
function lossesOf({ bootId: boot, frozen, syncedThrough }: SandboxState): string[] {
  if (boot === bootId()) return ['Its processes were ended from outside; its files are as they were.']
  const losses = [
    'The machine was started anew: its processes ended, and what was written after its last checkpoint is no longer in view.',
  ]
  if (frozen > syncedThrough) {
    losses.push(
      'Its last checkpoint may not have reached the disk whole: look through its files, or go back to an older one.',
    )
  }
  return losses
}
