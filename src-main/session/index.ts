/** Sessions: files, messages and processes of one sandbox kept together, with their rules, timeline and ledger. */
export { type Caller, type Created, type MayUse, openSessions, type SessionManager } from './manager.ts'
export type { Session } from './session.ts'
