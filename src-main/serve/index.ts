/** The host without Electron: lock, store, sessions, local socket, loopback HTTP and WebSocket; and the way to its window. */
import { openSessions } from '../session/index.ts'
import { type Host, type HostOptions, startHostWith } from './host.ts'
import { takeOver } from './take-over.ts'

export { connectHost, type HostClient, type Rpc, version } from './client/index.ts'
export { dataFolder, ensureHome } from './home.ts'
export type { Host, HostEnd, HostOptions } from './host.ts'
export { type Opened, type OpenWindow, openWindow } from './launch.ts'
export { rendererFolder } from './package-root.ts'
export type { Connection, Router } from './router.ts'

/**
 * Starts the host of a data folder; with `takeOver`, an idle headless host that owns it makes way first.
 * @throws HostRunningError naming the owner's pid; HostBusyError when it would not make way
 */
export async function startHost(options: HostOptions, how: { takeOver?: boolean } = {}): Promise<Host> {
  const start = () => startHostWith(openSessions, options)
  return how.takeOver ? takeOver(options.home, start) : start()
}
