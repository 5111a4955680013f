/** The local engine: sandboxes of Linux namespaces and overlay mounts, as root or as an ordinary user. No daemon. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type EngineName, EngineUnavailableError, SandboxNotFoundError } from '../../contract/index.ts'
import { resourceFolder } from '../resources.ts'
import type { Availability, Leftover, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { type Engine, engineMode, tryEngine } from './availability.ts'
import { copyBase, decideBase } from './base.ts'
import { ControlGroups } from './cgroup.ts'
import { BASE } from './layer-tree.ts'
import { identityOf } from './live-base.ts'
import { asDiskFull, type Scripts } from './namespace.ts'
import { findPrograms } from './programs.ts'
import { endStrays, groupName, removeFolder } from './remove.ts'
import { canReach, placePath, type RootPlan } from './root-plan.ts'
import { LocalSandbox } from './sandbox.ts'
import { onTheHost, type Setting } from './setting.ts'
import { BASE_STATE, bootId, readSpec, StateFile, type StoredSpec } from './state.ts'

export interface LocalProviderOptions {
  /** The data folder: sandboxes live in its `sandboxes`. */
  home: string
  /** Folder of the shell scripts; the package's own by default. */
  scripts?: string
  /** Where it runs; on the host itself by default. */
  setting?: Setting
}

export function createLocalProvider({
  home,
  scripts = resourceFolder('sandbox'),
  setting = onTheHost(),
}: LocalProviderOptions): LocalProvider {
  return new LocalProvider(join(home, 'sandboxes'), scripts, setting)
}

export class LocalProvider implements SandboxProvider {
  readonly engine: EngineName
  readonly #root: string
  readonly #scripts: string
  readonly #setting: Setting
  #trial: ReturnType<typeof tryEngine> | null = null

  constructor(root: string, scripts: string, setting: Setting) {
    this.#root = root
    this.#scripts = scripts
    this.#setting = setting
    this.engine = setting.engine
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

  async create(given: SandboxSpec): Promise<LocalSandbox> {
    const engine = await this.#engine()
    const setting = this.#setting
    const spec = { ...given, workspace: setting.workspace(given) }
    const source = setting.source(spec)
    const folder = this.#folder(spec.id)
    const mode = engine.mode
    const agent = setting.agent(source)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (existsSync(join(folder, 'spec.json')))
        throw new EngineUnavailableError(`The sandbox ${spec.id} exists already.`)
      for (const name of ['w/0', 'm/0', 'k', 'kept']) mkdirSync(join(folder, name), { recursive: true, mode: 0o755 })
      const decision = await decideBase(spec, { source, mode, agent, folder, programs: engine.programs })
      const notes = [...decision.notes]
      if (decision.base === 'copy') {
        notes.push(...(await copyBase(source, join(folder, 'w/0'), { agent, mode, programs: engine.programs })))
      }
      const availability = await this.available()
      const stored: StoredSpec = {
        version: 1,
        spec,
        mode,
        agent,
        idmap: decision.idmap,
        identity: identityOf(source),
        facts: {
          engine: setting.engine,
          detail: setting.detail ?? (availability.ok ? availability.detail : ''),
          workspace: setting.inside(spec),
          base: decision.base,
          notes,
          baseState: BASE_STATE,
        },
      }
      const plan = setting.plan(spec, agent)
      if (plan.image === null) makeMachineBase(folder, plan, stored, setting.home(agent))
      makeFirstLayers(folder, stored, source)
      writeFileSync(join(folder, 'spec.json'), JSON.stringify(stored), { mode: 0o600 })
      const sandbox = this.#sandbox(folder, stored, engine)
      await sandbox.start()
      return sandbox
    } catch (error) {
      await this.#removeAll(spec.id, engine).catch(() => {})
      throw asDiskFull(error, 'Starting the sandbox')
    }
  }

  async attach(id: string): Promise<LocalSandbox> {
    const sandbox = await this.#load(id)
    await sandbox.take()
    return sandbox
  }

  open(id: string): Promise<LocalSandbox> {
    return this.#load(id)
  }

  async #load(id: string): Promise<LocalSandbox> {
    const folder = this.#folder(id)
    const stored = await readSpec(folder)
    if (stored === null) throw noSandbox(id)
    return this.#sandbox(folder, stored, await this.#engine())
  }

  #sandbox(folder: string, stored: StoredSpec, { programs }: Engine): LocalSandbox {
    const { source, plan, environment } = this.#setting
    return new LocalSandbox({
      folder,
      stored,
      source: source(stored.spec),
      plan: plan(stored.spec, stored.agent),
      environment,
      programs,
      scripts: this.#read(),
    })
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
    return { control: text('control'), holder: text('holder'), launcher: text('launcher'), command: text('command') }
  }
}

export const SANDBOX_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

const noSandbox = (id: string): SandboxNotFoundError =>
  new SandboxNotFoundError(`There is no sandbox ${JSON.stringify(id)}.`, { nextStep: 'Start a session first.' })

/** The lowest machine layer: empty places, and copies of the little of the real home that is of use. */
function makeMachineBase(
  folder: string,
  plan: RootPlan,
  { agent, mode, facts }: StoredSpec,
  realHome: string | null,
): void {
  const base = join(folder, 'm/0')
  const give = (path: string): void => (mode === 'root' ? chownSync(path, agent.uid, agent.gid) : undefined)
  for (const place of plan.places) {
    const path = join(base, place.folder)
    mkdirSync(path)
    chmodSync(path, place.mode)
    if (place.folder === 'home') give(path)
  }
  const point = placePath(plan, facts.workspace)
  if (point !== null) mkdirSync(join(base, point), { recursive: true, mode: 0o755 })
  // A copy: the agent may change its settings, and git replaces the file, which a mount point would forbid.
  if (realHome === null) return
  const settings = join(realHome, '.gitconfig')
  if (existsSync(settings) && canReach(dirname(settings), agent)) {
    copyFileSync(settings, join(base, 'home/.gitconfig'))
    give(join(base, 'home/.gitconfig'))
  }
}

function makeFirstLayers(folder: string, { facts, idmap, agent }: StoredSpec, source: string): void {
  for (const path of ['w/1', 'm/2']) mkdirSync(join(folder, path), { mode: 0o755 })
  const root = statSync(facts.base === 'live' ? source : join(folder, 'w/0'))
  const upper = join(folder, 'w/1')
  // Mapped, its owner shows as the agent.
  const { uid, gid } = idmap === null ? root : agent
  if (uid !== process.getuid?.()) chownSync(upper, uid, gid)
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
