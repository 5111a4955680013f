/** What every conformance test stands on: a data folder and a workspace of its own, and short ways to use a sandbox. */
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { CommandEnd, CommandSpec, FilesState, Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'

/** An engine to be described. */
export interface ProviderSource {
  /** A module that exports a function from a data folder to a provider: another process can load it too. */
  module: string
  factory: string
  scope: SandboxSpec['scope']
  /** How this machine is reached from a sandbox with a network; whether the two are the same network. */
  network(): { address: string; shared: boolean }
  /** Makes a sandbox whose layers have 24 MB of room; null where this user can have no such disk. */
  onSmallDisk: ((world: World) => Promise<Sandbox>) | null
  /** What is left on this machine of a data folder's sandboxes, or of one of them: processes, mounts, containers. */
  traces(world: Pick<World, 'home'>, id?: string): string[] | Promise<string[]>
}

export type Result = CommandEnd & { stdout: string; stderr: string }

/** Whom files of a test belong to, so that as root the engine's usual case is tried: an ordinary owner. */
const OWNER = 1000

export class World {
  readonly folder: string
  readonly home: string
  readonly workspace: string
  readonly source: ProviderSource
  provider!: SandboxProvider
  readonly #sandboxes: Sandbox[] = []

  private constructor(source: ProviderSource, parent: string) {
    this.source = source
    this.folder = mkdtempSync(join(parent, 'rewind-sandbox-'))
    chmodSync(this.folder, 0o755)
    this.home = join(this.folder, 'data')
    this.workspace = join(this.folder, 'work space')
    mkdirSync(this.home, { mode: 0o700 })
    mkdirSync(this.workspace)
    this.own(this.workspace)
  }

  /** @param parent of its folder; the temporary one by default */
  static async make(source: ProviderSource, parent = tmpdir()): Promise<World> {
    const world = new World(source, parent)
    world.provider = await world.newProvider()
    onTestFinished(() => world.#clean())
    return world
  }

  /** As another host would have it. */
  async newProvider(home = this.home): Promise<SandboxProvider> {
    const loaded = (await import(this.source.module)) as Record<string, (options: { home: string }) => SandboxProvider>
    const factory = loaded[this.source.factory]
    if (factory === undefined) throw new Error(`${this.source.module} has no ${this.source.factory}`)
    return factory({ home })
  }

  /** What is left on this machine of its sandboxes, or of one of them. */
  traces(id?: string): string[] | Promise<string[]> {
    return this.source.traces(this, id)
  }

  /** Writes a file of the host's workspace. */
  host(path: string, content: string): void {
    const full = join(this.workspace, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, content)
    for (let at = full; at !== this.folder; at = dirname(at)) this.own(at)
  }

  hostText(path: string): string {
    return readFileSync(join(this.workspace, path), 'utf8')
  }

  own(path: string): void {
    if (process.getuid?.() === 0) chownSync(path, OWNER, OWNER)
  }

  spec(given: Partial<SandboxSpec> = {}): SandboxSpec {
    return {
      id: `t-${randomUUID()}`,
      workspace: this.workspace,
      base: 'auto',
      network: true,
      image: null,
      scope: this.source.scope,
      env: {},
      hidden: [this.home],
      ...given,
    }
  }

  async sandbox(given: Partial<SandboxSpec> = {}): Promise<Box> {
    return this.box(await this.provider.create(this.spec(given)))
  }

  box(sandbox: Sandbox): Box {
    this.#sandboxes.push(sandbox)
    return new Box(sandbox)
  }

  async #clean(): Promise<void> {
    for (const sandbox of this.#sandboxes) await sandbox.detach().catch(() => {})
    const provider = await this.newProvider()
    for (const id of await provider.list()) await provider.remove(id)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A sandbox with the ways of a test: run and wait, text in and out. */
export class Box {
  readonly sandbox: Sandbox

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox
  }

  async run(command: CommandSpec['command'], spec: Partial<CommandSpec> = {}): Promise<Result> {
    const running = await this.sandbox.exec({ id: randomUUID(), command, ...spec })
    const end = await running.ended
    const text = async (stream: 'stdout' | 'stderr'): Promise<string> =>
      Buffer.from(await running.read(stream, 0, await running.size(stream))).toString()
    return { ...end, stdout: await text('stdout'), stderr: await text('stderr') }
  }

  /** What a command says, which must succeed. */
  async say(command: CommandSpec['command'], spec: Partial<CommandSpec> = {}): Promise<string> {
    const result = await this.run(command, spec)
    if (result.code !== 0) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(result)}`)
    return result.stdout.trimEnd()
  }

  async write(path: string, content: string): Promise<void> {
    await this.sandbox.writeFile(path, Buffer.from(content))
  }

  async read(path: string, state?: FilesState): Promise<string> {
    return Buffer.from(await this.sandbox.readFile(path, state ?? 'now')).toString()
  }

  async point(): Promise<FilesState> {
    return (await this.sandbox.checkpoint(randomUUID())).state
  }

  async back(state: FilesState) {
    return this.sandbox.rollback(randomUUID(), state)
  }
}

/** Waits for something that comes about by itself. @throws when it does not */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 10_000,
): Promise<void> {
  for (const end = Date.now() + limitMs; !(await holds()); await sleep(10)) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
  }
}
