/**
 * All sessions of one data folder: begins them, finds them, and takes them over from a host that is gone. One process
 * holds a manager at a time (the host that has the lock).
 */
import { randomBytes } from 'node:crypto'
import {
  type Check,
  DeclinedError,
  DISK_BUDGET,
  EngineUnavailableError,
  InvalidOptionError,
  isLive,
  SandboxNotFoundError,
  type ScopeName,
  type SessionEvent,
  SessionHaltedError,
  type SessionOptions,
  type SessionSummary,
} from '../contract/index.ts'
import {
  createLocalProvider,
  HostFolders,
  type Leftover,
  type Sandbox,
  type SandboxProvider,
} from '../sandbox/index.ts'
import type { SessionRow, Store } from '../store/index.ts'
import { SessionContext } from './context.ts'
import { DemoPlayer } from './demo.ts'
import { EventHub } from './event-hub.ts'
import { Session } from './session.ts'
import { resolveWorkspace } from './workspace.ts'

/** On whose behalf a session is begun or looked for. */
export interface Caller {
  scope: ScopeName
  /** Whether a session that exists is open to it. */
  mayUse: MayUse
}

export type MayUse = (session: Pick<SessionRow, 'id' | 'name' | 'begunBy' | 'shared'>) => boolean

const everything: MayUse = () => true
const aPerson: Caller = { scope: 'person', mayUse: everything }

export interface Created {
  session: SessionSummary
  /** A live session of that name and workspace was taken instead of a new one. */
  attached: boolean
  /** The workspace folder was made. */
  created: boolean
}

/**
 * @param options.home the data folder, absolute; @param options.store the open store in it
 * @returns a manager that has taken hold of (or is taking hold of) every live sandbox
 */
export async function openSessions(options: { home: string; store: Store }): Promise<SessionManager> {
  const provider = createLocalProvider({ home: options.home })
  const manager = new SessionManager({ ...options, provider })
  await manager.open()
  return manager
}

export class SessionManager {
  readonly #home: string
  readonly #store: Store
  readonly #provider: SandboxProvider
  readonly #hub: EventHub
  readonly #sessions = new Map<string, Session>()
  readonly #sandboxes = new Map<string, Promise<Sandbox>>()
  readonly #demos: DemoPlayer
  readonly #hostFolders: HostFolders
  readonly #turns = new Map<string, Promise<void>>()
  /** What was left by a host that died while it made a sandbox, and could not be removed. */
  readonly #strays: Check[] = []
  #beginning = 0

  constructor(parts: { home: string; store: Store; provider: SandboxProvider }) {
    this.#home = parts.home
    this.#store = parts.store
    this.#provider = parts.provider
    this.#hub = new EventHub(parts.store)
    this.#hostFolders = new HostFolders(parts.home)
    this.#demos = new DemoPlayer({ home: parts.home, hub: this.#hub })
  }

  /** Takes over what an earlier host of this data folder left. */
  async open(): Promise<void> {
    const rows = this.#store.sessions.list()
    const known = new Set(rows.filter((row) => row.status !== 'destroyed').map((row) => row.id))
    for (const row of rows) this.#adopt(row)
    // A sandbox without a record was being made when its host died; nobody can name it.
    for (const id of await this.#provider.list()) if (!known.has(id)) this.#note(await this.#provider.remove(id))
  }

  list(): SessionSummary[] {
    return this.#store.sessions.list().map((row) => this.#session(row.id).summary())
  }

  /**
   * @param ref an id, or the name of a live session (of the newest ended one where none is live)
   * @param mayUse those that it fails for are as if they were not there
   * @throws SandboxNotFoundError that lists what there is
   */
  find(ref: string, mayUse = everything): Session {
    const rows = this.#store.sessions.list().filter(mayUse)
    const named = rows.filter((row) => row.name === ref)
    const row = rows.find((one) => one.id === ref) ?? named.findLast((one) => isLive(one)) ?? named.at(-1)
    if (row) return this.#session(row.id)
    const live = rows.filter((one) => isLive(one)).map((one) => one.name)
    throw new SandboxNotFoundError(`There is no session ${JSON.stringify(ref)}.`, {
      nextStep: live.length > 0 ? `Live sessions: ${live.join(', ')}.` : 'Begin one with `rewind init PATH`.',
      data: { session: ref, live },
    })
  }

  /**
   * Begins a session, or attaches to the live one of that name and workspace.
   * @throws InvalidPathError (workspace), InvalidOptionError (name taken by another workspace), SessionHaltedError
   *   (force on a halted session), DeclinedError (an agent, and the live session is a person's), EngineUnavailableError;
   *   nothing is left behind then
   */
  async create(options: SessionOptions, caller = aPerson): Promise<Created> {
    return this.#alone(options.name, async () => {
      const workspace = resolveWorkspace(options, this.#home)
      const earlier = this.#liveNamed(options.name)
      if (earlier) assertOpen(earlier, caller, options.force)
      if (earlier && earlier.workspace !== workspace.path)
        throw new InvalidOptionError(
          `A live session named ${options.name} belongs to another workspace, ${earlier.workspace}.`,
          {
            nextStep: 'Give this one another name with --session, or end the other first.',
            data: { session: earlier.id },
          },
        )
      if (earlier && !options.force)
        return { session: this.#session(earlier.id).summary(), attached: true, created: false }
      if (earlier?.status === 'halted')
        throw new SessionHaltedError(
          `Session ${options.name} is halted and waits for a decision; it is not replaced silently.`,
          { nextStep: `Rewind it to a point that you trust, or \`rewind destroy --session ${options.name}\`.` },
        )
      const session = await this.#begin({ ...options, workspace: workspace.path }, caller.scope)
      if (earlier) await this.#supersede(earlier.id, session)
      return { session: session.summary(), attached: false, created: workspace.created }
    })
  }

  /** Begins the demo on a scratch copy of its workspace and plays its story in the background. */
  demo(): Promise<SessionSummary> {
    return this.#alone('demo', () => this.#demo())
  }

  async #demo(): Promise<SessionSummary> {
    const taken = new Set(
      this.#store.sessions
        .list()
        .filter((row) => isLive(row))
        .map((row) => row.name),
    )
    let name = 'demo'
    for (let n = 2; taken.has(name); n++) name = `demo-${n}`
    const workspace = this.#demos.prepareWorkspace()
    const session = await this.#begin(
      {
        name,
        workspace,
        explicit: true,
        create: false,
        force: false,
        engine: 'auto',
        mode: 'interactive',
        base: 'auto',
        network: false,
        env: {},
      },
      'demo',
    )
    this.#demos.play(session)
    return session.summary()
  }

  events(since: number | null, signal?: AbortSignal, follow = true): AsyncGenerator<SessionEvent> {
    return this.#hub.stream(since, signal, follow)
  }

  /** What `doctor` says of the engines. */
  async checks(): Promise<Check[]> {
    const local = await this.#provider.available()
    const engine = local.ok
      ? { name: 'local', ok: true, detail: local.detail, remedy: null }
      : { name: 'local', ok: false, detail: local.reason, remedy: local.remedy }
    return [engine, ...this.#strays]
  }

  /** No command runs, no swap is under way, no session is being made, no demo plays. */
  idle(): boolean {
    return (
      this.#beginning === 0 && !this.#demos.playing && ![...this.#sessions.values()].some((session) => session.busy)
    )
  }

  /** Processes alive inside sandboxes. */
  async liveProcesses(): Promise<number> {
    const counts = await Promise.all(
      [...this.#sandboxes.values()].map((sandbox) =>
        sandbox
          .then((one) => one.processes())
          .then(
            (processes) => processes.length,
            // One that cannot be reached has no process that this host keeps alive.
            () => 0,
          ),
      ),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Lets go of every sandbox; they go on and a later host attaches. */
  async close(): Promise<void> {
    this.#demos.stop()
    for (const session of this.#sessions.values()) session.letGo()
    await Promise.allSettled([...this.#sandboxes.keys()].map((id) => this.#hostFolders.release(id)))
    await Promise.allSettled([...this.#sandboxes.values()].map((sandbox) => sandbox.then((one) => one.detach())))
  }

  /** For `doctor`. */
  #note(left: Leftover | null): void {
    if (left)
      this.#strays.push({
        name: 'left behind',
        ok: false,
        detail: `${left.folder}: ${left.reason}`,
        remedy: 'It is tried again at the next start of the host.',
      })
  }

  #liveNamed(name: string): SessionRow | undefined {
    return this.#store.sessions.list().findLast((row) => row.name === name && isLive(row))
  }

  /** The earlier session of a name ends once the new one stands; where it cannot, the new one goes. */
  async #supersede(earlier: string, session: Session): Promise<void> {
    try {
      await this.#session(earlier).end()
    } catch (error) {
      await session.destroy()
      throw error
    }
  }

  /** One at a time per name, so that two clients who ask at once get the same session. */
  #alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#turns.get(name) ?? Promise.resolve()).then(work)
    const turn = result.then(ignore, ignore).finally(() => {
      if (this.#turns.get(name) === turn) this.#turns.delete(name)
    })
    this.#turns.set(name, turn)
    return result
  }

  async #begin(options: SessionOptions, begunBy: ScopeName | 'demo'): Promise<Session> {
    if (options.engine === 'docker')
      throw new EngineUnavailableError('The docker engine is not part of this version.', {
        nextStep: 'Use --engine local.',
      })
    const available = await this.#provider.available()
    if (!available.ok)
      throw new EngineUnavailableError(`No engine can run here: ${available.reason}`, { nextStep: available.remedy })
    const id = `s${randomBytes(8).toString('hex')}`
    // What changes on the host from here on is not what the session began from.
    const began = new Date()
    this.#beginning++
    try {
      const sandbox = await this.#provider.create({
        id,
        workspace: options.workspace,
        base: options.base,
        network: options.network,
        image: null,
        scope: 'workspace',
        env: options.env,
        hidden: [this.#home],
      })
      try {
        return this.#record({ id, began, options, begunBy }, sandbox)
      } catch (error) {
        await sandbox.destroy()
        throw error
      }
    } finally {
      this.#beginning--
    }
  }

  #record(
    beginning: { id: string; began: Date; options: SessionOptions; begunBy: ScopeName | 'demo' },
    sandbox: Sandbox,
  ): Session {
    const { id, began, options, begunBy } = beginning
    const { facts } = sandbox
    const { sessions } = this.#store
    return this.#store.transaction(() => {
      sessions.insert({
        id,
        name: options.name,
        workspace: options.workspace,
        workspaceInside: facts.workspace,
        engine: facts.engine,
        engineDetail: facts.detail,
        base: facts.base,
        status: 'running',
        mode: options.mode,
        demo: begunBy === 'demo',
        createdAt: began,
        endedAt: null,
        head: 'base',
        epoch: 0,
        begunBy: begunBy === 'demo' ? 'person' : begunBy,
        shared: false,
        notes: [...facts.notes],
        rules: {
          autoCheckpoint: null,
          autoRollback: null,
          retention: options.retention ?? { budgetBytes: DISK_BUDGET },
        },
        undo: null,
        lastAutoRollback: null,
        network: options.network,
        env: options.env,
        haltedBy: null,
      })
      const context = this.#context(id, Promise.resolve(sandbox))
      context.insertPoint(
        {
          id: 'base',
          session: id,
          seq: 0,
          kind: 'base',
          label: null,
          parent: null,
          at: new Date(),
          takenBy: 'auto',
          why: null,
          tool: null,
          messages: 0,
          files: null,
          running: [],
          verdict: null,
          pinned: false,
          coverage: { files: true, messages: true, processes: false },
          host: null,
          ms: 0,
          bytes: null,
        },
        { state: facts.baseState, node: null },
      )
      context.raiseSummary()
      const session = new Session(context)
      this.#sessions.set(id, session)
      this.#sandboxes.set(id, Promise.resolve(sandbox))
      session.watchHost()
      return session
    })
  }

  /** A session that an earlier host began. */
  #adopt(row: SessionRow): void {
    const sandbox = row.status === 'destroyed' ? null : this.#attach(row)
    const session = new Session(this.#context(row.id, sandbox))
    this.#sessions.set(row.id, session)
    if (sandbox) this.#sandboxes.set(row.id, sandbox)
  }

  async #attach(row: SessionRow): Promise<Sandbox> {
    if (row.status === 'ended') return this.#provider.open(row.id)
    try {
      const sandbox = await this.#provider.attach(row.id)
      // The session is in the map by then: attach is never done in the same tick.
      const session = this.#session(row.id)
      if (!sandbox.ended) await session.recover(sandbox)
      session.restate(sandbox.ended ? 'ended' : 'running', sandbox.losses)
      return sandbox
    } catch (error) {
      const gone = error instanceof SandboxNotFoundError
      if (gone) this.#note(await this.#provider.remove(row.id))
      this.#session(row.id).restate(gone ? 'destroyed' : 'unreachable')
      throw error
    }
  }

  #context(id: string, sandbox: Promise<Sandbox> | null): SessionContext {
    const removeSandbox = async () => {
      const left = await this.#provider.remove(id)
      if (left)
        throw new EngineUnavailableError(`Part of the sandbox is still there: ${left.reason}`, {
          nextStep: `Remove ${left.folder} by hand.`,
        })
    }
    return new SessionContext({
      id,
      store: this.#store,
      hub: this.#hub,
      home: this.#home,
      hostFolders: this.#hostFolders,
      sandbox,
      removeSandbox,
    })
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id)
    if (!session) throw new Error(`session ${id} has a row but is not held`)
    return session
  }
}

/** @throws DeclinedError where the live session of a name is not the caller's to use, or to replace */
function assertOpen(earlier: SessionRow, { scope, mayUse }: Caller, replace: boolean): void {
  if (mayUse(earlier) && !(replace && scope === 'agent' && earlier.begunBy === 'person')) return
  throw new DeclinedError(`The live session named ${earlier.name} is a person's.`, {
    nextStep: 'Take another name, or ask the person to share it: in the window, or by `rewind mcp --session NAME`.',
  })
}

const ignore = (): void => {}
