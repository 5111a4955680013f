/**
 * Ports of a sandbox that a person opened: each is a port of this machine's loopback, and of nothing beyond it, whose
 * connections lead to what listens inside. It stays while that comes and goes, as a rewind has it do.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { InvalidOptionError, type OpenedPort, SandboxNotFoundError } from '../contract/index.ts'
import { cutOff, joinConnections } from '../sandbox/index.ts'

const LOOPBACK = '127.0.0.1'
/** Of one port: a page opens dozens, and each takes a descriptor here and one inside. What is more is closed at once. */
const MOST_CONNECTIONS = 256
/**
 * How long one stays on which nothing moves although one side has ended, or the server takes no more of what was sent: the
 * other side may never notice, and where it waits to be read its end is not seen.
 */
const STUCK_MS = 900_000
/** What a program needs rights for is not taken by itself. */
const FIRST_FREE = 1024

type Connect = (port: number, signal: AbortSignal) => Promise<Duplex>

interface Opened extends OpenedPort {
  server: Server
  clients: Set<Socket>
}

export class OpenPorts {
  readonly #connect: Connect
  readonly #isPaused: () => boolean
  readonly #stuckMs: number
  /** By the port inside. */
  readonly #opened = new Map<number, Promise<Opened>>()
  readonly #open = new Map<number, Opened>()
  #over = false

  /**
   * @param connect to what listens on a port inside, until the signal says that nobody wants it any more
   * @param isPaused whether nothing inside can move
   */
  constructor(connect: Connect, isPaused: () => boolean, stuckMs = STUCK_MS) {
    this.#connect = connect
    this.#isPaused = isPaused
    this.#stuckMs = stuckMs
  }

  /**
   * @param at this machine's port; null for one that is free
   * @throws InvalidOptionError where that port is taken or may not be used, or it is open at another one
   */
  async open(port: number, at: number | null): Promise<OpenedPort> {
    const known = this.#opened.get(port)
    if (known === undefined) return shown(await this.#begin(port, at))
    const opened = await known.catch(() => null)
    // What another one was refused is no matter of this one's.
    if (opened === null) return this.open(port, at)
    if (at === null || at === opened.at) return shown(opened)
    throw new InvalidOptionError(`Port ${port} is open already, at ${opened.at}.`, {
      nextStep: 'Close it first to have it elsewhere.',
      data: { port, at: opened.at },
    })
  }

  /** @returns false where it was not open */
  async close(port: number): Promise<boolean> {
    const opening = this.#opened.get(port)
    const opened = await opening?.catch(() => null)
    if (!opened || this.#opened.get(port) !== opening) return false
    this.#shut(opened)
    return true
  }

  /** Closes all of them, and opens no other. */
  end(): void {
    this.#over = true
    for (const opened of [...this.#open.values()]) this.#shut(opened)
  }

  at(port: number): OpenedPort | null {
    const opened = this.#open.get(port)
    return opened ? shown(opened) : null
  }

  list(): OpenedPort[] {
    return [...this.#open.values()].map(shown).sort((a, b) => a.port - b.port)
  }

  #begin(port: number, at: number | null): Promise<Opened> {
    const opening = this.#listen(port, at).catch((error: unknown) => {
      this.#opened.delete(port)
      throw error
    })
    this.#opened.set(port, opening)
    return opening
  }

  async #listen(port: number, at: number | null): Promise<Opened> {
    const clients = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      clients.add(client)
      client.once('close', () => clients.delete(client))
      void this.#lead(client, port)
    })
    server.maxConnections = MOST_CONNECTIONS
    if (at !== null) await listening(server, at)
    // Pages name their own port where they speak to their server again.
    else await listening(server, port < FIRST_FREE ? 0 : port).catch(() => listening(server, 0))
    const address = server.address()
    const used = typeof address === 'object' && address !== null ? address.port : 0
    const opened = { port, at: used, url: `http://${LOOPBACK}:${used}/`, server, clients }
    if (this.#over) {
      server.close()
      throw new SandboxNotFoundError('The session has ended.', { nextStep: 'Begin a new one with `rewind init PATH`.' })
    }
    // What is wrong with one connection that comes in is no matter of the others'.
    server.on('error', () => {})
    this.#open.set(port, opened)
    return opened
  }

  #shut({ port, server, clients }: Opened): void {
    this.#open.delete(port)
    this.#opened.delete(port)
    server.close()
    for (const client of clients) cutOff(client)
  }

  /** Never rejects: where nothing takes it inside, it is closed. */
  async #lead(client: Socket, port: number): Promise<void> {
    // It may go while the other is found; what it says until then waits.
    client.on('error', () => {})
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    client.once('close', leave)
    try {
      const inside = await this.#reach(port, leaving.signal)
      client.removeListener('close', leave)
      if (client.destroyed) return cutOff(inside)
      joinConnections(client, inside)
      this.#watch(client, inside)
    } catch {
      client.destroy()
    }
  }

  /** More connections than a server lets wait are taken in by none while it is paused: they are tried again. */
  async #reach(port: number, signal: AbortSignal): Promise<Duplex> {
    for (;;)
      try {
        return await this.#connect(port, signal)
      } catch (error) {
        const isLate = error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT'
        if (!isLate || !this.#isPaused() || signal.aborted) throw error
      }
  }

  #watch(client: Socket, inside: Duplex): void {
    const anew = () => client.setTimeout(this.#stuckMs)
    client.once('end', anew)
    inside.once('end', anew)
    client.on('timeout', () => {
      const isStuck = client.readableEnded || inside.readableEnded || inside.writableNeedDrain || inside.destroyed
      if (isStuck && !this.#isPaused()) cutOff(client)
      else anew()
    })
    anew()
  }
}

const shown = ({ port, at, url }: Opened): OpenedPort => ({ port, at, url })

/** @throws InvalidOptionError */
function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(refused(port, error))
    server.once('error', failed)
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      server.removeListener('error', failed)
      resolve()
    })
  })
}

function refused(port: number, error: NodeJS.ErrnoException): InvalidOptionError {
  const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code ?? error.message})`
  return new InvalidOptionError(`Port ${port} of this machine ${why}.`, {
    nextStep: 'Give another one, or none to have one that is free.',
    data: { at: port },
    cause: error,
  })
}
