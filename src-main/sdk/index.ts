/**
 * `rewind-desktop/sdk`: sandboxes for agents, from a program. Calls go to the host of the data folder over its local
 * socket; one is started where none runs. Neither a window nor the host itself is loaded, unless `embed: true` asks for
 * the latter.
 */
/// <reference lib="esnext.disposable" preserve="true" />

export {
  CancelledError,
  CheckpointExistsError,
  CheckpointNotFoundError,
  CommandError,
  CommandTimeoutError,
  CommitConflictError,
  ConnectionLostError,
  DeclinedError,
  DiskFullError,
  EngineUnavailableError,
  FileNotFoundError,
  GitError,
  HostBusyError,
  HostRunningError,
  HostUnavailableError,
  InternalError,
  InvalidMessagesError,
  InvalidOptionError,
  InvalidPathError,
  RewindError,
  RollbackFailedError,
  SandboxNotFoundError,
  SessionHaltedError,
  SessionNotStartedError,
  SessionPausedError,
  SessionRewoundError,
  StoreUnavailableError,
  VerificationFailedError,
  VerificationHaltError,
  VerificationUnknownError,
} from '../contract/errors.ts'
export {
  type EscalationContext,
  type EscalationHandler,
  type EscalationResolution,
  stdinEscalationHandler,
  stopEscalationHandler,
} from './escalation.ts'
export type { TextEncoding } from './file-text.ts'
export type { LedgerFilter, VerificationLedger } from './ledger.ts'
export { type ConversationOptions, convertMessages, type MessageFormat } from './messages.ts'
export type { SessionEvents } from './notices.ts'
export type { SessionOptions } from './options.ts'
export { type AutoRollbackOptions, type Changes, RewindSession } from './session.ts'
export type { Tool, ToolOptions } from './tool.ts'
export type {
  AutoRollback,
  BackgroundCommand,
  Change,
  Checkpoint,
  Command,
  CommandOutcome,
  CommitEntry,
  CommitOptions,
  CommitOutcome,
  FileCounts,
  ImageProgress,
  LedgerCheck,
  LedgerEntry,
  Message,
  OpenedPort,
  OutputChunk,
  OutputSoFar,
  RewindNotice,
  RollbackEvent,
  Rules,
  RulesSet,
  RunOptions,
  SandboxPort,
  SandboxProcess,
  SessionState,
} from './types.ts'
export {
  formatVerificationResult,
  type ParsedVerdict,
  parseVerifierOutput,
  type VerificationResult,
  VerificationStatus,
  Verifier,
  type VerifierOptions,
} from './verifier.ts'
export { session, withSession } from './with-session.ts'
