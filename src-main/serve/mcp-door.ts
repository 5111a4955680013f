/**
 * Where agents knock over HTTP: they show the token, and only then is anything of MCP loaded. In here an agent has the
 * scope of one, whatever it says.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRouterClient } from '@orpc/server'
import type { McpEndpoint } from '../mcp/index.ts'
import type { McpToken } from './mcp-token.ts'
import type { Router } from './router.ts'
import type { Scope } from './scopes.ts'

export interface McpDoorParts {
  router: Router
  scope: Scope
  token: McpToken
  version: string
}

export class McpDoor {
  readonly #parts: McpDoorParts
  #endpoint: Promise<McpEndpoint> | undefined
  #active: (() => number) | undefined
  /** When somebody with the token last came. */
  lastRequestAt = 0

  constructor(parts: McpDoorParts) {
    this.#parts = parts
  }

  /** Requests that are being answered. */
  get active(): number {
    return this.#active?.() ?? 0
  }

  /** Whether the request shows the token. */
  admits(request: IncomingMessage): boolean {
    return this.#parts.token.admits(request.headers.authorization)
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.lastRequestAt = Date.now()
    this.#endpoint ??= this.#open()
    await (await this.#endpoint).handle(request, response)
  }

  async close(): Promise<void> {
    await (await this.#endpoint)?.close()
  }

  async #open(): Promise<McpEndpoint> {
    const { router, scope, version } = this.#parts
    const { createMcpEndpoint, createServer } = await import('../mcp/index.ts')
    const host = createRouterClient(router, {
      context: { scope, whenGone: new Map(), drained: () => Promise.resolve() },
    })
    const endpoint = createMcpEndpoint((clientOf) => createServer({ host, version, clientOf }))
    this.#active = () => endpoint.active
    return endpoint
  }
}
