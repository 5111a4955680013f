/**
 * The loopback server for browsers: the window's files, the exchange of a code for a key, and the WebSocket.
 * Any page that a person visits can send requests to loopback, so each is judged by Host (against DNS rebinding),
 * what changes or opens something by Origin too, and the WebSocket by the key.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { keyOffered } from '../contract/sign-in.ts'
import type { BrowserAuth } from './browser-auth.ts'
import type { McpDoor } from './mcp-door.ts'
import type { RpcSockets } from './rpc-socket.ts'
import type { Scope } from './scopes.ts'
import { serveFolder } from './static-files.ts'

const MAX_AUTH_BYTES = 4_096

export interface HttpParts {
  port: number
  renderer: string
  auth: BrowserAuth
  sockets: RpcSockets
  /** What whoever signed in by a browser may do. */
  scope: Scope
  mcp: McpDoor
}

export const policyFor = (port: number): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // Libraries of the window set styles in place; without scripts from elsewhere that gives nothing away.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ws://127.0.0.1:${port} ws://localhost:${port}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The server, not yet listening: it answers for `parts.port` and no other. */
export function createHttpServer(parts: HttpParts): Server {
  const hosts = new Set([`127.0.0.1:${parts.port}`, `localhost:${parts.port}`])
  const files = serveFolder(parts.renderer, policyFor(parts.port))
  const isOurHost = (request: IncomingMessage) => hosts.has(request.headers.host ?? '')
  const isOurOrigin = (request: IncomingMessage) =>
    request.headers.origin?.startsWith('http://') === true && hosts.has(request.headers.origin.slice('http://'.length))

  const enterMcp = (request: IncomingMessage, response: ServerResponse) => {
    // Agents' programs send no Origin; a page that does must be ours.
    if (request.headers.origin !== undefined && !isOurOrigin(request))
      return refuse(response, 403, 'Pages from elsewhere may not come in here.')
    if (parts.mcp.admits(request)) return parts.mcp.handle(request, response)
    response.setHeader('www-authenticate', 'Bearer')
    return refuse(response, 401, 'The token is missing or wrong.', '`rewind token` shows it.')
  }

  const server = createServer((request, response) => {
    void (async () => {
      const path = pathOf(request)
      if (!isOurHost(request)) return refuse(response, 403, 'This host answers to its own address only.')
      if (path === '/auth') {
        if (request.method !== 'POST') return refuse(response, 405, 'A code is exchanged by POST.')
        if (!isOurOrigin(request)) return refuse(response, 403, 'Only the window itself may exchange a code.')
        return exchange(request, response, parts)
      }
      if (path === '/mcp') return enterMcp(request, response)
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return refuse(response, 405, 'Only GET is answered here.')
      if (!files(path, request, response)) refuse(response, 404, missing(path))
    })().catch(() => response.destroy())
  })
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (pathOf(request) !== '/rpc') return refuseUpgrade(socket, 404, 'Not Found')
    if (!isOurHost(request) || !isOurOrigin(request)) return refuseUpgrade(socket, 403, 'Forbidden')
    if (!parts.auth.admits(keyOffered(request.headers['sec-websocket-protocol'])))
      return refuseUpgrade(socket, 401, 'Unauthorized')
    parts.sockets.accept(request, socket, head, parts.scope)
  })
  return server
}

async function exchange(request: IncomingMessage, response: ServerResponse, parts: HttpParts): Promise<void> {
  const code = codeIn(await readBody(request))
  if (code === null) return refuse(response, 400, 'The request holds no code.')
  const result = parts.auth.exchange(code)
  const nextStep = 'Run `rewind open` for a new code.'
  if (!result.ok)
    return result.reason === 'too-many'
      ? refuse(response, 429, 'Too many wrong codes; wait a minute.', nextStep)
      : refuse(response, 403, 'This code is wrong, was used already, or is older than a minute.', nextStep)
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ key: result.key }))
}

function codeIn(body: string | null): string | null {
  try {
    const parsed: unknown = JSON.parse(body ?? '')
    const code = (parsed as { code?: unknown } | null)?.code
    return typeof code === 'string' ? code : null
  } catch {
    return null
  }
}

/** @returns the body; null where it is longer than a code could be */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MAX_AUTH_BYTES) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Path alone, as sent; anything unreadable is a path that does not exist. */
function pathOf(request: IncomingMessage): string {
  try {
    return decodeURIComponent((request.url ?? '').split(/[?#]/, 1)[0] ?? '')
  } catch {
    return ''
  }
}

const missing = (path: string): string =>
  path === '/' ? 'The window is not built: run `npm run build`, then start the host again.' : 'There is nothing here.'

function refuse(response: ServerResponse, status: number, message: string, nextStep: string | null = null): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(JSON.stringify({ message, nextStep }))
}

function refuseUpgrade(socket: Duplex, status: number, text: string): void {
  socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
