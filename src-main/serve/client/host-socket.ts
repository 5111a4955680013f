/**
 * One lasting WebSocket to whichever host owns the data folder. It looks like a browser's WebSocket to oRPC and
 * opens a new connection when the old one ends, so a hand-over or a crash of the host is a pause, not the end.
 */
import { ConnectionLostError } from '../../contract/errors.ts'
import type { LocalSocket } from './local-socket.ts'

type Kind = 'open' | 'close' | 'message'
type Listener = (event: { data: unknown }) => void

const CONNECTING = 0
const OPEN = 1
const CLOSED = 3

/** The part of a WebSocket that oRPC's link uses. */
export class HostSocket {
  readonly #reach: (again: boolean) => Promise<LocalSocket>
  readonly #listeners = new Map<Kind, Map<Listener, { once: boolean }>>()
  #socket: LocalSocket | undefined
  #state: typeof CONNECTING | typeof OPEN | typeof CLOSED = CONNECTING
  #closing = false
  #inUse = true
  /** Its host ended while it was not in use. */
  #lostAtRest = false
  /** Why there is no connection any more, once it was given up. */
  failure: unknown

  /**
   * @param reach opens a connection, starting a host where that is allowed; `again` after a connection was lost.
   *   Rejects when there is nothing more to try.
   */
  constructor(reach: (again: boolean) => Promise<LocalSocket>) {
    this.#reach = reach
    void this.#open(false)
  }

  get readyState(): 0 | 1 | 2 | 3 {
    return this.#state
  }

  send(data: string | Uint8Array): void {
    this.#socket?.send(data)
  }

  /**
   * One that is not in use keeps no process alive, and where its host ends it looks for the next one when it is used
   * again: nobody who does nothing starts a host that somebody else has just ended.
   */
  inUse(on: boolean): void {
    this.#inUse = on
    this.#socket?.keepAlive(on)
    if (!on || !this.#lostAtRest) return
    this.#lostAtRest = false
    void this.#open(true)
  }

  close(): void {
    const wasOpen = this.#state === OPEN
    this.#closing = true
    // An open one is closed when its end has come through: what oRPC still says until then goes nowhere, and is no error.
    if (!wasOpen) this.#state = CLOSED
    // Calls that wait for an answer are not to be made again.
    this.failure ??= new ConnectionLostError('The connection to the host was closed before it had answered.')
    this.#socket?.close()
    // Calls that wait for a connection that is only being made.
    if (!wasOpen) this.#emit('close')
  }

  addEventListener(kind: string, listener: Listener, options?: { once?: boolean }): void {
    const of = this.#listeners.get(kind as Kind) ?? new Map()
    this.#listeners.set(kind as Kind, of)
    of.set(listener, { once: options?.once ?? false })
  }

  removeEventListener(kind: string, listener: Listener): void {
    this.#listeners.get(kind as Kind)?.delete(listener)
  }

  async #open(again: boolean): Promise<void> {
    try {
      const socket = await this.#reach(again)
      if (this.#closing) return socket.close()
      this.#socket = socket
      this.#state = OPEN
      socket.keepAlive(this.#inUse)
      socket.on('message', (data, isBinary) => this.#emit('message', isBinary ? data : data.toString('utf8')))
      socket.on('close', () => this.#lost())
      this.#emit('open')
    } catch (error) {
      this.failure = error
      this.#state = CLOSED
      this.#emit('close')
    }
  }

  #lost(): void {
    this.#state = this.#closing ? CLOSED : CONNECTING
    this.#emit('close')
    if (this.#closing) return
    if (this.#inUse) void this.#open(true)
    else this.#lostAtRest = true
  }

  #emit(kind: Kind, data?: unknown): void {
    for (const [listener, { once }] of [...(this.#listeners.get(kind) ?? [])]) {
      if (once) this.removeEventListener(kind, listener)
      listener({ data })
    }
  }
}
