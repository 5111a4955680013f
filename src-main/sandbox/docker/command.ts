/** One command in a container, as the interface shows it. */
import type { TerminalSize } from '../../contract/index.ts'
import { copyOutput } from '../local/index.ts'
import type { CommandEnd, RunningCommand } from '../sandbox.ts'
import type { InsideCalls } from './protocol.ts'

export type AnswerTo<Name extends keyof InsideCalls> = Awaited<ReturnType<InsideCalls[Name]>>

/** Asks the engine within the container. */
export type Ask = <Name extends keyof InsideCalls>(
  name: Name,
  ...args: Parameters<InsideCalls[Name]>
) => Promise<AnswerTo<Name>>

export class DockerCommand implements RunningCommand {
  readonly id: string
  readonly ended: Promise<CommandEnd>
  readonly #ask: Ask
  readonly #resolve: (end: CommandEnd) => void
  readonly #collected: () => void
  readonly #since = Date.now()

  /** @param collected is called once nothing is left of it in the sandbox */
  constructor(id: string, ask: Ask, collected: () => void) {
    this.id = id
    this.#ask = ask
    this.#collected = collected
    const { promise, resolve } = Promise.withResolvers<CommandEnd>()
    this.ended = promise
    this.#resolve = resolve
  }

  settle(end: CommandEnd): void {
    this.#resolve(end)
  }

  /** Nobody can say any more how it ended. */
  settleWithout(status: 'lost' | 'cancelled'): void {
    const signal = status === 'cancelled' ? 'SIGKILL' : null
    this.settle({ status, code: null, signal, durationMs: Date.now() - this.#since })
  }

  read(stream: 'stdout' | 'stderr', offset: number, limit: number): Promise<Uint8Array> {
    return this.#ask('read', this.id, stream, offset, limit)
  }

  size(stream: 'stdout' | 'stderr'): Promise<number> {
    return this.#ask('size', this.id, stream)
  }

  type(bytes: Uint8Array): Promise<void> {
    return this.#ask('type', this.id, bytes)
  }

  resize(size: TerminalSize): Promise<void> {
    return this.#ask('resize', this.id, size)
  }

  async kill(reason: 'timed-out' | 'cancelled'): Promise<void> {
    await this.#ask('kill', this.id, reason)
    await this.ended
  }

  async collect(target: { stdout: string; stderr: string } | null): Promise<void> {
    if (target !== null) await copyOutput(this, target)
    await this.#ask('discard', this.id)
    this.#collected()
  }
}
