/** What outlives the host: sessions, points, messages, ledger, commands, journal, events and settings in one SQLite file. */

export type { CommitPart, CommitRow } from './commits.ts'
export {
  type CrashPoint,
  commitCrashPoints,
  compactCrashPoints,
  crashPoint,
  crashPoints,
  endCrashPoints,
  escalationCrashPoints,
  pauseCrashPoints,
  preImageCrashPoints,
  pruneCrashPoints,
  shellCrashPoints,
} from './crash-points.ts'
export type { EscalationRow } from './escalations.ts'
export type { JournalRow } from './journal.ts'
export type { LedgerFilter, NewLedgerEntry } from './ledger.ts'
export type { ConversationHead } from './messages.ts'
export type { FilesState, Held, Pinned, PointPatch } from './points.ts'
export type { SessionRow } from './sessions.ts'
export { openStore, type Store } from './store.ts'
