/**
 * MCP over HTTP, for clients of either revision on one address. Requests of 2026-07-28 stand for themselves; a client of
 * 2025 gets a session of the transport with its handshake, which holds nothing but its streams: one whose session we do
 * not know (the host was restarted) is told so and begins anew, while its sandboxes go on. Who may knock at all (Host,
 * Origin, token) is the server's to decide, before any of this is loaded.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { ToolClient } from './client.ts'
import { Recent } from './recent.ts'
import type { ClientInfo } from './server.ts'

/** Bytes of one request: a large file in base64, a long history. */
const REQUEST_BYTES = 96 * 1024 * 1024
/** Clients that are remembered; the one that was away longest is forgotten, and begins anew. */
const CLIENTS = 256

export interface McpEndpoint {
  /** Requests that are being answered. */
  readonly active: number
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  close(): Promise<void>
}

/** @param serverFor a server of the tools, for requests of the clients that `clientOf` tells apart */
export function createMcpEndpoint(serverFor: (clientOf: (info: ClientInfo) => ToolClient) => McpServer): McpEndpoint {
  const newClient = () => new ToolClient({ remembersSession: false, folder: null })
  const named = new Recent<ToolClient>(CLIENTS)
  const sessions = new Recent<WebStandardStreamableHTTPServerTransport>(CLIENTS, (transport) => void transport.close())
  const clientOf = ({ name, version }: ClientInfo) => named.getOr(`${name}\n${version}`, newClient)

  const current = createMcpHandler(() => serverFor(clientOf), {
    legacy: 'reject',
    maxRequestBodySize: REQUEST_BYTES,
  })

  async function withSession(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    if (known) return known.handleRequest(request)
    if (id !== null) return refusal(404, -32001, 'Session not found: begin a new one. Sandboxes go on.')
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: REQUEST_BYTES,
      onsessioninitialized: (session) => sessions.set(session, transport),
    })
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
    }
    const client = newClient()
    await serverFor(() => client).connect(transport)
    const response = await transport.handleRequest(request)
    // It was no handshake: nobody will come back to this one.
    if (transport.sessionId === undefined) await transport.close()
    return response
  }

  let active = 0
  const answer = toNodeHandler(
    {
      fetch: async (request) =>
        (await isLegacyRequest(request, undefined, { maxRequestBodySize: REQUEST_BYTES }))
          ? withSession(request)
          : current.fetch(request),
    },
    { maxRequestBodySize: REQUEST_BYTES },
  )
  return {
    get active() {
      return active
    },
    async handle(request, response) {
      active++
      response.once('close', () => active--)
      // What a server was sent has both.
      await answer(request as IncomingMessage & { method: string; url: string }, response)
    },
    async close() {
      await current.close()
      await Promise.all(sessions.clear().map((transport) => transport.close()))
    },
  }
}

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
