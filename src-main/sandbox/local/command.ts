/** One command, running or ended, as the interface shows it. */
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { constants as system } from 'node:os'
import type { TerminalSize } from '../../contract/index.ts'
import type { CommandEnd, RunningCommand } from '../sandbox.ts'
import type { CommandMeta, RecordedEnd } from './run-folder.ts'

type Stream = 'stdout' | 'stderr'

/** How long a sandbox was paused since a moment, and whether it is. */
export type Paused = (since: number) => { ms: number; now: boolean }

/** Where a command's output is read from, and how it is ended. */
export interface CommandAccess {
  size(stream: Stream): Promise<number>
  read(stream: Stream, offset: number, limit: number): Promise<Uint8Array>
  type(bytes: Uint8Array): Promise<void>
  resize(size: TerminalSize): Promise<void>
  kill(): Promise<void>
  remove(): Promise<void>
}

const NEVER: Paused = () => ({ ms: 0, now: false })

const COPY_BYTES = 1 << 20
/** setTimeout takes no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class LocalCommand implements RunningCommand {
  readonly id: string
  readonly ended: Promise<CommandEnd>
  readonly startedAt: number
  readonly #deadline: number | null
  readonly #paused: Paused
  readonly #access: CommandAccess
  readonly #resolve: (end: CommandEnd) => void
  #end: CommandEnd | null = null
  #killing: { reason: 'timed-out' | 'cancelled'; done: Promise<void> } | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(meta: CommandMeta, access: CommandAccess, paused: Paused = NEVER) {
    this.id = meta.id
    this.startedAt = meta.startedAt
    this.#deadline = meta.deadline
    this.#paused = paused
    this.#access = access
    const { promise, resolve } = Promise.withResolvers<CommandEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.watchTime()
  }

  get running(): boolean {
    return this.#end === null
  }

  /** Its supervisor told, or wrote, how it ended. */
  exited({ code, signalled }: RecordedEnd): void {
    const signal = signalled && code > 128 ? signalName(code - 128) : null
    this.settle({ status: this.#killing?.reason ?? 'exited', code: signal === null ? code : null, signal })
  }

  /** It is gone, and nothing tells how it ended: as it was ended from outside, where somebody is about to. */
  vanished(): void {
    const reason = this.#killing?.reason
    this.settle({ status: reason ?? 'lost', code: null, signal: reason === undefined ? null : 'SIGKILL' })
  }

  settle(end: Omit<CommandEnd, 'durationMs'>): void {
    if (this.#end !== null) return
    clearTimeout(this.#timer)
    this.#end = { ...end, durationMs: Math.max(0, Date.now() - this.startedAt) }
    this.#resolve(this.#end)
  }

  read(stream: Stream, offset: number, limit: number): Promise<Uint8Array> {
    return this.#access.read(stream, offset, limit)
  }

  size(stream: Stream): Promise<number> {
    return this.#access.size(stream)
  }

  async type(bytes: Uint8Array): Promise<void> {
    if (this.running) await this.#access.type(bytes)
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.running) await this.#access.resize(size)
  }

  async kill(reason: 'timed-out' | 'cancelled'): Promise<void> {
    if (this.#end !== null) return
    this.#killing ??= { reason, done: this.#access.kill() }
    await this.#killing.done
    this.settle({ status: this.#killing.reason, code: null, signal: 'SIGKILL' })
  }

  /** What ends it is told beforehand, so that the end is not taken for the command's own. */
  doomed(reason: 'cancelled', done: Promise<void>): void {
    this.#killing ??= { reason, done }
  }

  async collect(target: { stdout: string; stderr: string } | null): Promise<void> {
    if (target !== null) await copyOutput(this, target)
    await this.#access.remove()
  }

  /** To be called when the sandbox was paused, or goes on. */
  watchTime(): void {
    clearTimeout(this.#timer)
    if (this.#deadline === null || !this.running) return
    const { ms, now } = this.#paused(this.startedAt)
    if (now) return
    const deadline = this.#deadline + ms
    const wait = Math.min(LONGEST_TIMER_MS, Math.max(0, deadline - Date.now()))
    this.#timer = setTimeout(() => {
      if (Date.now() < deadline) this.watchTime()
      else this.kill('timed-out').catch(() => this.settle({ status: 'lost', code: null, signal: null }))
    }, wait)
  }
}

/** Copies what a command has written to files of this machine. */
export async function copyOutput(
  command: Pick<RunningCommand, 'read'>,
  target: { stdout: string; stderr: string },
): Promise<void> {
  for (const stream of ['stdout', 'stderr'] as const) {
    const path = target[stream]
    let bytes = await command.read(stream, 0, COPY_BYTES)
    // Most output is short: waiting for a file handle costs more than the rest of such a command.
    if (bytes.length < COPY_BYTES) {
      writeFileSync(path, bytes, { mode: 0o600 })
      continue
    }
    const file = await open(path, 'w', 0o600)
    try {
      for (let offset = 0; bytes.length > 0; bytes = await command.read(stream, offset, COPY_BYTES)) {
        offset += bytes.length
        await file.writeFile(bytes)
      }
    } finally {
      await file.close()
    }
  }
}

const signalName = (number: number): string =>
  Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`
