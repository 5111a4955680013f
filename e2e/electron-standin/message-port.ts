/** Main's end of a port whose other end is in a page. */
import { EventEmitter } from 'node:events'

type Send = (message: { type: 'port'; data: unknown } | { type: 'close' }) => void

export class MessagePortMain extends EventEmitter {
  readonly #send: Send
  readonly #early: unknown[] = []
  #started = false
  #open = true

  constructor(send: Send) {
    super()
    this.#send = send
  }

  postMessage(data: unknown, transfer: readonly unknown[] = []): void {
    if (transfer.length > 0) throw new Error('electron stand-in: ports over ports are not implemented')
    if (this.#open) this.#send({ type: 'port', data })
  }

  /** Messages wait until the app listens. */
  start(): void {
    this.#started = true
    for (const data of this.#early.splice(0)) this.emit('message', { data, ports: [] })
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#send({ type: 'close' })
  }

  /** The page sent something. */
  deliver(data: unknown): void {
    if (this.#started) this.emit('message', { data, ports: [] })
    else this.#early.push(data)
  }

  /** The other end is gone. */
  disconnect(): void {
    if (!this.#open) return
    this.#open = false
    this.emit('close')
  }
}
