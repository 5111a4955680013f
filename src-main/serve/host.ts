/**
 * The host: the one process that owns a data folder's store and sandboxes, and lets clients in. It is built up in an
 * order in which each part may rely on the ones before (lock, store, sessions, doors) and taken down in reverse, so
 * that the lock is the last thing to go and no second host ever sees a half-closed store.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Check, HostBusyError, type HostInfo } from '../contract/index.ts'
import type { SessionManager } from '../session/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { AllowedFolders } from './allowed-folders.ts'
import { BrowserAuth } from './browser-auth.ts'
import type { Grants } from './client/doors.ts'
import { examine } from './doctor.ts'
import { FolderRequests } from './folder-requests.ts'
import { ensureHome } from './home.ts'
import { readHostFile, removeHostFile, writeHostFile } from './host-file.ts'
import { createHttpServer } from './http.ts'
import { watchIdle } from './idle.ts'
import { closeServer, listenOnLoopback, listenOnSocket } from './listen.ts'
import { acquireLock } from './lock.ts'
import { McpDoor } from './mcp-door.ts'
import { McpToken } from './mcp-token.ts'
import { createRouter, type Router } from './router.ts'
import { RpcSockets } from './rpc-socket.ts'
import { agentScope, personScope, type Scope } from './scopes.ts'
import { removeSocket, socketPath } from './socket-path.ts'
import { WantedPlace } from './wanted-place.ts'

/** A host that is at work for no longer than this is asked once more before it refuses to make way. */
const PASSING_MS = 1_000

export interface HostOptions {
  /** The data folder. */
  home: string
  kind: 'app' | 'headless'
  version: string
  /** Folder of the built window; none is served without it. */
  renderer?: string
  /** A loopback port to insist on. */
  port?: number
  /** Milliseconds without client, work and live process after which it ends by itself; never without it. */
  idleMs?: number
}

/** Why a host ended. */
export type HostEnd = 'closed' | 'handed-over' | 'idle'

export interface Host {
  readonly home: string
  readonly sessions: SessionManager
  /** For transports that the host does not open itself: the window's message port. */
  readonly router: Router
  /** What a window of this process may do. */
  readonly person: Scope
  /** Resolves when the lock is free again. */
  readonly closed: Promise<HostEnd>
  info(): HostInfo
  /** An address with a single-use code in its hash; the code lives 60 s. */
  browserUrl(): string
  /** Lets go of clients and sandboxes (those go on) and gives the data folder free. */
  close(): Promise<void>
}

/** How sessions are opened: src-main/session in the product. */
export type OpenSessions = (options: { home: string; store: Store }) => Promise<SessionManager>

/**
 * Starts a host for the data folder.
 * @throws HostRunningError naming the owner's pid, InvalidPathError (the data folder), InvalidOptionError (the port)
 */
export async function startHostWith(openSessions: OpenSessions, options: HostOptions): Promise<Host> {
  const home = ensureHome(options.home)
  await using building = new AsyncDisposableStack()
  const lock = await acquireLock(home)
  building.defer(() => lock.release())

  const startedAt = new Date()
  let url = ''
  const mcpUrl = () => (url === '' ? null : `${url}/mcp`)
  const socket = socketPath(home)
  let token: McpToken | null = null
  const announce = () =>
    writeHostFile(home, {
      pid: process.pid,
      version: options.version,
      kind: options.kind,
      socket,
      url: url || null,
      mcp: mcpUrl(),
      token: token?.value ?? null,
      startedAt: startedAt.toISOString(),
    })
  announce()
  building.defer(() => removeHostFile(home))

  const store = openStore(join(home, 'store.db'))
  building.defer(() => store.close())
  const sessions = await openSessions({ home, store })
  // Also without a window it is in the tray.
  sessions.askers.app = options.kind === 'app'
  building.defer(() => sessions.close())

  const auth = new BrowserAuth({
    load: () => store.settings.get('browsers') ?? null,
    save: (value) => store.settings.set('browsers', value),
  })
  const browserUrl = () => `${url}/#code=${auth.newCode()}`
  const info = (): HostInfo => ({
    version: options.version,
    pid: process.pid,
    kind: options.kind,
    home,
    startedAt,
    idle: sessions.idle(),
    url,
    mcp: mcpUrl(),
  })
  const doctor = async (): Promise<Check[]> => [...(await examine(home)), ...(await sessions.checks())]
  const handOver = async (force: boolean) => {
    if (options.kind === 'app')
      throw new HostBusyError('The app is open and keeps the data folder.', { nextStep: 'Quit the app first.' })
    // What a session does for itself between two steps (measuring, freeing) is over in a moment.
    for (const until = Date.now() + PASSING_MS; !force && !sessions.idle() && Date.now() < until; ) await sleep(25)
    if (!force && !sessions.idle())
      throw new HostBusyError('The host is at work: a command runs, or an answer is waited for.', {
        nextStep: 'Wait until it is done; `rewind sessions` shows what runs.',
      })
    // The caller's answer goes out first.
    setTimeout(() => void end('handed-over'), 20)
  }
  token = new McpToken({
    load: () => store.settings.get('mcpToken') ?? null,
    save: (value) => store.settings.set('mcpToken', value),
  })
  const mcp = (renew: boolean) => {
    if (renew) {
      token.renew()
      announce()
    }
    return { url: mcpUrl(), token: token.value }
  }
  const allowed = new AllowedFolders({
    load: () => store.settings.get('allowed') ?? null,
    save: (value) => store.settings.set('allowed', value),
  })
  const wanted = new WantedPlace({
    load: () => store.settings.get('wantedPlace') ?? null,
    save: (value) => store.settings.set('wantedPlace', value),
  })
  const requests = new FolderRequests(allowed)
  building.defer(() => requests.close())
  const listed = () => ({ folders: [...allowed.folders] })
  const allow = (path: string, on: boolean) => {
    if (on) allowed.add(path)
    else allowed.remove(path)
    return listed()
  }
  const router = createRouter(sessions, {
    info,
    doctor,
    browserUrl: () => ({ url: browserUrl() }),
    handOver,
    allowed: listed,
    allow,
    requests,
    wanted,
    mcp,
  })
  const person = personScope({ sessions, allowed })
  const scopeOf = (grants: Grants | null) => (grants ? agentScope({ sessions, allowed, requests }, grants) : person)
  const sockets = new RpcSockets(router)

  const local = await listenOnSocket(home, socket, sockets, scopeOf)
  building.defer(async () => {
    await closeServer(local)
    removeSocket(home, socket)
  })
  const door = new McpDoor({
    router,
    token,
    version: options.version,
    scope: scopeOf({ allow: [], sessions: [] }),
  })
  const kept = Number(store.settings.get('port')) || null
  const renderer = options.renderer ?? join(home, 'no-window')
  const http = await listenOnLoopback({ kept, wanted: options.port ?? null }, (port) =>
    createHttpServer({ port, renderer, auth, sockets, scope: person, mcp: door }),
  )
  building.defer(() => closeServer(http.server))
  building.defer(() => door.close())
  // Before the servers: they wait for every connection that was upgraded.
  building.defer(() => sockets.close())
  // A port that somebody else sits on today is still this data folder's tomorrow: addresses of it were given away.
  // One that a person asked for was asked for once.
  if (kept === null && options.port === undefined) store.settings.set('port', String(http.port))
  url = `http://127.0.0.1:${http.port}`
  announce()

  if (options.idleMs !== undefined) {
    const isQuiet = async () =>
      // Without its data folder nobody can find this host: it must not stay for ever.
      readHostFile(home)?.pid !== process.pid ||
      (sockets.clients === 0 && door.active === 0 && sessions.idle() && (await sessions.liveProcesses()) === 0)
    const watch = watchIdle({
      idleMs: options.idleMs,
      isQuiet,
      lastClientAt: () => Math.max(sockets.lastClientAt, door.lastRequestAt),
      onIdle: () => void end('idle'),
    })
    building.defer(() => watch.stop())
  }

  const parts = building.move()
  const { promise: closed, resolve, reject } = Promise.withResolvers<HostEnd>()
  closed.catch(() => {})
  let ending: Promise<void> | undefined
  function end(why: HostEnd): Promise<void> {
    ending ??= parts.disposeAsync().then(() => resolve(why), reject)
    return ending.then(() => closed).then(() => {})
  }
  return { home, sessions, router, person, closed, info, browserUrl, close: () => end('closed') }
}
