/**
 * The typed client of the contract over the local socket. It outlives hosts: what only looks or waits goes on with the
 * next one, and what changes something is never sent twice: it fails and says that its outcome is not known.
 */
import { createORPCClient } from '@orpc/client'
import { ClientRetryPlugin, type ClientRetryPluginContext } from '@orpc/client/plugins'
import { RPCLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import { ConnectionLostError, HostBusyError } from '../../contract/errors.ts'
import type { contract } from '../../contract/index.ts'
import { fromRpcError, jsonSerializers } from '../../contract/wire.ts'
import { readHostFile } from '../host-file.ts'
import type { Grants } from './doors.ts'
import { HostSocket } from './host-socket.ts'
import { reachHost } from './reach.ts'

export type Rpc = ContractRouterClient<typeof contract, ClientRetryPluginContext>

export interface ConnectOptions {
  /** The data folder. */
  home: string
  /** Whether a headless host is started where none runs. */
  start: boolean
  /** The client's own version: an idle headless host of an older one is asked to make way for a new one. */
  version?: string
  /** What a person gave to the agent that this connection is for; a person's where it is left out. */
  grants?: Grants
}

export interface HostClient {
  readonly rpc: Rpc
  /**
   * It is in use unless told otherwise. While it is not, it keeps no process alive and looks for no other host; say so
   * before the next call.
   */
  inUse(on: boolean): void
  /** It has given up: no call of it reaches a host any more. */
  readonly lost: boolean
  close(): void
}

/** Calls that change nothing, or that may be sent again: a command's id makes starting and stopping it once. */
const repeatable = new Set(
  [
    'host.info host.doctor host.browserUrl',
    'sessions.list sessions.get timeline.get timeline.preview timeline.missed timeline.unheard host.allowed',
    'files.read files.changes files.pair messages.get messages.list messages.validity',
    'commands.start commands.wait commands.stop commands.get commands.list commands.output commands.follow',
    'escalations.list escalations.get escalations.wait escalations.watch',
    'rules.get rules.lastAutoRollback ledger.list ledger.verify events',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Connects to the host of a data folder. Calls may be made at once; they wait for the connection.
 * @returns a client whose calls throw the contract's error classes: HostUnavailableError where there is no host and
 *   none could be started, ConnectionLostError where it went away during a call that cannot be repeated
 */
export async function connectHost({ home, start, version, grants }: ConnectOptions): Promise<HostClient> {
  const socket = new HostSocket((again) => reachHost({ home, start, again, ...(grants ? { grants } : {}) }))
  const isLost = (error: unknown) => isConnectionLoss(error) && socket.failure === undefined
  const link = new RPCLink<ClientRetryPluginContext>({
    websocket: socket as unknown as WebSocket,
    customJsonSerializers: jsonSerializers,
    interceptors: [
      async ({ path, signal, next }) => {
        try {
          return await next()
        } catch (error) {
          if (signal?.aborted || !isConnectionLoss(error)) throw signal?.aborted ? error : fromRpcError(error)
          throw socket.failure ?? lostDuring(path.join('.'))
        }
      },
    ],
    plugins: [
      new ClientRetryPlugin<ClientRetryPluginContext>({
        default: {
          retry: ({ path }) => (repeatable.has(path.join('.')) ? Number.POSITIVE_INFINITY : 0),
          retryDelay: 0,
          shouldRetry: ({ error }) => isLost(error),
        },
      }),
    ],
  })
  const client: HostClient = {
    rpc: createORPCClient<Rpc>(link),
    inUse: (on) => socket.inUse(on),
    get lost() {
      return socket.failure !== undefined
    },
    close: () => socket.close(),
  }
  if (start && version !== undefined) await renewOlderHost(client.rpc, socket, home, version)
  return client
}

/** What oRPC's link throws when the line is cut during a call or within a stream, or could not be had for one. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'AbortError' || error.message === 'Cannot send message, WebSocket is not open.')

const lostDuring = (call: string): ConnectionLostError =>
  new ConnectionLostError(`The host went away during ${call}; whether it was carried out is not known.`, {
    nextStep: 'Look at how things stand (`rewind status`, `rewind checkpoint ls`) before you repeat it.',
  })

/** The socket comes back by itself once a new host is there. */
async function renewOlderHost(rpc: Rpc, socket: HostSocket, home: string, version: string): Promise<void> {
  const host = readHostFile(home)
  if (host?.kind !== 'headless' || !isOlder(host.version, version)) return
  try {
    const { pid } = await rpc.host.info()
    if (pid !== host.pid) return
    // It answers first and goes then: a call in between would still reach it.
    const gone = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve(), { once: true }))
    await rpc.host.handOver({ force: false })
    await gone
  } catch (error) {
    // One that is at work stays, and serves as well as it can.
    if (!(error instanceof HostBusyError) && !(error instanceof ConnectionLostError)) throw error
  }
}

/** Compares dotted numbers. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => text.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0)
  const [a, b] = [numbers(version), numbers(than)]
  const differs = a.findIndex((part, at) => part !== (b[at] ?? 0))
  return differs >= 0 && (a[differs] ?? 0) < (b[differs] ?? 0)
}
