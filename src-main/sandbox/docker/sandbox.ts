/**
 * One sandbox in a container: the interface over calls to the engine within. Where that engine was lost (the container
 * was killed, docker was started anew), the container is started again and the call made once more: every call bears an
 * id, or does the same when it is done twice.
 */
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { Change, FilePair, ProcessInfo } from '../../contract/index.ts'
import { EngineUnavailableError, SandboxNotFoundError } from '../../contract/index.ts'
import { asNoRoom } from '../layers/index.ts'
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
import { Relay } from '../tunnel/index.ts'
import { type AnswerTo, type Ask, DockerCommand } from './command.ts'
import { asDockerError } from './connect.ts'
import type { SandboxContainer } from './container.ts'
import { Link, LinkLost } from './link.ts'
import { startRelayIn } from './relay.ts'

/** How long the container of an ended sandbox is kept running after it was read from. */
const IDLE_MS = 10_000
/** What is taken out of the container at a time. */
const PIECE_BYTES = 8 << 20
/** Between attempts to hear of a command while docker does not answer. */
const RETRY_MS = 1_000

export interface DockerSandboxOptions {
  docker: Docker
  container: SandboxContainer
  /** Names this host, whatever becomes of its engine. */
  host: string
  facts: SandboxFacts
  losses: readonly string[]
  restarted: boolean
  ended: boolean
  paused: boolean
  /** The engine, where one was started already. */
  link: Link | null
  /** Called when the sandbox is destroyed. */
  forget: () => void
}

export class DockerSandbox implements Sandbox {
  readonly id: string
  readonly facts: SandboxFacts
  readonly losses: string[]
  readonly restarted: boolean
  readonly #options: DockerSandboxOptions
  readonly #commands = new Map<string, DockerCommand>()
  readonly #relay: Relay
  #link: Link | null
  #linking: Promise<Link> | null = null
  #ended: boolean
  #paused: boolean
  /** This host has let go of it, or it is no more. */
  #left = false
  #idle: NodeJS.Timeout | undefined

  constructor(options: DockerSandboxOptions) {
    this.#options = options
    this.id = options.container.id
    this.facts = options.facts
    this.losses = [...options.losses]
    this.restarted = options.restarted
    this.#link = options.link
    this.#ended = options.ended
    this.#paused = options.paused
    this.#relay = new Relay((words) => startRelayIn(options.docker, options.container.handle, words))
    this.#rest()
  }

  get ended(): boolean {
    return this.#ended
  }

  get paused(): boolean {
    return this.#paused
  }

  /** Within the container, whose engine goes on: `docker pause` would stop that too, and nothing could be read. */
  async pause(): Promise<void> {
    await this.#ask('pause')
    this.#paused = true
  }

  async unpause(): Promise<void> {
    await this.#ask('unpause')
    this.#paused = false
  }

  status(): Promise<SandboxStatus> {
    return this.#ask('status')
  }

  async exec(spec: CommandSpec): Promise<RunningCommand> {
    await this.#ask('exec', spec)
    return this.#command(spec.id)
  }

  async commands(): Promise<RunningCommand[]> {
    if (this.#ended) return [...this.#commands.values()]
    return (await this.#ask('commands')).map((id) => this.#command(id))
  }

  writeFile(path: string, content: Uint8Array): Promise<string> {
    return this.#ask('writeFile', path, content)
  }

  readFile(path: string, state: ReadState = 'now'): Promise<Uint8Array> {
    return this.#ask('readFile', path, state)
  }

  checkpoint(operation: string): Promise<CheckpointOutcome> {
    return this.#ask('checkpoint', operation)
  }

  rollback(operation: string, to: FilesState): Promise<RollbackOutcome> {
    return this.#ask('rollback', operation, to)
  }

  prune(kept: readonly FilesState[]): Promise<PruneOutcome> {
    return this.#ask('prune', kept)
  }

  keepHostEntries(paths: readonly Uint8Array[]): Promise<boolean> {
    return this.#ask('keepHostEntries', paths)
  }

  usage(): Promise<number> {
    return this.#ask('usage')
  }

  changes(from: ReadState, to: ReadState): Promise<Change[]> {
    return this.#ask('changes', from, to)
  }

  pair(path: Uint8Array, from: ReadState, to: ReadState, textLimitBytes: number): Promise<FilePair> {
    return this.#ask('pair', path, from, to, textLimitBytes)
  }

  meetings(from: FilesState, to: ReadState, paths: readonly Uint8Array[]): Promise<Meeting[]> {
    return this.#ask('meetings', from, to, paths)
  }

  async extract(
    state: ReadState,
    paths: readonly Uint8Array[],
    folder: string,
    most = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    let left = most
    let at: { index: number; offset: number } | null = paths.length === 0 ? null : { index: 0, offset: 0 }
    while (at !== null) {
      const { pieces, next }: FilePieces = await this.#ask('pieces', state, paths, at, PIECE_BYTES)
      for (const { index, bytes } of pieces) {
        left -= bytes.length
        if (left < 0) return false
        await appendFile(join(folder, String(index)), bytes).catch((error: unknown) => {
          throw asNoRoom(error, paths[index] ?? new Uint8Array())
        })
      }
      at = next
    }
    return true
  }

  pieces(
    state: ReadState,
    paths: readonly Uint8Array[],
    at: { index: number; offset: number },
    limit: number,
  ): Promise<FilePieces> {
    return this.#ask('pieces', state, paths, at, limit)
  }

  lastChange(): Promise<number | null> {
    return this.#ask('lastChange')
  }

  async processes(): Promise<ProcessInfo[]> {
    return this.#ended || this.#left ? [] : this.#ask('processes')
  }

  async activity(): ReturnType<Sandbox['activity']> {
    return this.#ended || this.#left ? { processes: [], ports: [] } : this.#ask('activity')
  }

  endProcess(key: string): Promise<boolean> {
    return this.#ask('endProcess', key)
  }

  async connect(port: number, signal?: AbortSignal): Promise<Duplex> {
    return this.#relay.connect(await this.#ask('relay'), port, signal)
  }

  async detach(): Promise<void> {
    this.#left = true
    this.#relay.close()
    clearTimeout(this.#idle)
    await this.#link?.close()
    this.#link = null
  }

  async end(): Promise<void> {
    if (this.#ended) return
    await this.#ask('end')
    this.#ended = true
    this.#relay.close()
    for (const command of this.#commands.values()) command.settleWithout('cancelled')
    this.#rest()
  }

  async destroy(): Promise<void> {
    if (!this.#left) await this.end().catch(unlessGone)
    await this.detach()
    await this.#options.container.remove()
    this.#ended = true
    for (const command of this.#commands.values()) command.settleWithout('cancelled')
    this.#options.forget()
  }

  #command(id: string): DockerCommand {
    let command = this.#commands.get(id)
    if (command === undefined) {
      command = new DockerCommand(id, this.#ask, () => this.#commands.delete(id))
      this.#commands.set(id, command)
      void this.#follow(command)
    }
    return command
  }

  /** Never rejects: somebody waits for the command, whatever happens to docker meanwhile. */
  async #follow(command: DockerCommand): Promise<void> {
    while (!this.#left) {
      try {
        const end = await this.#ask('ended', command.id)
        if (end === null) command.settleWithout('lost')
        else command.settle(end)
        return
      } catch (error) {
        if (error instanceof SandboxNotFoundError) return command.settleWithout('lost')
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    }
  }

  /** Calls the engine. Where it was lost another one is started, and called once more. */
  readonly #ask: Ask = async (name, ...args) => {
    for (let attempt = 0; ; attempt++) {
      const link = await this.#linked()
      try {
        return (await link.call(name, ...args)) as AnswerTo<typeof name>
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        if (this.#left) throw ended(this.id)
        if (attempt > 0) {
          throw new EngineUnavailableError(`The container of sandbox ${this.id} went away twice: ${error.message}`, {
            nextStep: 'See whether docker still runs, then try again.',
            cause: error,
          })
        }
      } finally {
        this.#rest()
      }
    }
  }

  async #linked(): Promise<Link> {
    if (this.#left) throw ended(this.id)
    if (this.#link?.alive) return this.#link
    this.#linking ??= this.#open().finally(() => {
      this.#linking = null
    })
    return this.#linking
  }

  async #open(): Promise<Link> {
    const { docker, container, host } = this.#options
    try {
      await container.revive()
      const link = await Link.open(docker, container.handle)
      try {
        const { losses } = await (this.#ended ? link.call('open') : link.call('return', host))
        this.losses.push(...losses)
      } catch (error) {
        await link.close()
        throw error
      }
      this.#link = link
      return link
    } catch (error) {
      throw asDockerError(error, `The sandbox ${this.id} cannot be reached`)
    }
  }

  /** An ended one needs no container but while it is read from: that ends with its engine. */
  #rest(): void {
    clearTimeout(this.#idle)
    if (!this.#ended || this.#link === null) return
    this.#idle = setTimeout(() => {
      void this.#link?.close()
      this.#link = null
    }, IDLE_MS)
    this.#idle.unref()
  }
}

const ended = (id: string): EngineUnavailableError =>
  new EngineUnavailableError(`The sandbox ${id} has ended.`, {
    nextStep: 'Start a new session; the files of its checkpoints can still be read.',
  })

function unlessGone(error: unknown): void {
  if (!(error instanceof SandboxNotFoundError)) throw error
}
