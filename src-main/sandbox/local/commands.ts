/**
 * The commands of one sandbox: started through the launcher, found again by a later host, ended with all that they
 * started. How one ends is told by the launcher's line; a slow look at the run folders covers what cannot tell: commands
 * of an earlier host, and supervisors that were killed.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  EngineUnavailableError,
  InvalidOptionError,
  InvalidPathError,
  type ListeningPort,
  type ProcessDetails,
  type ProcessInfo,
  SessionPausedError,
  type TerminalSize,
} from '../../contract/index.ts'
import type { CommandSpec, RunningCommand } from '../sandbox.ts'
import { activityOf, isStill, keyOf } from './activity.ts'
import type { ControlGroups } from './cgroup.ts'
import { LocalCommand, type Paused } from './command.ts'
import { Launcher, type LauncherNews } from './launcher.ts'
import { asDiskFull, type Namespace } from './namespace.ts'
import {
  commandWords,
  countInside,
  type HostProcess,
  killUntilNone,
  pidInside,
  processesOf,
  procInside,
  readProcess,
  signal,
  treeOf,
} from './processes.ts'
import { type RootPlan, RUN_FOLDER } from './root-plan.ts'
import { type CommandMeta, folderName, RunFolders, type Supervisor } from './run-folder.ts'
import type { StoredSpec } from './state.ts'
import { Terminal } from './terminal.ts'

interface Entry {
  command: LocalCommand
  folder: string
  /** Its control group, where there are any. */
  group: string | null
  /** Of an earlier host: nobody tells when it ends. */
  adopted: boolean
  user: 'agent' | 'root'
  /** Where its run folder is: a rollback takes it out of the view, so that its output is not rolled back. */
  folders: RunFolders
  /** What is said in place of its standard error where its output could not be kept. */
  lost: Buffer | null
  /** The size that its terminal gets once the sandbox goes on. */
  size: TerminalSize | null
}

/** How long a process may take to end when it is asked to, and when it is made to. */
const ASKED_MS = 2_000
const KILLED_MS = 5_000
const START_LIMIT_MS = 20_000
const LOOK_AT_LAUNCHER_MS = 100
const LAST_WORDS_MS = 200
/** Between looks at commands that cannot tell. */
const ADOPTED_LOOK_MS = 20
/** The pair for the next command is made ready by then. */
const PARK_LATEST_MS = 20
const LOOK_MS = 500
/** After looks that failed: the disk is full, say, or no program can be started just now. */
const LONGEST_LOOK_MS = 5_000
const LOOKS_WITHOUT_HOLDER = 4

export interface CommandsOptions {
  namespace: Namespace
  /** Runs something that uses the sandbox's view, which stands while it runs. */
  inView: <T>(use: () => Promise<T>) => Promise<T>
  groups: ControlGroups | null
  stored: StoredSpec
  plan: RootPlan
  /** Of every command, beneath what the session and the command itself have. */
  environment: Readonly<Record<string, string>>
  /** The words before each command. */
  starter: readonly string[]
  paused: Paused
  /** Host folder for run folders that a rollback took out of the view. */
  kept: string
}

export class Commands {
  readonly #options: CommandsOptions
  readonly #folders: RunFolders
  /** As `#folders`, for commands of root. */
  readonly #rootFolders: RunFolders
  readonly #kept: RunFolders
  readonly #entries = new Map<string, Entry>()
  readonly #starting = new Map<string, (news: LauncherNews | null) => void>()
  #launcher: Launcher | null = null
  /** Earlier ones too: their supervisors may still have something to tell. */
  readonly #launchers = new Set<Launcher>()
  /** The shells that wait for the next command; empty while none do. Numbered as the sandbox sees them. */
  #pair: HostProcess[] = []
  #pairReady: () => void = ignore
  /** Ends a wait before the next pair is made ready. */
  #hurry: () => void = ignore
  /** The group that the launcher sits in: that of the next command, whose shells wait by then, or will not. */
  #parked: Promise<string | null> = Promise.resolve(null)
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false
  #looking = false

  constructor(options: CommandsOptions) {
    this.#options = options
    const { namespace, stored } = options
    const own = stored.mode === 'user'
    const at = () => namespace.path(RUN_FOLDER)
    this.#folders = new RunFolders(at, stored.agent, options.starter, own)
    this.#rootFolders = new RunFolders(at, ROOT_USER, options.starter, own)
    this.#kept = new RunFolders(() => options.kept, stored.agent, options.starter, true)
  }

  get launcherPid(): number | null {
    return this.#launcher?.pid ?? null
  }

  get all(): RunningCommand[] {
    return [...this.#entries.values()].map(({ command }) => command)
  }

  /** Starts a launcher; whoever started one before goes on without us. */
  async openLauncher(): Promise<void> {
    const { namespace } = this.#options
    const pid = await namespace.launch()
    const launcher = new Launcher(pid, namespace.shell.side, (news) => this.#hear(news))
    this.#launcher = launcher
    this.#launchers.add(launcher)
    this.#pair = []
    this.#parked = this.#park()
    void launcher.silent.then(() => {
      this.#launchers.delete(launcher)
      if (this.#launcher === launcher) this.#launcher = null
      for (const resolve of this.#starting.values()) resolve(null)
    })
  }

  get #paused(): boolean {
    return this.#options.paused(Date.now()).now
  }

  /** Resolves when nothing of ours is on its way inside, so that all can be held still. */
  async quiet(): Promise<void> {
    await this.#whereParked()
  }

  /** The sandbox was paused, or goes on. */
  paused(): void {
    for (const { command } of this.#entries.values()) command.watchTime()
    if (this.#paused) return
    for (const entry of this.#entries.values()) {
      const { size } = entry
      entry.size = null
      // Its program draws in the old size until it is told another one.
      if (size !== null) this.#terminal(entry).resize(size).catch(ignore)
    }
  }

  /** When the first of those that run began, milliseconds since 1970; null where none runs. */
  get runsSince(): number | null {
    const began = [...this.#entries.values()].flatMap(({ command }) => (command.running ? [command.startedAt] : []))
    return began.length === 0 ? null : Math.min(...began)
  }

  /** Takes over the commands of an earlier host. */
  async adopt(): Promise<void> {
    for (const folders of [this.#kept, this.#folders]) {
      for (const folder of folders.names()) {
        const meta = await folders.meta(folder)
        if (meta === null || this.#entries.has(meta.id)) continue
        this.#entries.set(meta.id, this.#entry(folder, meta, folders, true))
      }
    }
    this.#look()
  }

  /**
   * @throws InvalidPathError (cwd), InvalidOptionError, EngineUnavailableError, DiskFullError
   */
  start(spec: CommandSpec, cwd: string): Promise<RunningCommand> {
    const known = this.#entries.get(spec.id)
    if (known) return Promise.resolve(known.command)
    // One at a time: what is born in the launcher's group belongs to this command. It takes a few milliseconds.
    const started = this.#turn.then(() => this.#startNext(spec, cwd))
    this.#turn = started.catch(() => {})
    return started
  }

  async #startNext(spec: CommandSpec, cwd: string): Promise<RunningCommand> {
    const known = this.#entries.get(spec.id)
    if (known) return known.command
    if (this.#paused) throw paused()
    this.#hurry()
    const user = spec.user ?? 'agent'
    if (user === 'root' && this.#options.plan.image === null) throw noRoot()
    const folder = folderName(spec.id)
    const startedAt = Date.now()
    const meta = { id: spec.id, startedAt, deadline: spec.timeoutMs == null ? null : startedAt + spec.timeoutMs }
    try {
      const folders = user === 'root' ? this.#rootFolders : this.#folders
      folders.create(folder, meta, spec, cwd, this.#environment(spec))
    } catch (error) {
      throw asDiskFull(error, 'Starting the command')
    }
    const entry = this.#entry(folder, meta, this.#folders, false, user)
    // Before it starts, as it may have ended by the time that its start is told.
    this.#entries.set(spec.id, entry)
    const news = await (user === 'root' ? this.#requestAsRoot(folder) : this.#request(folder, entry))
    if (news?.kind !== 'no-folder' && (news !== null || !entry.command.running)) {
      this.#look()
      return entry.command
    }
    this.#entries.delete(spec.id)
    entry.command.settle({ status: 'lost', code: null, signal: null })
    this.#folders.remove(folder)
    if (news?.kind === 'no-folder') {
      throw new InvalidPathError(`There is no folder ${cwd} in the sandbox to run the command in.`, {
        nextStep: 'Give a folder that exists inside, or leave cwd out to run in the workspace.',
        data: { path: cwd },
      })
    }
    throw new EngineUnavailableError('The command could not be started in the sandbox.', {
      nextStep: 'Try again; if it happens again, roll back or start a new session.',
    })
  }

  /** Asks the launcher; a launcher that is gone (its agent may kill it) is replaced once. */
  async #request(folder: string, entry: Entry): Promise<LauncherNews | null> {
    for (let attempt = 0; ; attempt++) {
      // A lost holder is replaced by whoever gave us the view: the state has to know of the new one.
      if (!this.#options.namespace.holderLives) return null
      if (this.#launcher === null || !isRunning(this.#launcher.pid)) await this.openLauncher()
      entry.group = await this.#whereParked()
      const answer = (this.#pairWaits() ? await this.#ask(folder) : null) ?? (await this.#traceOf(entry))
      if (answer !== null || attempt > 0 || !entry.command.running) {
        this.#parkAfter(entry.command)
        return answer
      }
      // Its pair is gone, which it cannot know.
      if (this.#launcher !== null && isRunning(this.#launcher.pid)) signal(this.#launcher.pid, 'SIGKILL')
      this.#launcher = null
    }
  }

  /** A command that nobody has heard of may have started all the same: the first thing that it does is to say so there. */
  async #traceOf({ folder, folders }: Entry): Promise<LauncherNews | null> {
    return (await folders.supervisor(folder)) === null ? null : { kind: 'started', folder }
  }

  /** Each by a shell of its own: nothing of root's waits inside for an agent to meddle with. */
  async #requestAsRoot(folder: string): Promise<LauncherNews | null> {
    const news = new Promise<LauncherNews | null>((resolve) => this.#starting.set(folder, resolve))
    try {
      await this.#options.namespace.startAsRoot(folder)
      return await Promise.race([news, sleep(START_LIMIT_MS, null, { ref: false })])
    } finally {
      this.#starting.delete(folder)
    }
  }

  async #ask(folder: string): Promise<LauncherNews | null> {
    const news = new Promise<LauncherNews | null>((resolve) => this.#starting.set(folder, resolve))
    this.#launcher?.request(folder)
    const answer = await this.#unlessLost(news, () => this.#pairWaits())
    this.#starting.delete(folder)
    this.#pair = []
    return answer
  }

  /** What comes of the launcher; null once it is no more, or cannot be waited for any longer. */
  async #unlessLost<T>(coming: Promise<T>, isUnderWay: () => boolean): Promise<T | null> {
    const launcher = this.#launcher
    const over = new AbortController()
    const lost = async (): Promise<null> => {
      for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; ) {
        await sleep(LOOK_AT_LAUNCHER_MS, undefined, { ref: false, signal: over.signal }).catch(ignore)
        if (over.signal.aborted || launcher === null) break
        if (isRunning(launcher.pid) && isUnderWay()) continue
        // What it said last may be on its way, where this host was busy.
        await sleep(LAST_WORDS_MS, undefined, { ref: false, signal: over.signal }).catch(ignore)
        break
      }
      return null
    }
    try {
      return await Promise.race([coming, lost()])
    } finally {
      over.abort()
    }
  }

  /**
   * As {@link #park}, once a command that was just started has ended, unless it takes long or the next one is asked for:
   * a short one has the processors for itself.
   */
  #parkAfter(command: LocalCommand): void {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    this.#hurry = resolve
    const late = sleep(PARK_LATEST_MS, undefined, { ref: false })
    const launcher = this.#launcher
    // One that was put in its place meanwhile has been parked already.
    this.#parked = Promise.race([command.ended, asked, late]).then(() =>
      this.#launcher === launcher ? this.#park() : null,
    )
  }

  /**
   * Puts the launcher into the next command's group, off anybody's way, and has it make the next pair ready there.
   * @returns the group's name
   */
  async #park(): Promise<string | null> {
    const launcher = this.#launcher
    if (launcher === null) return null
    const { promise: ready, resolve } = Promise.withResolvers<void>()
    this.#pairReady = resolve
    const group = (await this.#options.groups?.moveToNew(launcher.pid).catch(() => null)) ?? null
    // What a dead one is asked for would be read by the next: they share the descriptor.
    if (!isRunning(launcher.pid)) return null
    launcher.ahead()
    await this.#unlessLost(ready, () => true)
    return group
  }

  /** The group that the launcher is in now. */
  #whereParked(): Promise<string | null> {
    this.#hurry()
    return this.#parked
  }

  #pairWaits(): boolean {
    return this.#pair.length > 0 && this.#alivePair().length === this.#pair.length
  }

  /** Those of the pair that the agent has not killed: another process that got its number is none of it. */
  #alivePair(): HostProcess[] {
    const proc = procInside(this.#options.namespace.holder)
    return this.#pair.filter(({ pid, startTime }) => {
      const found = readProcess(pid, proc)
      return found !== null && found.state !== 'Z' && found.startTime === startTime
    })
  }

  #entry(
    folder: string,
    meta: CommandMeta,
    folders: RunFolders,
    adopted: boolean,
    user: CommandSpec['user'] = 'agent',
  ): Entry {
    const entry: Entry = {
      folder,
      group: null,
      adopted,
      user,
      folders,
      lost: null,
      size: null,
      command: new LocalCommand(
        meta,
        {
          size: async (stream) =>
            said(entry, stream)?.length ?? this.#use(entry, () => entry.folders.size(folder, stream)),
          read: async (stream, offset, limit) =>
            said(entry, stream)?.subarray(offset, offset + limit) ??
            this.#use(entry, () => entry.folders.read(folder, stream, offset, limit)),
          type: (bytes) => this.#terminal(entry).type(bytes),
          resize: async (size) => {
            if (this.#paused) entry.size = size
            else await this.#terminal(entry).resize(size)
          },
          kill: () => this.#kill(entry),
          remove: () =>
            this.#use(entry, async () => {
              if (entry.lost === null) entry.folders.remove(folder)
              this.#entries.delete(meta.id)
            }),
        },
        this.#options.paused,
      ),
    }
    return entry
  }

  #terminal({ command, folder, folders, user }: Entry): Terminal {
    return new Terminal({
      id: command.id,
      isRunning: () => command.running,
      keys: () => this.#options.inView(() => folders.keys(folder)),
      path: () => this.#options.inView(() => folders.terminal(folder)),
      run: async (words) => {
        const helper = await this.start({ id: randomUUID(), command: [...words], user }, '/')
        await helper.ended
        await helper.collect(null)
      },
    })
  }

  /** What was taken out of the view can be read without it, also when the sandbox has ended. */
  #use<T>(entry: Entry, use: () => Promise<T>): Promise<T> {
    return entry.folders === this.#kept ? use() : this.#options.inView(use)
  }

  #environment({ id, env, user }: CommandSpec): Record<string, string> {
    const { stored, plan, environment } = this.#options
    const mark = { REWIND_COMMAND: folderName(id) }
    return {
      // Where it is looked for first; what it is, nobody else says.
      ...mark,
      PATH: '/usr/local/bin:/usr/bin:/bin',
      LANG: 'C.UTF-8',
      ...environment,
      HOME: user === 'root' ? '/root' : plan.home,
      TMPDIR: '/tmp',
      SHELL: '/bin/sh',
      ...stored.spec.env,
      ...env,
      REWIND_WORKSPACE: stored.facts.workspace,
      ...mark,
    }
  }

  #hear(news: LauncherNews): void {
    if (news.kind === 'ahead') {
      const proc = procInside(this.#options.namespace.holder)
      this.#pair = [news.supervisor, news.command].flatMap((pid) => readProcess(pid, proc) ?? [])
      this.#pairReady()
      return
    }
    if (news.kind !== 'ended') {
      this.#starting.get(news.folder)?.(news)
      return
    }
    for (const { folder, command } of this.#entries.values()) if (folder === news.folder) command.exited(news)
    this.#starting.get(news.folder)?.(null)
  }

  async #kill(entry: Entry): Promise<void> {
    const { groups } = this.#options
    // The launcher leaves the group of a command right after its start.
    await this.#whereParked()
    if (groups !== null && entry.group !== null && (await groups.kill(entry.group))) return
    const supervisor = await this.#options.inView(() => entry.folders.supervisor(entry.folder))
    const find = (): HostProcess[] => {
      const all = this.processes()
      const roots = all.filter((one) => isSupervisor({ ...one, pid: pidInside(one.pid) ?? 0 }, supervisor))
      return treeOf(entry.folder, all, new Set(roots.map(({ pid }) => pid)))
    }
    if (await killUntilNone(find)) return
    throw new EngineUnavailableError(`Processes of command ${entry.command.id} could not be ended.`, {
      nextStep: 'Destroy the sandbox to end all of it.',
    })
  }

  /** Everything that runs inside for the agent: not the holder, the launcher and the pair that waits. */
  processes(): HostProcess[] {
    const { holder } = this.#options.namespace
    const launcher = this.#launcher?.pid
    // One that the agent killed is not to hide another process by its number.
    const alive = launcher !== undefined && isRunning(launcher)
    const pair = this.#alivePair()
    if (countInside(holder) === (alive ? 2 : 1) + pair.length) return []
    const waiting = new Set<number | null>(pair.map(({ pid }) => pid))
    return processesOf(holder).filter(({ pid }) => pid !== launcher && !waiting.has(pidInside(pid)))
  }

  /** Those of them that are an agent's and alive: not our launchers and supervisors, nor what is ending right now. */
  agentProcesses(): HostProcess[] {
    return this.processes().filter(isAgents)
  }

  describeProcesses(): ProcessInfo[] {
    return this.agentProcesses().flatMap(({ pid }) => {
      const inside = pidInside(pid)
      const command = commandWords(pid).join(' ')
      return inside === null || command === '' ? [] : [{ pid: inside, command }]
    })
  }

  activity(): { processes: ProcessDetails[]; ports: ListeningPort[] } {
    const byFolder = new Map([...this.#entries.values()].map(({ folder, command }) => [folder, command.id]))
    return activityOf(this.processes(), (folder) => byFolder.get(folder) ?? null, isAgents)
  }

  /** @returns false where it had ended. @throws EngineUnavailableError where it does not end */
  async endProcess(key: string): Promise<boolean> {
    const found = this.agentProcesses().find((one) => {
      const inside = pidInside(one.pid)
      return inside !== null && keyOf(inside, one) === key
    })
    if (found === undefined) return false
    // One that stands still hears no request.
    for (const [name, limitMs] of [
      ...(this.#paused ? [] : [['SIGTERM', ASKED_MS] as const]),
      ['SIGKILL', KILLED_MS] as const,
    ]) {
      if (isStill(found)) signal(found.pid, name)
      for (const end = Date.now() + limitMs; isStill(found) && Date.now() < end; ) await sleep(5)
      if (!isStill(found)) return true
    }
    throw new EngineUnavailableError(`Process ${pidInside(found.pid) ?? key} could not be ended.`, {
      nextStep: 'Destroy the sandbox to end all of it.',
    })
  }

  /**
   * Ends everything inside. Running commands end as cancelled.
   * @throws EngineUnavailableError where something could not be ended
   */
  async killAll(): Promise<void> {
    const { groups, namespace } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const { command } of this.#entries.values()) command.doomed('cancelled', promise)
    if (!namespace.holderLives) return resolve()
    const parked = await this.#whereParked()
    if (groups !== null) await Promise.all(groups.names().map((name) => (name === parked ? true : groups.kill(name))))
    const none = await killUntilNone(() => this.processes())
    resolve()
    for (const { command } of this.#entries.values()) {
      command.settle({ status: 'cancelled', code: null, signal: 'SIGKILL' })
    }
    if (!none) {
      throw new EngineUnavailableError('Not all processes of the sandbox could be ended.', {
        nextStep: 'Destroy the sandbox, or try again.',
      })
    }
  }

  /**
   * Takes what was not collected out of the machine layers that were just unmounted. Never throws: whoever calls this
   * has done what cannot be undone. Where there is no room for it, the command says so in place of its output.
   * @param layers folders of those layers, the live one first; nothing inside runs any more
   */
  moveOutputs(layers: readonly string[]): void {
    for (const entry of this.#entries.values()) {
      if (entry.folders === this.#kept) continue
      try {
        keepRunFolder(layers, join(this.#options.plan.runs, entry.folder), join(this.#options.kept, entry.folder))
      } catch (error) {
        entry.lost = Buffer.from(`rewind: the output of this command was not kept: ${(error as Error).message}\n`)
      }
      entry.folders = this.#kept
    }
  }

  /** Clears run folders that a rolled back machine layer brought along. Never throws. */
  clearView(): void {
    try {
      for (const name of this.#folders.names()) this.#folders.remove(name)
    } catch {
      // The view went away under us: what is left there harms nobody, as its commands are known to have ended.
    }
  }

  /** Nobody will hear of further ends. @param end what running commands are told, if anything */
  close(end: 'cancelled' | null): void {
    this.#closed = true
    this.#launcher = null
    for (const launcher of this.#launchers) launcher.close()
    for (const { command } of this.#entries.values()) {
      if (end !== null) command.settle({ status: end, code: null, signal: 'SIGKILL' })
    }
  }

  #look(): void {
    if (this.#looking) return
    this.#looking = true
    void this.#lookOn().finally(() => {
      this.#looking = false
    })
  }

  /** Never rejects: somebody waits for these commands, whatever goes wrong with a look. */
  async #lookOn(): Promise<void> {
    for (let failures = 0; ; ) {
      const running = [...this.#entries.values()].filter(({ command }) => command.running)
      if (this.#closed || running.length === 0) return
      const adopted = running.some((entry) => entry.adopted)
      const pause = (adopted ? ADOPTED_LOOK_MS : LOOK_MS) * 2 ** failures
      await sleep(Math.min(pause, LONGEST_LOOK_MS), undefined, { ref: false })
      if (this.#closed) return
      try {
        await this.#options.inView(async () => {
          for (const entry of running) if (entry.command.running) await this.#lookAt(entry)
        })
        failures = 0
      } catch {
        failures++
        // Where no namespace stands again after a while there is nothing in which they could run.
        if (failures < LOOKS_WITHOUT_HOLDER || this.#options.namespace.holderLives) continue
        for (const { command } of running) command.settle({ status: 'lost', code: null, signal: null })
      }
    }
  }

  async #lookAt({ folder, folders, command, adopted }: Entry): Promise<void> {
    const supervisor = await folders.supervisor(folder)
    const alive = isSupervisor(readProcess(supervisor?.pid ?? 0, this.#options.namespace.path('/proc')), supervisor)
    // In this order: it writes how the command ended before it goes.
    const end = await folders.recordedEnd(folder)
    if (end !== null) command.exited(end)
    else if (!alive && (supervisor !== null || adopted)) command.vanished()
  }
}

const paused = (): SessionPausedError =>
  new SessionPausedError('The sandbox is paused: nothing is started in it.', {
    nextStep: '`rewind unpause` has it go on.',
  })

const ROOT_USER = { uid: 0, gid: 0 }

const noRoot = (): InvalidOptionError =>
  new InvalidOptionError('This sandbox runs no command as root.', {
    nextStep: 'Begin a session with the docker engine and the scope machine: there root may install packages.',
    data: { option: 'user', valid: ['agent'] },
  })

/** A dead one that nobody has reaped yet still has its number. */
function isRunning(pid: number): boolean {
  const found = readProcess(pid)
  return found !== null && found.state !== 'Z'
}

/**
 * Whether it is that one, by its start too: in the namespace of a new holder the numbers begin anew.
 * @param found as the sandbox numbers it
 */
const isSupervisor = (found: HostProcess | null, supervisor: Supervisor | null): boolean =>
  found !== null && found.pid === supervisor?.pid && (supervisor.startTime ?? found.startTime) === found.startTime

const said = ({ lost }: Entry, stream: 'stdout' | 'stderr'): Buffer | null =>
  lost === null || stream === 'stderr' ? lost : Buffer.alloc(0)

/** What a later host reads of a command; what else its agent put there is not ours to keep. */
const KEPT_FILES = ['launch', 'pid', 'exit', 'stdout', 'stderr']

/** @param layers of the machine overlay, the live one first: it is nobody's as far as run folders go, the others are somebody's past */
function keepRunFolder([live = '', ...frozen]: readonly string[], path: string, to: string): void {
  const at = (layer: string): string => join(layer, path)
  if (isFolder(at(live))) {
    // A folder that its owner closed cannot be moved by him either.
    chmodSync(at(live), 0o755)
    renameSync(at(live), to)
  } else mkdirSync(to, { recursive: true })
  for (const file of KEPT_FILES) {
    if (lstatSync(join(to, file), { throwIfNoEntry: false })) continue
    const from = frozen
      .filter((layer) => isFolder(at(layer)))
      .map((layer) => join(at(layer), file))
      .find((path) => lstatSync(path, { throwIfNoEntry: false }))
    if (from !== undefined && lstatSync(from).isFile()) copyFileSync(from, join(to, file), constants.COPYFILE_FICLONE)
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

const ignore = (): void => {}

function isAgents({ pid }: HostProcess): boolean {
  const words = commandWords(pid)
  return words.length > 0 && !words.includes('rewind-launcher')
}
