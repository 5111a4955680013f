/**
 * What callers of the SDK are given and hand over, as plain types: a project that uses the SDK needs nothing of what we
 * are built with. They are checked against the contract wherever one becomes the other.
 */

/** A command line: a string is run by `sh -c`, a list is a program with its arguments, run without a shell. */
export type Command = string | readonly string[]

/** A chat message as its provider writes it. What goes in comes back equal, unknown fields included. */
export type Message = Record<string, unknown>

/** What an automatic rollback may act on. */
export type RollbackEvent = 'exception' | 'test_failure'

/** Numbers of files and folders. */
export interface FileCounts {
  added: number
  modified: number
  deleted: number
}

/** A node of the timeline. */
export interface Checkpoint {
  /** `NAME-ckpt-N`, unique for ever; `base` for the workspace as it was. */
  id: string
  /** Order within the session; 0 is base. */
  seq: number
  kind: 'base' | 'checkpoint' | 'tip'
  /** Null where it was taken without one; it is then called by its id. */
  label: string | null
  /** Id of the one that it was taken after; null for base. */
  parent: string | null
  at: Date
  takenBy: 'you' | 'agent' | 'auto'
  /** The reason that was given, or the tool that an automatic one went before. */
  why: string | null
  /** Length of the conversation that it holds. */
  messages: number
  /** Against its parent; null until counted. */
  files: FileCounts | null
  /** What the verifier said of this state; null where it was not asked. */
  verdict: { status: 'pass' | 'fail' | 'unknown'; text: string; at: Date } | null
  /** No pruning takes it. */
  pinned: boolean
  /** Milliseconds that taking it cost. */
  ms: number
}

/** One path that differs between two moments. */
export interface Change {
  /** Relative to the workspace, readable: bytes that are not UTF-8 appear as `\xNN`. */
  path: string
  /** The path's bytes in base64, where `path` is not simply their text. */
  rawPath: string | null
  status: 'added' | 'modified' | 'deleted' | 'type' | 'mode'
  kind: 'file' | 'folder' | 'symlink' | 'other'
  /** Bytes before; null where there was no file. */
  before: number | null
  /** Bytes after; null where there is no file. */
  after: number | null
  /** Kind and permission bits as in stat(2), null where the entry did not exist; left out where they are not known. */
  modes?: { before: number | null; after: number | null } | undefined
}

/** How a session's changes are written to its workspace. */
export interface CommitOptions {
  /** Paths in the workspace; a folder stands for all in it. Default: everything that changed. */
  paths?: readonly string[] | undefined
  /** Tells what would be written, and writes nothing. Default false. */
  dryRun?: boolean | undefined
  /** Where the host changed too, what the sandbox has is written. Default false. */
  force?: boolean | undefined
  /** Where the host changed too, what the host has stays. Default false. */
  skipConflicts?: boolean | undefined
}

/** A path that a commit writes. */
export interface CommitEntry extends Change {
  /** How it meets what was changed on the host meanwhile; null where it meets nothing. */
  conflict: string | null
  /** Why it cannot be written at all; null where it can. */
  obstacle: string | null
  /** What a person should know before it is on the host. */
  warning: string | null
}

/** What a commit did, or would do. */
export interface CommitOutcome {
  /** `nothing`: the host had it all; `preview`: a dry run. */
  status: 'committed' | 'nothing' | 'undone' | 'preview'
  /** Names the commit, to be undone; null where none was made. */
  id: string | null
  /** Sorted by path; only the first of thousands. */
  written: CommitEntry[]
  counts: FileCounts
  /** What stays as the host has it: in conflict, or not to be written. */
  skipped: CommitEntry[]
  /** What a person should know. */
  warnings: string[]
  /** Where the sandbox's own commits are in the host's repository, where both sides had changed that. */
  refs: string[]
}

/** What an automatic rollback did. */
export interface AutoRollback {
  event: RollbackEvent
  /** What the rule names: a label, `latest` or `base`. */
  to: string
  /** Id of the point that it came to. */
  checkpoint: string
  /** `skipped_noop` where nothing would have changed. */
  status: 'rolled_back' | 'skipped_noop'
  /** The main conversation to go on with, ending in the resume cue. */
  messages: Message[]
  /** How its messages are written. */
  format: 'openai' | 'openai-responses' | 'anthropic' | 'langchain' | 'vercel'
  at: Date
}

/** How a command ended. */
export interface CommandOutcome {
  /** All of it, as text; bytes that are not UTF-8 are replaced. */
  stdout: string
  stderr: string
  /** Null where a signal ended it. */
  code: number | null
  signal: string | null
  durationMs: number
}

/** Output of a command as it comes. */
export interface OutputChunk {
  stream: 'stdout' | 'stderr'
  /** The chunk as text; characters that are cut by its end come with the next one. */
  text: string
  bytes: Uint8Array
}

/** How a command is run; every option may be left out. */
export interface RunOptions {
  /** Milliseconds after which it is ended with all its children. Default: none. */
  timeoutMs?: number | undefined
  /** Variables for it, beside the session's. */
  env?: Record<string, string> | undefined
  /** Where it runs: relative to the workspace, or a path in the sandbox. Default: the workspace. */
  cwd?: string | undefined
  /** What it reads from its stdin. Default: nothing. */
  stdin?: string | Uint8Array | undefined
  /** Told of output as it comes. What it throws stops the command. */
  onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** `'root'` may install packages, in a sandbox of docker's with the scope machine. Default `'agent'`. */
  user?: 'agent' | 'root' | undefined
  /** Gives it a terminal, 80 by 24 characters unless a size is given: all that it shows is then stdout. Default false. */
  tty?: boolean | { columns: number; rows: number } | undefined
  /** Stops it when it is aborted; the call then throws CancelledError. */
  signal?: AbortSignal | undefined
}

/** What a command has printed until now. */
export interface OutputSoFar {
  stdout: string
  stderr: string
  /** False once it has ended: this is then all of it. */
  running: boolean
}

/** A command that runs in the background. */
export interface BackgroundCommand {
  readonly id: string
  /** @returns all that it has printed until now */
  read(): Promise<OutputSoFar>
  /**
   * Waits for its end. Never throws for an exit code.
   * @throws CommandTimeoutError, or CancelledError where a rewind or the end of the session ended it
   */
  wait(): Promise<CommandOutcome>
  /** Ends it with all its children. Resolves when it has ended; nothing happens to one that has. */
  kill(): Promise<void>
}

/** The automatic rules of a session. */
export interface Rules {
  autoCheckpoint: {
    trigger: 'before_tool_call'
    /** How many automatic points stay; null for all. */
    keepLast: number | null
  } | null
  autoRollback: {
    events: RollbackEvent[]
    /** What the rule names; it is looked up when the rule fires. */
    to: string
    verifier: {
      command: string | string[]
      retries: number
      retryDelayMs: number
      /** Null for no limit. */
      timeoutMs: number | null
    } | null
  } | null
}

/** What setting a rule comes to. */
export interface RulesSet {
  rules: Rules
  /** What is likely not to be meant, in sentences; each is raised as a process warning too. */
  warnings: string[]
}

/** How a session stands. */
export interface SessionState {
  /** Unique for ever, whatever its name is later used for. */
  id: string
  name: string
  /** As `name`. */
  container: string
  engine: 'local' | 'docker'
  /** How the engine runs here, in words. */
  engineDetail: string
  status: 'starting' | 'running' | 'paused' | 'halted' | 'ended' | 'destroyed' | 'unreachable'
  /** The folder on the host. */
  workspace: string
  /** The same folder as commands in the sandbox see it; `$REWIND_WORKSPACE` holds it there. */
  workspaceInside: string
  mode: 'interactive' | 'agent'
  /** Labels of the current line, oldest first. */
  checkpoints: string[]
  /** Labels of those that hold the conversation, which all of them do. */
  memoryCheckpoints: string[]
  /** Layers that the sandbox stands on. */
  layers: number
  /** Bytes on disk; null until measured. */
  usage: number | null
  processes: { pid: number; command: string }[]
  pendingEscalations: number
  rules: Rules
  /** Against the newest checkpoint; null for a session that has ended. */
  uncommitted: FileCounts | null
  /** What a person should know about this sandbox. */
  notes: string[]
}

/** A process of the sandbox. */
export interface SandboxProcess {
  pid: number
  command: string
  /** Names it for as long as it lives: its pid may be another one's later. */
  key: string
  /** The command that started it, or one that it descends from; null where that is not known any more. */
  commandId: string | null
  startedAt: Date
  cpuMs: number
  rssBytes: number
}

/** A TCP port that a process of the sandbox listens on. */
export interface SandboxPort {
  port: number
  /** Inside: `0.0.0.0` and `::` are all of the sandbox's own. */
  address: string
  pid: number
  command: string
  /** Where this machine reaches it; null where it is reached inside only. */
  url: string | null
}

/** A port of the sandbox that was opened to this machine. */
export interface OpenedPort {
  port: number
  /** The port of this machine's loopback at which it is reached. */
  at: number
  url: string
}

/** A row of the ledger. Frozen: nothing that was recorded is changed. */
export interface LedgerEntry {
  readonly id: number
  readonly timestamp: Date
  readonly eventType:
    | 'verification'
    | 'escalation'
    | 'rollback'
    | 'commit'
    | 'commit_undo'
    | 'prune'
    | 'repair'
    | 'resume'
    | 'process_image'
  /** A verdict (`pass`, `fail`, `unknown`), or how it went (`rolled_back`, `skipped_noop`, `no_target`, ...). */
  readonly status: string | null
  /** The rule's or the caller's target, as it was named. */
  readonly checkpoint: string | null
  /** Id of the point whose state was judged or gone back to. */
  readonly point: string | null
  readonly rawOutput: string | null
  readonly notes: string | null
  /** `continue`, `rollback` or `stop`. */
  readonly resolution: string | null
  readonly decidedBy: string | null
  /** SHA-256 over the row before and this one. */
  readonly hash: string
}

/** Whether the ledger's chain is whole. */
export interface LedgerCheck {
  whole: boolean
  rows: number
  /** Hash of the last row. */
  head: string
  /** Id of the first row that does not fit; null where all do. */
  brokenAt: number | null
  /** How the chain agrees with the note of its end that is kept beside the store. */
  anchor: 'agrees' | 'missing' | 'differs'
}

/** A rewind that this session did not ask for, told once. */
export interface RewindNotice {
  /** Who, when, to which point, which files, and what to read again: for a person or a model. */
  text: string
  /** The number of rewinds that the session has seen by now. */
  epoch: number
  rewinds: { at: Date; by: 'you' | 'agent' | 'rule'; to: string; only: 'files' | 'messages' | null }[]
  /** What differs from the files as they were last seen; null where that is no longer held. */
  files: FileCounts | null
  /** Some of the paths that differ. */
  paths: string[]
}

/** How far the image is that a sandbox of docker's waits for. */
export interface ImageProgress {
  /** One line for a person. */
  text: string
  /** From 0 to 1; null where that cannot be known. */
  fraction: number | null
}
