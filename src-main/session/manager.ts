/**
 * All sessions of one data folder: begins them, finds them, and takes them over from a host that is gone. One process
 * holds a manager at a time (the host that has the lock).
 */
import { randomBytes } from 'node:crypto'
import {
  type AskerKind,
  type Check,
  DeclinedError,
  DISK_BUDGET,
  type EngineChoice,
  type EngineName,
  type EnginesOffer,
  EngineUnavailableError,
  type Escalation,
  EscalationRule,
  type ImageProgress,
  InvalidOptionError,
  isLive,
  SandboxNotFoundError,
  type SandboxScope,
  type ScopeName,
  type SessionEvent,
  SessionHaltedError,
  type SessionOptions,
  SessionPausedError,
  type SessionSummary,
} from '../contract/index.ts'
import { HostFolders, type Leftover, type Sandbox } from '../sandbox/index.ts'
import type { SessionRow, Store } from '../store/index.ts'
import { Askers } from '../verification/index.ts'
import type { Neighbour } from './commits.ts'
import { isHalted, SessionContext } from './context.ts'
import { forgetDatabases } from './databases.ts'
import { DemoPlayer } from './demo.ts'
import { createEngines, type Engines } from './engines.ts'
import { escalationOf } from './escalation-records.ts'
import { EventHub } from './event-hub.ts'
import { missingPrograms } from './missing-programs.ts'
import { needsOf } from './project-programs.ts'
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
  await forgetDatabases(options.home)
  const engines = createEngines({ home: options.home, storeId: storeId(options.store) })
  const manager = new SessionManager({ ...options, engines })
  await manager.open()
  return manager
}

export class SessionManager {
  readonly #home: string
  readonly #store: Store
  readonly #engines: Engines
  readonly #hub: EventHub
  readonly #sessions = new Map<string, Session>()
  readonly #sandboxes = new Map<string, Promise<Sandbox>>()
  readonly #demos: DemoPlayer
  readonly #hostFolders: HostFolders
  /** Who can be asked for a decision. */
  readonly askers = new Askers()
  readonly #turns = new Map<string, Promise<void>>()
  /** What was left by a host that died while it made a sandbox, and could not be removed. */
  readonly #strays: Check[] = []
  /** Ids of sandboxes that are being made, and have no record yet. */
  readonly #beginning = new Set<string>()

  constructor(parts: { home: string; store: Store; engines: Engines }) {
    this.#home = parts.home
    this.#store = parts.store
    this.#engines = parts.engines
    this.#hub = new EventHub(parts.store)
    this.#hostFolders = new HostFolders(parts.home)
    this.#demos = new DemoPlayer({ home: parts.home, hub: this.#hub })
  }

  /** Takes over what an earlier host of this data folder left. */
  async open(): Promise<void> {
    for (const row of this.#store.sessions.list()) this.#adopt(row)
    // Before others take their numbers; whoever connects waits until the sandbox is held.
    await Promise.all([...this.#sessions.values()].map((session) => session.reopenPorts()))
    // Before anybody looks at the host's folders.
    for (const { session } of this.#store.commits.applying()) await this.#session(session).commits.recover()
    await this.#removeStrays('local')
    // It may take a while to answer, or never do so: nobody waits for that.
    void this.#removeStrays('docker').catch(ignore)
  }

  /** A sandbox without a record was being made when its host died; nobody can name it. */
  async #removeStrays(engine: EngineName): Promise<void> {
    const provider = this.#engines.of(engine)
    for (const id of await provider.list()) {
      const row = this.#store.sessions.get(id)
      if (this.#beginning.has(id) || (row && row.status !== 'destroyed')) continue
      this.#note(await provider.remove(id))
    }
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
   *   (force on a halted session), SessionPausedError (an agent's force on a paused one), DeclinedError (an agent, and
   *   the live session is a person's), EngineUnavailableError; nothing is left behind then
   */
  async create(options: SessionOptions, caller = aPerson): Promise<Created> {
    return this.#alone(options.name, async () => {
      const workspace = resolveWorkspace(options, this.#home)
      const earlier = this.#liveNamed(options.name)
      if (earlier) assertOpen(earlier, caller, options.force)
      if (earlier && options.force && caller.scope === 'agent') this.#assertUndecided(earlier)
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
      if (earlier && isHalted(earlier))
        throw new SessionHaltedError(
          `Session ${options.name} is halted and waits for a decision; it is not replaced silently.`,
          {
            nextStep: `See it with \`rewind ledger\`, then \`rewind resume --session ${options.name}\`, or \`rewind destroy --session ${options.name}\`.`,
          },
        )
      const session = await this.#begin({ ...options, workspace: workspace.path }, caller.scope)
      if (earlier) await this.#supersede(earlier.id, session)
      return { session: session.summary(), attached: false, created: workspace.created }
    })
  }

  /** Begins the demo on a scratch copy of its workspace and plays its story in the background. */
  demo(engine: EngineChoice = 'auto'): Promise<SessionSummary> {
    return this.#alone('demo', () => this.#demo(engine))
  }

  async #demo(engine: EngineChoice): Promise<SessionSummary> {
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
        engine,
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

  /**
   * Escalations, oldest first.
   * @param mayUse those of other sessions are as if they were not there
   */
  escalations({ session, open }: { session: string | null; open: boolean }, mayUse = everything): Escalation[] {
    const id = session === null ? null : this.find(session, mayUse).id
    const mine = new Set(
      this.#store.sessions
        .list()
        .filter(mayUse)
        .map((row) => row.id),
    )
    return this.#store.escalations
      .list(id)
      .filter((row) => mine.has(row.session) && (!open || row.status === 'open'))
      .map(escalationOf)
  }

  /** The session that an escalation is of. @throws InvalidOptionError where there is none, or it is not open to the caller */
  escalated(id: string, mayUse = everything): Session {
    const row = this.#store.escalations.get(id)
    if (row && this.#store.sessions.list().some((one) => one.id === row.session && mayUse(one)))
      return this.#session(row.session)
    throw new InvalidOptionError(`There is no escalation ${JSON.stringify(id)}.`, {
      nextStep: '`rewind escalations` lists those that wait.',
    })
  }

  /** Those that wait for this kind of asker, now and after each change; it is there to be asked while it listens. */
  async *watchEscalations(
    { as, session }: { as: AskerKind; session: string | null },
    signal?: AbortSignal,
    mayUse = everything,
  ): AsyncGenerator<Escalation[]> {
    const id = session === null ? null : this.find(session, mayUse).id
    if (as === 'handler' && id === null)
      throw new InvalidOptionError('A handler decides for one session.', { nextStep: 'Name the session.' })
    const leave = this.askers.arrive(as, id)
    signal?.addEventListener('abort', leave)
    const asked = as === 'handler' ? 'handler' : 'everybody'
    try {
      while (!signal?.aborted) {
        yield this.escalations({ session: id, open: true }, mayUse).filter((one) => one.asked === asked)
        await this.askers.next(signal)
      }
    } finally {
      signal?.removeEventListener('abort', leave)
      leave()
    }
  }

  events(since: number | null, signal?: AbortSignal, follow = true): AsyncGenerator<SessionEvent> {
    return this.#hub.stream(since, signal, follow)
  }

  /** What a session can be begun with here. */
  engines(): Promise<EnginesOffer> {
    return this.#engines.offer()
  }

  /**
   * Has an image made where it is missing, and tells how far it is until it is there.
   * @param name null for the one that sandboxes get by default
   * @throws CancelledError, InvalidOptionError (no such image), DiskFullError, EngineUnavailableError
   */
  image(name: string | null, signal?: AbortSignal): AsyncGenerator<ImageProgress> {
    return this.#engines.images.ensure(name ?? this.#engines.image, signal)
  }

  /** How far an image is that is being made by now. @param name null for the one that sandboxes get by default */
  making(name: string | null): ImageProgress | null {
    return this.#engines.images.newest(name ?? this.#engines.image)
  }

  /** What `doctor` says of the engines. */
  async checks(): Promise<Check[]> {
    return [...(await this.#engines.checks()), ...this.#strays]
  }

  /** No command runs, no swap is under way, nothing waits for a decision, no session is being made, no demo plays. */
  idle(): boolean {
    return (
      this.#beginning.size === 0 &&
      !this.#engines.images.busy &&
      !this.#demos.playing &&
      this.askers.handlers === 0 &&
      ![...this.#sessions.values()].some((session) => session.busy)
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

  /** @throws SessionPausedError, DeclinedError where its end would answer what a person is asked */
  #assertUndecided({ id, name, status }: SessionRow): void {
    if (status === 'paused')
      throw new SessionPausedError(
        `The live session named ${name} is paused by a person, who is looking at it as it is.`,
        {
          nextStep: 'Ask the person to have it go on; or take another name.',
          data: { session: id },
        },
      )
    if (this.#store.escalations.openCount(id) > 0)
      throw new DeclinedError(`A verdict of the live session named ${name} waits for a person's decision.`, {
        nextStep: 'get_escalation tells when it is decided; or take another name.',
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
    const id = `s${randomBytes(8).toString('hex')}`
    // What changes on the host from here on is not what the session began from.
    const began = new Date()
    this.#beginning.add(id)
    try {
      const { engine, image, scope } = await this.#engines.choose(options)
      if (image !== null) await this.#engines.images.ensured(image)
      const sandbox = await this.#engines.of(engine).create({
        id,
        workspace: options.workspace,
        image,
        scope,
        base: options.base,
        network: options.network,
        env: options.env,
        hidden: [this.#home],
      })
      try {
        const { workspace, network } = options
        const missing = await missingPrograms(sandbox, needsOf(workspace), { host: workspace, scope, network })
        return this.#record({ id, began, options, begunBy, image, scope, missing }, sandbox)
      } catch (error) {
        await sandbox.destroy()
        throw error
      }
    } finally {
      this.#beginning.delete(id)
    }
  }

  #record(
    beginning: {
      id: string
      began: Date
      options: SessionOptions
      begunBy: ScopeName | 'demo'
      image: string | null
      scope: SandboxScope
      /** What the project will miss in the sandbox, for a person. */
      missing: readonly string[]
    },
    sandbox: Sandbox,
  ): Session {
    const { id, began, options, begunBy, image, scope, missing } = beginning
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
        image,
        scope,
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
        notes: [...facts.notes, ...missing],
        rules: {
          autoCheckpoint: null,
          autoRollback: null,
          retention: options.retention ?? { budgetBytes: DISK_BUDGET },
        },
        undo: null,
        lastAutoRollback: null,
        network: options.network,
        env: options.env,
        escalation: EscalationRule.parse(options.escalation ?? {}),
        haltedBy: null,
        openPorts: [],
      })
      const context = this.#context({ id, engine: facts.engine }, Promise.resolve(sandbox))
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
        { state: facts.baseState, conversations: [] },
      )
      context.raiseSummary()
      const session = new Session(context, () => this.#neighbours())
      this.#sessions.set(id, session)
      this.#sandboxes.set(id, Promise.resolve(sandbox))
      session.watchHost()
      return session
    })
  }

  /** A session that an earlier host began. */
  #adopt(row: SessionRow): void {
    const sandbox = row.status === 'destroyed' ? null : this.#attach(row)
    const session = new Session(this.#context(row, sandbox), () => this.#neighbours())
    this.#sessions.set(row.id, session)
    if (sandbox) this.#sandboxes.set(row.id, sandbox)
  }

  async #attach(row: SessionRow): Promise<Sandbox> {
    if (row.status === 'ended') return this.#engines.of(row.engine).open(row.id)
    try {
      const sandbox = await this.#engines.of(row.engine).attach(row.id)
      // The session is in the map by then: attach is never done in the same tick.
      const session = this.#session(row.id)
      if (!sandbox.ended) await session.recover(sandbox)
      session.restate(sandbox.ended ? 'ended' : sandbox.paused ? 'paused' : 'running', sandbox.losses)
      return sandbox
    } catch (error) {
      const gone = error instanceof SandboxNotFoundError
      if (gone) this.#note(await this.#engines.of(row.engine).remove(row.id))
      this.#session(row.id).restate(gone ? 'destroyed' : 'unreachable')
      throw error
    }
  }

  #context({ id, engine }: Pick<SessionRow, 'id' | 'engine'>, sandbox: Promise<Sandbox> | null): SessionContext {
    const removeSandbox = async () => {
      const left = await this.#engines.of(engine).remove(id)
      if (left)
        throw new EngineUnavailableError(`Part of the sandbox is still there: ${left.reason}`, {
          nextStep: `Remove ${left.folder} by hand.`,
        })
    }
    const context: SessionContext = new SessionContext({
      id,
      store: this.#store,
      hub: this.#hub,
      home: this.#home,
      hostFolders: this.#hostFolders,
      askers: this.askers,
      sandbox,
      removeSandbox,
      reach: () => {
        const again = this.#attach(context.row)
        this.#sandboxes.set(id, again)
        return again
      },
    })
    return context
  }

  /** Whose sandboxes may show what a commit is about to change on the host. */
  #neighbours(): Neighbour[] {
    return this.#store.sessions
      .list()
      .filter((row) => isLive(row))
      .map(({ id, name, workspace }) => ({
        id,
        name,
        workspace,
        sandbox: () => this.#sandboxes.get(id) ?? Promise.reject(new Error('it cannot be reached')),
      }))
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id)
    if (!session) throw new Error(`session ${id} has a row but is not held`)
    return session
  }
}

/** Names the data folder for ever, where what is of it lies beside that of others. */
function storeId({ settings }: Store): string {
  const known = settings.get('storeId')
  if (known !== undefined) return known
  const id = randomBytes(8).toString('hex')
  settings.set('storeId', id)
  return id
}

/** @throws DeclinedError where the live session of a name is not the caller's to use, or to replace */
function assertOpen(earlier: SessionRow, { scope, mayUse }: Caller, replace: boolean): void {
  if (mayUse(earlier) && !(replace && scope === 'agent' && earlier.begunBy === 'person')) return
  throw new DeclinedError(`The live session named ${earlier.name} is a person's.`, {
    nextStep: 'Take another name, or ask the person to share it: in the window, or by `rewind mcp --session NAME`.',
  })
}

const ignore = (): void => {}
