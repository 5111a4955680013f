/**
 * The error classes of the product. Each says what happened (`message`), names itself by `code`,
 * carries the CLI's `exitCode` and, where there is one, the `nextStep` a person or agent can take.
 * They cross every boundary (socket, message port, JSON output) by {@link toWire} and {@link fromWire}
 * and arrive as the same class with the same data.
 */

/** Facts that belong to an error: JSON values only, as they cross process boundaries. */
export type ErrorData = Record<string, unknown>

export interface WireError {
  code: string
  message: string
  nextStep: string | null
  data: ErrorData
  /** What led to it, where that is one of ours too. */
  cause?: WireError
}

export interface ErrorOptions {
  /** What the reader can do about it, as one sentence. */
  nextStep?: string | null
  data?: ErrorData
  cause?: unknown
}

/** What all errors of the product are. */
export abstract class RewindError extends Error {
  /** Names the kind of error, and stays the same whatever its message says: `CHECKPOINT_EXISTS`. */
  abstract readonly code: string
  /** What the command line would end with. */
  abstract readonly exitCode: number
  /** What can be done about it, as a sentence. */
  readonly nextStep: string | null
  /** Facts: JSON values only. */
  readonly data: ErrorData

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.nextStep = options.nextStep ?? null
    this.data = options.data ?? {}
  }
}

/** Said out loud, so that the type of an error holds nothing of what Node adds to all errors. */
type Defined<Code extends string> = new (
  message: string,
  options?: ErrorOptions,
) => RewindError & { readonly code: Code; readonly exitCode: number }

const define = <Code extends string>(code: Code, exitCode: number): Defined<Code> =>
  class extends RewindError {
    readonly code = code
    readonly exitCode = exitCode
  }

/**
 * A command ended with another code than 0, or by a signal. `data`: code, signal, stdout, stderr, durationMs,
 * autoRollback.
 */
export class CommandError extends define('COMMAND_FAILED', 1) {}
/** A command ran into its time limit, and was ended with all its children. `data` as for CommandError. */
export class CommandTimeoutError extends define('COMMAND_TIMEOUT', 1) {}
/** It was called off: by the caller, by a rewind (which the message names), or by the end of the session. */
export class CancelledError extends define('CANCELLED', 1) {}
/** The verifier said fail: the message is its verdict. `data`: errors, verdict, checkpoint, autoRollback. */
export class VerificationFailedError extends define('VERIFICATION_FAILED', 1) {}
/** No session of that name or id is there, or it has ended. */
export class SandboxNotFoundError extends define('SANDBOX_NOT_FOUND', 2) {}
/** The call needs a session that was started. */
export class SessionNotStartedError extends define('SESSION_NOT_STARTED', 2) {}
/** The label is taken on the current line. */
export class CheckpointExistsError extends define('CHECKPOINT_EXISTS', 3) {}
/** No checkpoint of that label or id is there. */
export class CheckpointNotFoundError extends define('CHECKPOINT_NOT_FOUND', 3) {}
/** Sandboxes cannot be made here, or this one cannot be reached. */
export class EngineUnavailableError extends define('ENGINE_UNAVAILABLE', 4) {}
/** There is no room left on the disk. */
export class DiskFullError extends define('DISK_FULL', 4) {}
/** The database of the data folder is damaged, a newer version's, or cannot be opened. */
export class StoreUnavailableError extends define('STORE_UNAVAILABLE', 4) {}
/** A rollback could not be carried out; the failure that set off an automatic one is its `cause`. */
export class RollbackFailedError extends define('ROLLBACK_FAILED', 4) {}
/** The path is empty, the workspace itself, or leads outside; or the folder cannot be a workspace. */
export class InvalidPathError extends define('INVALID_PATH', 5) {}
/** No file of that name is there. */
export class FileNotFoundError extends define('FILE_NOT_FOUND', 5) {}
/** The verifier could not decide, and work was allowed to go on: nothing was verified. */
export class VerificationUnknownError extends define('VERIFICATION_UNKNOWN', 6) {}
/** The verifier could not decide, and the session waits for a person; its sandbox is kept. */
export class VerificationHaltError extends define('VERIFICATION_HALT', 6) {
  /** The target of the automatic rollback, as it was named; null without one. */
  get checkpoint(): string | null {
    return (this.data.checkpoint as string | null | undefined) ?? null
  }

  get verifierCommand(): string | string[] {
    return this.data.verifierCommand as string | string[]
  }

  /** What the last of the attempts came to. */
  get lastResult(): { status: string; rawOutput: string; notes: string | null } {
    return this.data.lastResult as { status: string; rawOutput: string; notes: string | null }
  }

  get sessionName(): string {
    return this.data.sessionName as string
  }
}
/** The session waits for a decision and takes no other work. */
export class SessionHaltedError extends define('SESSION_HALTED', 6) {}
/** A person paused the session: nothing in it runs, and it takes no new commands and files until it is unpaused. */
export class SessionPausedError extends define('SESSION_PAUSED', 6) {}
/** The workspace on the host changed too, and not in the same way. */
export class CommitConflictError extends define('COMMIT_CONFLICT', 7) {}
/** The host's git is missing or could not do it. `data`: reason, and where it ran code and what it said. */
export class GitError extends define('GIT_FAILED', 4) {}
/** A person said no, or was not there to be asked. */
export class DeclinedError extends define('DECLINED', 8) {}
/** Somebody else rewound the session since the last call; this one was not carried out. */
export class SessionRewoundError extends define('SESSION_REWOUND', 8) {}
/** A value outside those that a call takes; the message lists them. */
export class InvalidOptionError extends define('INVALID_OPTION', 64) {}
/** What was given as a conversation is none. */
export class InvalidMessagesError extends define('INVALID_MESSAGES', 64) {}
/** Another host owns the data folder; `data.pid` names its process where that is known. */
export class HostRunningError extends define('HOST_RUNNING', 4) {}
/** The host is at work and would not make way for another one. */
export class HostBusyError extends define('HOST_BUSY', 4) {}
/** No host answers, and none could be started. */
export class HostUnavailableError extends define('HOST_UNAVAILABLE', 4) {}
/** The host went away during a call that changes something: whether it was carried out is not known. */
export class ConnectionLostError extends define('CONNECTION_LOST', 4) {}
/** A fault of ours: reported with its stack, exit code 70. */
export class InternalError extends define('INTERNAL', 70) {}

const classes = {
  COMMAND_FAILED: CommandError,
  COMMAND_TIMEOUT: CommandTimeoutError,
  CANCELLED: CancelledError,
  VERIFICATION_FAILED: VerificationFailedError,
  SANDBOX_NOT_FOUND: SandboxNotFoundError,
  SESSION_NOT_STARTED: SessionNotStartedError,
  CHECKPOINT_EXISTS: CheckpointExistsError,
  CHECKPOINT_NOT_FOUND: CheckpointNotFoundError,
  ENGINE_UNAVAILABLE: EngineUnavailableError,
  DISK_FULL: DiskFullError,
  STORE_UNAVAILABLE: StoreUnavailableError,
  ROLLBACK_FAILED: RollbackFailedError,
  INVALID_PATH: InvalidPathError,
  FILE_NOT_FOUND: FileNotFoundError,
  VERIFICATION_UNKNOWN: VerificationUnknownError,
  VERIFICATION_HALT: VerificationHaltError,
  SESSION_HALTED: SessionHaltedError,
  SESSION_PAUSED: SessionPausedError,
  COMMIT_CONFLICT: CommitConflictError,
  GIT_FAILED: GitError,
  DECLINED: DeclinedError,
  SESSION_REWOUND: SessionRewoundError,
  INVALID_OPTION: InvalidOptionError,
  INVALID_MESSAGES: InvalidMessagesError,
  HOST_RUNNING: HostRunningError,
  HOST_BUSY: HostBusyError,
  HOST_UNAVAILABLE: HostUnavailableError,
  CONNECTION_LOST: ConnectionLostError,
  INTERNAL: InternalError,
} as const

export type ErrorCode = keyof typeof classes

export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && code in classes

/** What crosses a boundary. Anything that is not one of our classes becomes INTERNAL with its text. */
export function toWire(error: unknown): WireError {
  if (error instanceof RewindError) {
    const { code, message, nextStep, data, cause } = error
    return { code, message, nextStep, data, ...(cause instanceof RewindError ? { cause: toWire(cause) } : {}) }
  }
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? error.message : String(error),
    nextStep: null,
    data: error instanceof Error && error.stack ? { stack: error.stack } : {},
  }
}

/** The class again, with message, next step, data and cause as they were. */
export function fromWire({ code, message, nextStep, data, cause }: WireError): RewindError {
  const Class = isErrorCode(code) ? classes[code] : InternalError
  return new Class(message, { nextStep, data, ...(cause ? { cause: fromWire(cause) } : {}) })
}
