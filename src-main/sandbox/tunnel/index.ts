/** The way into a sandbox's network: connections to what listens there, made by a relay inside. */
export { startRelay } from './child.ts'
export { dial } from './dial.ts'
export { cutOff, join } from './join.ts'
export { Relay, relayProgram } from './relay.ts'
export { Tunnel } from './tunnel.ts'
