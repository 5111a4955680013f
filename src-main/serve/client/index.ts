/** For those who use a host: a connection to it, started where none runs. Loads no part of the host itself. */

export { packageRoot, version } from '../package-root.ts'
export { askedHere, type Here } from './ask-here.ts'
export { connectHost, type HostClient, isConnectionLoss, type Rpc } from './connect.ts'
export type { LocalSocket } from './local-socket.ts'
export { reachHost } from './reach.ts'
export { ahead, contentsOf, pairOf, type Range } from './sides.ts'
