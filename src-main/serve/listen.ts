/** Opens the host's two doors: the local socket, and a loopback port that stays the same for a data folder. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { InvalidOptionError } from '../contract/errors.ts'
import { doorOf, type Grants } from './client/doors.ts'
import type { RpcSockets } from './rpc-socket.ts'
import type { Scope } from './scopes.ts'
import { ensureSocketFolder } from './socket-path.ts'

const FIRST_PORT = 7717
const PORTS_TRIED = 40

/**
 * Listens on the local socket, for its owner alone. To be called by the holder of the lock: what lies at the path is
 * then a dead host's and is replaced.
 * @param scopeOf what a connection may do: an agent's with its grants, a person's without
 */
export async function listenOnSocket(
  home: string,
  path: string,
  sockets: RpcSockets,
  scopeOf: (grants: Grants | null) => Scope,
): Promise<Server> {
  ensureSocketFolder(home, path)
  if (process.platform !== 'win32') rmSync(path, { force: true })
  const server = createServer((_request, response) => {
    response.writeHead(404).end('This socket speaks the RPC of /rpc alone.\n')
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const door = doorOf(request.url ?? '')
    if (door) sockets.accept(request, socket, head, scopeOf(door.grants))
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  })
  await listening(server, { path })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  return server
}

export interface KeptPort {
  /** The port that this data folder had before. */
  kept: number | null
  /** One that a person insists on. */
  wanted: number | null
}

/**
 * Listens on the port that is wanted, else the one this data folder had, else 7717 or the next free one.
 * @param make a server that answers for the port it is given
 * @throws InvalidOptionError when the wanted port is taken
 */
export async function listenOnLoopback(
  { kept, wanted }: KeptPort,
  make: (port: number) => Server,
): Promise<{ server: Server; port: number }> {
  const next = Array.from({ length: PORTS_TRIED }, (_, step) => FIRST_PORT + step)
  for (const port of wanted === null ? [...(kept === null ? [] : [kept]), ...next] : [wanted]) {
    const server = make(port)
    try {
      await listening(server, { host: '127.0.0.1', port })
      return { server, port }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    }
  }
  throw new InvalidOptionError(
    wanted === null
      ? `No port from ${FIRST_PORT} to ${FIRST_PORT + PORTS_TRIED - 1} is free on 127.0.0.1.`
      : `Port ${wanted} cannot be used on 127.0.0.1: something else has it.`,
    { nextStep: 'Choose another port with `rewind serve --port N`.' },
  )
}

const listening = (server: Server, where: { path: string } | { host: string; port: number }): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })

/** Stops a server and cuts what is still connected. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
