/**
 * The app's line to the host. Where nobody at work owns the data folder the app is the host itself; otherwise it is a
 * client of the owner, and passes the window's messages on as they are (both lines speak the same frames).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { RPCHandler } from '@orpc/server/message-port'
import type { MessagePortMain } from 'electron'
import {
  type Escalation,
  HostBusyError,
  HostRunningError,
  isLive,
  jsonSerializers,
  type SessionSummary,
} from '../contract/index.ts'
import { connectHost, type LocalSocket, reachHost } from '../serve/client/index.ts'
import { type Connection, rendererFolder, startHost, version } from '../serve/index.ts'

export interface HostLink {
  /** Serves the contract on a window's port. */
  serve(port: MessagePortMain): void
  /** Resolves when what is behind the ports is gone; never while the app itself is the host. */
  readonly lost: Promise<void>
  /** Sandboxes go on without us. */
  close(): Promise<void>
}

/**
 * Becomes the host of the data folder, or a client of the one that is at work.
 * @throws what startHost throws about the data folder itself
 */
export async function openHostLink(home: string): Promise<HostLink> {
  try {
    const options = { home, kind: 'app', version, renderer: rendererFolder } as const
    const host = await startHost(options, { takeOver: true })
    const handler = new RPCHandler<Connection>(host.router, { customJsonSerializers: jsonSerializers })
    return {
      serve(port) {
        // A port is a queue in memory between two processes of ours: there is nothing to wait for.
        handler.upgrade(port, {
          context: { scope: host.person, whenGone: new Map(), drained: () => Promise.resolve() },
        })
        port.start()
      },
      lost: new Promise(() => {}),
      close: () => host.close(),
    }
  } catch (error) {
    if (!(error instanceof HostBusyError || error instanceof HostRunningError)) throw error
  }
  return clientOf(home)
}

async function clientOf(home: string): Promise<HostLink> {
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  // This line carries nothing; it tells when the owner goes.
  const watch = await reachHost({ home, start: false, again: true })
  watch.once('close', () => resolve())
  return {
    serve(port) {
      void reachHost({ home, start: false, again: false }).then(
        (socket) => join(port, socket),
        () => port.close(),
      )
    },
    lost,
    close: async () => watch.close(),
  }
}

/**
 * Verdicts that wait for a person, from now on and until the line breaks. Whoever listens is there to be asked: the app
 * without a window, too.
 */
export async function* waitingAt(home: string, signal: AbortSignal): AsyncGenerator<Escalation[]> {
  const client = await connectHost({ home, start: false })
  try {
    yield* await client.rpc.escalations.watch({ as: 'window' }, { signal })
  } finally {
    client.close()
  }
}

/** A person waits for the answer with the app they want to close. */
const ANSWER_MS = 2_000

/** Sessions that are live at whoever hosts the data folder; null where nobody answers for them. */
export async function liveAt(home: string): Promise<SessionSummary[] | null> {
  const client = await connectHost({ home, start: false })
  try {
    // A call that waits for its line is not ended by a signal.
    const sessions = await Promise.race([client.rpc.sessions.list(), sleep(ANSWER_MS, null)])
    return sessions?.filter(isLive) ?? null
  } catch {
    return null
  } finally {
    client.close()
  }
}

/** Ties a window's port to a connection of its own; each ends with the other. */
function join(port: MessagePortMain, socket: LocalSocket): void {
  port.on('message', ({ data }) => socket.send(data as string | Uint8Array))
  port.on('close', () => socket.close())
  socket.on('message', (data: Buffer, isBinary) => port.postMessage(isBinary ? new Uint8Array(data) : data.toString()))
  socket.on('error', () => socket.terminate())
  socket.on('close', () => port.close())
  port.start()
}
