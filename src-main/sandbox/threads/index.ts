/** Threads of the host, for work that would stall it. */
export { ThreadClient } from './client.ts'
export { Handover, serveThread } from './serve.ts'
