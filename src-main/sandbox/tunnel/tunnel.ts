/** The host's end: connections into a sandbox's network, through the one relay that was started in it. */
import type { Duplex } from 'node:stream'
import { Channel } from './channel.ts'
import { Decoder, encode, type Frame, numberBytes } from './frames.ts'

/** How long a relay is kept that nobody uses. */
const IDLE_MS = 30_000

/** How a relay is spoken to. */
export interface Wire {
  send(bytes: Uint8Array): void
  /** Has it end. */
  hangUp(): void
}

/** The relay is gone, or was never there. */
export class TunnelLost extends Error {}

/** Nothing takes the connection inside. `code` is the system's: ECONNREFUSED. */
export class NotConnected extends Error {
  readonly code: string

  constructor(port: number, code: string) {
    super(`nothing answers on port ${port} inside: ${code}`)
    this.code = code
  }
}

interface Opening {
  port: number
  channel: Channel
  resolve(channel: Duplex): void
  reject(error: Error): void
}

export class Tunnel {
  readonly #wire: Wire
  readonly #channels = new Map<number, Channel>()
  readonly #opening = new Map<number, Opening>()
  readonly #decoder = new Decoder((frame) => this.#take(frame))
  #next = 0
  #lost: TunnelLost | null = null
  #idle: NodeJS.Timeout | undefined

  constructor(wire: Wire) {
    this.#wire = wire
    this.#rest()
  }

  get alive(): boolean {
    return this.#lost === null
  }

  /**
   * @param signal of whoever no longer wants it; once it is there it is theirs
   * @throws NotConnected, TunnelLost, the signal's reason
   */
  connect(port: number, signal?: AbortSignal): Promise<Duplex> {
    if (this.#lost) return Promise.reject(this.#lost)
    if (signal?.aborted) return Promise.reject(signal.reason)
    clearTimeout(this.#idle)
    const id = this.#next++
    return new Promise((resolve, reject) => {
      const channel = new Channel(
        (kind, bytes) => this.#send(encode(kind, id, bytes)),
        () => this.#forget(id),
      )
      // A break is told to whoever was given it.
      channel.on('error', () => {})
      this.#channels.set(id, channel)
      this.#opening.set(id, { port, channel, resolve, reject })
      this.#send(encode('open', id, numberBytes(port)))
      const unwanted = () => {
        if (!this.#opening.delete(id)) return
        channel.destroy()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', unwanted, { once: true })
    })
  }

  /** What the relay says. */
  receive(chunk: Uint8Array): void {
    if (this.#lost) return
    try {
      this.#decoder.push(chunk)
    } catch (error) {
      this.lose((error as Error).message)
    }
  }

  /** Has the relay end, and every connection through it. */
  close(): void {
    this.lose('it was closed')
  }

  /** @param why for whoever waits for a connection */
  lose(why: string): void {
    if (this.#lost) return
    this.#lost = new TunnelLost(`The relay in the sandbox's network has ended: ${why}`)
    clearTimeout(this.#idle)
    this.#wire.hangUp()
    for (const { reject } of this.#opening.values()) reject(this.#lost)
    this.#opening.clear()
    for (const channel of [...this.#channels.values()]) channel.cut()
  }

  #take(frame: Frame): void {
    const { kind, id, bytes } = frame
    const opening = this.#opening.get(id)
    if (kind !== 'opened' && kind !== 'refused') {
      // What was let go of here may still be spoken of there.
      this.#channels.get(id)?.hear(frame)
      return
    }
    this.#opening.delete(id)
    if (kind === 'opened') opening?.resolve(opening.channel)
    else {
      opening?.reject(new NotConnected(opening.port, bytes.toString()))
      opening?.channel.cut()
    }
  }

  #send(bytes: Uint8Array): void {
    if (!this.#lost) this.#wire.send(bytes)
  }

  #forget(id: number): void {
    this.#channels.delete(id)
    this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    if (this.#channels.size > 0 || this.#lost) return
    this.#idle = setTimeout(() => this.lose('nobody used it'), IDLE_MS)
    this.#idle.unref()
  }
}
