/** Finds the host of a data folder and opens a connection to it; starts a headless one where none runs. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HostUnavailableError } from '../../contract/errors.ts'
import { readHostFile } from '../host-file.ts'
import { assertPrivate, socketPath } from '../socket-path.ts'
import { doorFor, type Grants } from './doors.ts'
import { LocalSocket } from './local-socket.ts'
import type { HostProcess } from './spawn-host.ts'

/** A host on a loaded machine, with sandboxes to attach to, takes its time. */
const STARTED_WITHIN_MS = 30_000
/** After a lost connection a successor may be on its way, also where this client starts none. */
const SUCCESSOR_WITHIN_MS = 10_000

export interface Reach {
  home: string
  start: boolean
  /** The connection before was lost. */
  again: boolean
  /** What a person gave to the agent that this connection is for; a person's where it is left out. */
  grants?: Grants
}

/**
 * @throws HostUnavailableError when no host runs and none may be or could be started
 * @throws InvalidPathError when the socket lies in a folder that somebody else could have made
 */
export async function reachHost({ home, start, again, grants }: Reach): Promise<LocalSocket> {
  const until = Date.now() + (start ? STARTED_WITHIN_MS : again ? SUCCESSOR_WITHIN_MS : 0)
  let started: HostProcess | undefined
  for (;;) {
    const socket = findSocket(home)
    try {
      return await LocalSocket.open(socket, doorFor(grants ?? null))
    } catch (error) {
      if (!isNobodyThere(error))
        throw new HostUnavailableError(`The host's socket ${socket} cannot be used: ${(error as Error).message}.`, {
          nextStep: 'See that the data folder is yours, or set REWIND_HOME to another one.',
        })
    }
    if (start && !started) {
      const { spawnHost } = await import('./spawn-host.ts')
      started = spawnHost(home)
    }
    const failed = started?.failed()
    if (failed) throw failed
    if (Date.now() >= until) throw started ? started.late(STARTED_WITHIN_MS) : notRunning(home)
    await sleep(15)
  }
}

function findSocket(home: string): string {
  const real = existsSync(home) ? realpathSync(home) : home
  const socket = readHostFile(real)?.socket ?? socketPath(real)
  if (process.platform !== 'win32' && dirname(socket) !== real && existsSync(dirname(socket)))
    assertPrivate(dirname(socket))
  return socket
}

/** A socket that lies there without a listener is a dead host's; a host that is going cuts the line in mid-greeting. */
const isNobodyThere = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

const notRunning = (home: string): HostUnavailableError =>
  new HostUnavailableError(`No host runs for the data folder ${home}.`, {
    nextStep: 'Any command that needs one starts it; `rewind serve` keeps one in this terminal.',
  })
