/**
 * What the product needs of an engine. One provider does it with Linux namespaces, another with docker;
 * one conformance suite describes both. Labels, messages and the timeline are unknown here: a sandbox knows
 * layers by number and operations by id.
 */
import type { Duplex } from 'node:stream'
import type {
  Change,
  CommandLine,
  EngineName,
  EntryKind,
  FilePair,
  ListeningPort,
  ProcessDetails,
  ProcessInfo,
  TerminalSize,
} from '../contract/index.ts'

/**
 * A frozen file state: the topmost layer of each overlay. What that stands on is the sandbox's to know, so a state is as
 * large as any other however many came before it. Numbers are never used twice in a sandbox.
 */
export interface FilesState {
  workspace: number
  machine: number
}

export type Availability =
  | { ok: true /** for a person: 'namespaces as root' */; detail: string }
  | { ok: false; reason: string; remedy: string }

export interface SandboxSpec {
  /** The session's id; names the sandbox's folder or container. */
  id: string
  /** Host folder, absolute, existing. */
  workspace: string
  base: 'auto' | 'copy' | 'live'
  network: boolean
  /** The image that docker runs; null for the product's own. The local engine has none. */
  image: string | null
  /**
   * What goes back with a rewind beside the workspace: everything that the image holds, so that packages can be installed
   * and are gone again; or temporary files and the sandbox's home. The local engine knows the latter alone.
   */
  scope: 'machine' | 'workspace'
  /** Environment of every command. */
  env: Record<string, string>
  /** Host folders that must not be seen inside, the data folder first of all. */
  hidden: readonly string[]
}

export interface SandboxFacts {
  engine: EngineName
  /** For a person: 'namespaces as root', 'user namespaces'. */
  detail: string
  /** The workspace's path inside. */
  workspace: string
  base: 'copy' | 'live'
  /** What a person should know: base copied and why, mounts that do not show, ... */
  notes: readonly string[]
  /** The state everything began from: point 0. */
  baseState: FilesState
}

export interface SandboxProvider {
  readonly engine: EngineName
  /** Tries what it needs, once per process; never throws. */
  available(): Promise<Availability>
  /**
   * @throws EngineUnavailableError, InvalidPathError (the workspace), DiskFullError. Nothing is left behind after a failure.
   */
  create(spec: SandboxSpec): Promise<Sandbox>
  /**
   * Takes hold of a sandbox that outlived its host: raises the generation, so that what an older host still does
   * in it is refused. Where its holder is gone (reboot, kill), the layers are mounted again without processes.
   * @throws SandboxNotFoundError
   */
  attach(id: string): Promise<Sandbox>
  /**
   * The layers of a sandbox that was ended, to read frozen states from; nothing is started.
   * @throws SandboxNotFoundError
   */
  open(id: string): Promise<Sandbox>
  /** Ids of the sandboxes of this data folder, running or not, also those that a host died in the middle of making. */
  list(): Promise<string[]>
  /**
   * Removes all that is left of a sandbox, whatever state it is in; does nothing where nothing is left.
   * @returns what could not be removed; null where nothing is left. It does not throw: one stray folder stops nobody
   */
  remove(id: string): Promise<Leftover | null>
}

/** What is left of a sandbox that was to be removed. */
export interface Leftover {
  folder: string
  /** For a person: why it is still there. */
  reason: string
}

export interface CommandSpec {
  /** Names the command for ever: starting it twice joins the first. */
  id: string
  command: CommandLine
  /** Inside, absolute or relative to the workspace; the workspace by default. */
  cwd?: string
  /** `root` may install packages, in a sandbox of docker's whose scope is the machine; the agent by default. */
  user?: 'agent' | 'root'
  env?: Record<string, string>
  stdin?: Uint8Array
  timeoutMs?: number | null
  /** Gives it a terminal: what it shows, stderr too, is its stdout, and it reads what is typed instead of `stdin`. */
  terminal?: TerminalSize
}

export interface CommandEnd {
  /** `lost`: its end could not be seen (its sandbox was killed). */
  status: 'exited' | 'timed-out' | 'cancelled' | 'lost'
  code: number | null
  signal: string | null
  durationMs: number
}

/** A command that was started, whether it still runs or not. */
export interface RunningCommand {
  readonly id: string
  /** Resolves when the command itself has ended, whatever its background children do. Never rejects. */
  readonly ended: Promise<CommandEnd>
  /** Bytes of output from `offset` on, at most `limit`; what is there now, without waiting. */
  read(stream: 'stdout' | 'stderr', offset: number, limit: number): Promise<Uint8Array>
  /** Bytes written so far. */
  size(stream: 'stdout' | 'stderr'): Promise<number>
  /**
   * Types on its terminal. Resolves when the terminal has taken it all; what comes after the command's end is dropped.
   * @throws InvalidOptionError where it has no terminal, EngineUnavailableError where its terminal takes nothing more
   */
  type(bytes: Uint8Array): Promise<void>
  /** Gives its terminal another size. @throws InvalidOptionError where it has no terminal */
  resize(size: TerminalSize): Promise<void>
  /** Ends the whole tree of processes. Resolves when nothing of it is left. */
  kill(reason: 'timed-out' | 'cancelled'): Promise<void>
  /**
   * Copies the whole output to two host files, then removes the run folder from the sandbox. Only after `ended`.
   * @param target null where nobody wants the output
   */
  collect(target: { stdout: string; stderr: string } | null): Promise<void>
}

export interface CheckpointOutcome {
  state: FilesState
  /** False where nothing had changed since the head: the state is the head's own. */
  changed: boolean
  /** Bytes that the new layers hold; null where that was not measured. */
  bytes: number | null
}

export interface RollbackOutcome {
  /** What was left, frozen; equal to the head where nothing had changed since. */
  left: CheckpointOutcome
  stopped: ProcessInfo[]
}

export interface PruneOutcome {
  /**
   * What layers have become, that was named before: where a state has the first number it means the second. Told again
   * each time until no kept state has the first any more.
   */
  became: Record<keyof FilesState, [number, number][]>
  /** True where processes hold layers that could be made one: they are when it is asked again later. */
  waits: boolean
}

export interface SandboxStatus {
  head: FilesState
  /** Results of the last 16 operations by id: what recovery asks for after a crash. */
  operations: ReadonlyMap<
    string,
    { kind: 'checkpoint'; outcome: CheckpointOutcome } | { kind: 'rollback'; outcome: RollbackOutcome }
  >
}

/** How a path of two states, an earlier and a later one, meets what the host has there. */
export interface Meeting {
  /** What the later state has; null for nothing. */
  after: EntryFacts | null
  /**
   * Whether the host has what the earlier state has. `shown`: that state shows what the host's folder has there, or has
   * not, so it cannot tell whether that was changed since.
   */
  host: 'same' | 'changed' | 'shown'
  /** The host has what the later state has. */
  arrived: boolean
}

export interface EntryFacts {
  kind: EntryKind
  /** Permissions, without setuid and setgid. */
  mode: number
  /** The bits of the mode that say what it is: `other` is a FIFO, a socket or a device. */
  format: number
  /** Bytes; null for anything but a file. */
  size: number | null
  /** Of a symlink. */
  target: Uint8Array | null
}

/** Parts of files, in order. */
export interface FilePieces {
  /** `writtenAt` is when the file was last written, milliseconds since 1970. */
  pieces: { index: number; bytes: Uint8Array; writtenAt: number }[]
  /** Where to go on; null where that was all. */
  next: { index: number; offset: number } | null
}

/** A state to read from: a frozen one, or what stands in the sandbox. */
export type ReadState = FilesState | 'now'

export interface Sandbox {
  readonly id: string
  readonly facts: SandboxFacts
  /** True where its processes and mounts are gone for good: only its layers can be read, until `destroy`. */
  readonly ended: boolean
  /**
   * What taking hold of it found to be lost, each as a sentence for a person: processes that died with the machine,
   * files that are no longer in view. Empty where it was found as it was left.
   */
  readonly losses: readonly string[]
  /**
   * True where taking hold of it found that the machine was started anew: what the caller wrote down last may be older
   * than its head, as neither waited for the other's disk.
   */
  readonly restarted: boolean
  status(): Promise<SandboxStatus>

  /** True where `pause` holds everything in it still; it stays so for whoever takes hold of it later. */
  readonly paused: boolean
  /**
   * Holds every process in it still until `unpause`, and starts no other: everything else goes on, `rollback` too, after
   * which it is paused as before. Time limits of commands stand still meanwhile. Does nothing where it is paused.
   * @throws EngineUnavailableError where something would not stand still: nothing is paused then
   */
  pause(): Promise<void>
  /** Does nothing where it is not paused. */
  unpause(): Promise<void>

  /** @throws InvalidPathError (cwd), InvalidOptionError (user), SessionPausedError, EngineUnavailableError, DiskFullError */
  exec(spec: CommandSpec): Promise<RunningCommand>
  /** Commands whose run folder is still there, running or ended: what a new host takes over. */
  commands(): Promise<RunningCommand[]>

  /**
   * Paths everywhere below are relative to the workspace, or absolute beneath it. No symlink that leads out is followed.
   * @returns the path inside, absolute
   * @throws InvalidPathError, DiskFullError
   */
  writeFile(path: string, content: Uint8Array): Promise<string>
  /** @throws InvalidPathError, FileNotFoundError, InvalidOptionError (over 128 MiB) */
  readFile(path: string, state?: ReadState): Promise<Uint8Array>

  /** Freezes what stands as new layers below a fresh top. The same `operation` again answers the same outcome. */
  checkpoint(operation: string): Promise<CheckpointOutcome>
  /** Freezes what stands, stops every process, mounts `to`. The same `operation` again answers the same outcome. */
  rollback(operation: string, to: FilesState): Promise<RollbackOutcome>
  /**
   * Frees what only other states than these need; what stands, and its head, are kept. Wherever it ends, the kept
   * states are whole, and asking again goes on from there. States may be given with numbers that have become others.
   */
  prune(kept: readonly FilesState[]): Promise<PruneOutcome>
  /**
   * Asked for before entries of the host's folder are changed by us: they are kept as they are, for what stands and for
   * every state that shows them. Does nothing where the base is a copy.
   * @param paths bytes as in a Change, relative to the workspace: a folder with all that is in it; what is not there is
   *   kept from showing
   * @returns false where that cannot be done (processes hold the files, or the sandbox has ended): nothing changed
   * @throws InvalidPathError, DiskFullError, EngineUnavailableError, with nothing changed
   */
  keepHostEntries(paths: readonly Uint8Array[]): Promise<boolean>
  /** Bytes on disk of everything that this sandbox holds. */
  usage(): Promise<number>

  /** Paths that differ in the workspace, sorted by path. */
  changes(from: ReadState, to: ReadState): Promise<Change[]>
  /**
   * Both sides of one path. Files over `textLimitBytes` are `large`.
   * @param path as in a Change: `rawPath`'s bytes where it has one
   */
  pair(path: Uint8Array, from: ReadState, to: ReadState, textLimitBytes: number): Promise<FilePair>

  /**
   * How entries meet what the host's folder has at the same paths, in the order of the paths.
   * @param paths bytes as in a Change
   */
  meetings(from: FilesState, to: ReadState, paths: readonly Uint8Array[]): Promise<Meeting[]>
  /**
   * Copies files of the workspace out of a state.
   * @param paths bytes as in a Change, of regular files
   * @param folder of the host, absolute, empty: the file at the first path becomes `0` in it, the next `1`, and so on
   * @param most bytes of all together
   * @returns false where there is more: the file that would be over it is not copied, nor what comes after it
   * @throws FileNotFoundError where one of them is none any more, DiskFullError; what was copied by then stays
   */
  extract(state: ReadState, paths: readonly Uint8Array[], folder: string, most?: number): Promise<boolean>
  /**
   * The bytes of files of the workspace as a state has them, one after another, at most `limit` at a time.
   * @param paths bytes as in a Change, of regular files
   * @param at the file and the offset in it to go on from
   * @throws FileNotFoundError where one of them is none any more
   */
  pieces(
    state: ReadState,
    paths: readonly Uint8Array[],
    at: { index: number; offset: number },
    limit: number,
  ): Promise<FilePieces>

  /**
   * When the workspace was last changed since its head was frozen, milliseconds since 1970; null where it was not. Costs
   * as much as was changed.
   */
  lastChange(): Promise<number | null>

  processes(): Promise<ProcessInfo[]>
  /** What runs, with what each process costs, and the ports that processes of the sandbox listen on. */
  activity(): Promise<{ processes: ProcessDetails[]; ports: ListeningPort[] }>
  /**
   * Ends one process: it is asked to, and made to where it does not, or where the sandbox is paused.
   * @param key of a process as `activity` told it
   * @returns false where it had ended
   */
  endProcess(key: string): Promise<boolean>
  /**
   * A connection to what listens on a port of its loopback, by IPv4 or IPv6; each side is ended by itself. It is broken
   * off with the sandbox, and with the process that listens. Where the sandbox is paused it stands still, as that does; more of
   * them than what listens lets wait are not there before it goes on.
   * @param signal of whoever no longer wants it; once it is there it is theirs
   * @throws where nothing listens (its `code` is ECONNREFUSED), or nobody takes it in half a minute (ETIMEDOUT);
   *   EngineUnavailableError; the signal's reason
   */
  connect(port: number, signal?: AbortSignal): Promise<Duplex>
  /** Lets go of it without ending it: processes go on, a later host attaches. */
  detach(): Promise<void>
  /** Ends processes and mounts; layers stay readable (changes, readFile, pair on frozen states) until `destroy`. */
  end(): Promise<void>
  /** Ends it and removes the layers. Resolves when nothing is left. */
  destroy(): Promise<void>
}
