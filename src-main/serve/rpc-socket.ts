/**
 * oRPC over WebSockets, whichever server they came in by. Owns the connections and their back-pressure: oRPC sends
 * without looking back, so a reader that stops reading would fill the host's memory. Streams wait until the client
 * has taken what it was sent, and one that takes nothing for a while is dropped: it reconnects and catches up.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { RPCHandler } from '@orpc/server/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { jsonSerializers } from '../contract/index.ts'
import { MAX_MESSAGE_BYTES } from './message-limit.ts'
import type { Connection, Router } from './router.ts'
import type { Scope } from './scopes.ts'

/** Unsent bytes from which streams wait. */
const SLOW_BYTES = 1024 * 1024
/** A client that leaves a stream waiting so long is dropped. */
const STUCK_MS = 30_000

export interface RpcSocketLimits {
  slowBytes?: number
  stuckMs?: number
}

export class RpcSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false })
  readonly #handler: RPCHandler<Connection>
  readonly #slowBytes: number
  readonly #stuckMs: number
  #closed = false
  /** When the last client went; start-up counts as one. */
  lastClientAt = Date.now()

  constructor(router: Router, { slowBytes = SLOW_BYTES, stuckMs = STUCK_MS }: RpcSocketLimits = {}) {
    this.#handler = new RPCHandler(router, { customJsonSerializers: jsonSerializers })
    this.#slowBytes = slowBytes
    this.#stuckMs = stuckMs
  }

  get clients(): number {
    return this.#server.clients.size
  }

  /** Makes an HTTP upgrade, already found to be allowed, a connection; once closed, it takes no more. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, scope: Scope): void {
    if (this.#closed) {
      socket.destroy()
      return
    }
    this.#server.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => client.terminate())
      const whenGone = new Map<string, () => void>()
      client.on('close', () => {
        for (const act of whenGone.values()) act()
        this.lastClientAt = Date.now()
      })
      void this.#handler.upgrade(client, {
        context: { scope, whenGone, drained: (signal) => this.#drained(client, signal) },
      })
    })
  }

  /** Tells every client that the host goes (they reconnect to the next one) and lets go of them. */
  async close(): Promise<void> {
    this.#closed = true
    for (const client of this.#server.clients) client.close(1012, 'host is going')
    const until = Date.now() + 500
    while (this.clients > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
  }

  async #drained(client: WebSocket, signal?: AbortSignal): Promise<void> {
    const until = Date.now() + this.#stuckMs
    while (client.bufferedAmount > this.#slowBytes && !signal?.aborted) {
      if (Date.now() > until) return client.terminate()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
