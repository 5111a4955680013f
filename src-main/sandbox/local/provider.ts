/** The local engine: sandboxes of Linux namespaces and overlay mounts, as root or as an ordinary user. No daemon. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EngineUnavailableError, InvalidPathError, SandboxNotFoundError } from '../../contract/index.ts'
import { resourceFolder } from '../resources.ts'
import type { Availability, Leftover, Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { agentFor, homeOf } from './accounts.ts'
import { type Engine, engineMode, tryEngine } from './availability.ts'
import { copyBase, decideBase } from './base.ts'
import { ControlGroups } from './cgroup.ts'
import { BASE } from './layer-tree.ts'
import { identityOf } from './live-base.ts'
import { isBeneath } from './mountinfo.ts'
import { asDiskFull, type Scripts } from './namespace.ts'
import { findPrograms } from './programs.ts'
import { endStrays, groupName, removeFolder } from './remove.ts'
import { canReach, placePath, planRoot, type RootPlan, realFolder } from './root-plan.ts'
import { LocalSandbox } from './sandbox.ts'
import { BASE_STATE, bootId, readSpec, StateFile, type StoredSpec } from './state.ts'

export interface LocalProviderOptions {
  /** The data folder: sandboxes live in its `sandboxes`. */
  home: string
  /** Folder of the shell scripts; the package's own by default. */
  scripts?: string
}

export function createLocalProvider({
  home,
  scripts = resourceFolder('sandbox'),
}: LocalProviderOptions): SandboxProvider {
  return new LocalProvider(join(home, 'sandboxes'), scripts)
}

class LocalProvider implements SandboxProvider {
  readonly engine = 'local'
  readonly #root: string
  readonly #scripts: string
  #trial: ReturnType<typeof tryEngine> | null = null

  constructor(root: string, scripts: string) {
    this.#root = root
    this.#scripts = scripts
  }

  async available(): Promise<Availability> {
    try {
      this.#trial ??= tryEngine(this.#root)
      return (await this.#trial).availability
    } catch (error) {
      this.#trial = null
      return { ok: false, reason: (error as Error).message, remedy: `See that ${this.#root} can be written to.` }
    }
  }

  async create(given: SandboxSpec): Promise<Sandbox> {
    const engine = await this.#engine()
    const spec = { ...given, workspace: checkedWorkspace(given) }
    const folder = this.#folder(spec.id)
    const mode = engine.mode
    const agent = agentFor(spec.workspace)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (existsSync(join(folder, 'spec.json')))
        throw new EngineUnavailableError(`The sandbox ${spec.id} exists already.`)
      for (const name of ['w/0', 'm/0', 'k', 'kept']) mkdirSync(join(folder, name), { recursive: true, mode: 0o755 })
      const decision = await decideBase(spec, { mode, agent, folder, programs: engine.programs })
      const notes = [...decision.notes]
      if (decision.base === 'copy') {
        notes.push(...(await copyBase(spec.workspace, join(folder, 'w/0'), { agent, mode, programs: engine.programs })))
      }
      const availability = await this.available()
      const stored: StoredSpec = {
        version: 1,
        spec,
        mode,
        agent,
        idmap: decision.idmap,
        identity: identityOf(spec.workspace),
        facts: {
          engine: 'local',
          detail: availability.ok ? availability.detail : '',
          workspace: spec.workspace,
          base: decision.base,
          notes,
          baseState: BASE_STATE,
        },
      }
      const plan = planRoot(spec, agent, homeOf(agent))
      makeMachineBase(folder, plan, stored)
      makeFirstLayers(folder, stored)
      writeFileSync(join(folder, 'spec.json'), JSON.stringify(stored), { mode: 0o600 })
      const sandbox = new LocalSandbox({ folder, stored, plan, programs: engine.programs, scripts: this.#read() })
      await sandbox.start()
      return sandbox
    } catch (error) {
      await this.#removeAll(spec.id, engine).catch(() => {})
      throw asDiskFull(error, 'Starting the sandbox')
    }
  }

  async attach(id: string): Promise<Sandbox> {
    const sandbox = await this.#load(id)
    await sandbox.take()
    return sandbox
  }

  open(id: string): Promise<Sandbox> {
    return this.#load(id)
  }

  async #load(id: string): Promise<LocalSandbox> {
    const folder = this.#folder(id)
    const stored = await readSpec(folder)
    if (stored === null) throw noSandbox(id)
    const { programs } = await this.#engine()
    const plan = planRoot(stored.spec, stored.agent, homeOf(stored.agent))
    return new LocalSandbox({ folder, stored, plan, programs, scripts: this.#read() })
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    // Also what a host left that was killed while it made one: whatever is here is some sandbox's.
    return names.filter((name) => SANDBOX_ID.test(name))
  }

  async remove(id: string): Promise<Leftover | null> {
    const folder = this.#folder(id)
    if (!existsSync(folder)) return null
    try {
      const programs = findPrograms()
      if ('missing' in programs) throw new Error(`these programs are missing: ${programs.missing.join(', ')}`)
      await this.#removeAll(id, { mode: engineMode(), programs })
      return null
    } catch (error) {
      return { folder, reason: (error as Error).message }
    }
  }

  async #removeAll(id: string, { mode, programs }: Engine): Promise<void> {
    const folder = this.#folder(id)
    await endStrays(folder)
    await ControlGroups.remove(groupName(folder))
    await removeFolder(folder, mode, programs)
  }

  async #engine(): Promise<Engine> {
    await this.available()
    const trial = await this.#trial
    if (trial !== null && 'engine' in trial) return trial.engine
    const { reason, remedy } = trial?.availability ?? {
      reason: 'It could not be tried.',
      remedy: 'Run `rewind doctor`.',
    }
    throw new EngineUnavailableError(`Sandboxes cannot be made here: ${reason}`, { nextStep: remedy })
  }

  #folder(id: string): string {
    if (!SANDBOX_ID.test(id)) throw noSandbox(id)
    return join(this.#root, id)
  }

  #read(): Scripts {
    const text = (name: string): string => readFileSync(join(this.#scripts, `${name}.sh`), 'utf8')
    return { control: text('control'), holder: text('holder'), launcher: text('launcher') }
  }
}

const SANDBOX_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

const noSandbox = (id: string): SandboxNotFoundError =>
  new SandboxNotFoundError(`There is no sandbox ${JSON.stringify(id)}.`, { nextStep: 'Start a session first.' })

/** The workspace with symlinks resolved. @throws InvalidPathError where it cannot be one */
function checkedWorkspace({ workspace, hidden }: SandboxSpec): string {
  const refuse = (why: string, nextStep: string): never => {
    throw new InvalidPathError(`${workspace} ${why}.`, { nextStep, data: { path: workspace } })
  }
  if (!existsSync(workspace) || !statSync(workspace).isDirectory()) refuse('is not a folder', 'Create it first.')
  const real = realpathSync(workspace)
  if (real === '/') refuse('is the whole machine', 'Choose the folder of a project.')
  for (const folder of hidden.flatMap(realFolder)) {
    if (isBeneath(folder, real)) {
      refuse(
        `contains ${folder}, which holds the sandboxes themselves`,
        'Choose a folder further down, or set REWIND_HOME to one outside of it.',
      )
    }
    if (isBeneath(real, folder))
      refuse(`lies in ${folder}, which is hidden from sandboxes`, 'Choose a folder outside of it.')
  }
  return real
}

/** The lowest machine layer: empty places, and copies of the little of the real home that is of use. */
function makeMachineBase(folder: string, plan: RootPlan, { agent, mode, spec }: StoredSpec): void {
  const base = join(folder, 'm/0')
  const give = (path: string): void => (mode === 'root' ? chownSync(path, agent.uid, agent.gid) : undefined)
  for (const place of plan.places) {
    const path = join(base, place.folder)
    mkdirSync(path)
    chmodSync(path, place.mode)
    if (place.folder === 'home') give(path)
  }
  const point = placePath(plan, spec.workspace)
  if (point !== null) mkdirSync(join(base, point), { recursive: true, mode: 0o755 })
  // A copy: the agent may change its settings, and git replaces the file, which a mount point would forbid.
  const settings = join(homeOf(agent), '.gitconfig')
  if (existsSync(settings) && canReach(dirname(settings), agent)) {
    copyFileSync(settings, join(base, 'home/.gitconfig'))
    give(join(base, 'home/.gitconfig'))
  }
}

function makeFirstLayers(folder: string, { facts, spec }: StoredSpec): void {
  for (const path of ['w/1', 'm/2']) mkdirSync(join(folder, path), { mode: 0o755 })
  const root = statSync(facts.base === 'live' ? spec.workspace : join(folder, 'w/0'))
  const upper = join(folder, 'w/1')
  if (root.uid !== process.getuid?.()) chownSync(upper, root.uid, root.gid)
  chmodSync(upper, root.mode & 0o7777)
  StateFile.first(folder, {
    version: 2,
    generation: 1,
    workspace: { upper: 1, on: BASE, lowers: [BASE], head: BASE, copiedAt: null },
    machine: { upper: 2, on: BASE, lowers: [BASE], head: BASE, copiedAt: null },
    next: 3,
    aside: { workspace: [], machine: [] },
    operations: [],
    bootId: bootId(),
    holder: null,
    frozen: 0,
    syncedThrough: 0,
    ended: false,
  })
}
