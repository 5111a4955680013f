/**
 * What the host may ask of the engine within a container: the calls, each answered once. The engine serves one sandbox,
 * that of its container.
 */

import type {
  Change,
  FilePair,
  ListeningPort,
  ProcessDetails,
  ProcessInfo,
  TerminalSize,
} from '../../contract/index.ts'
import type {
  CheckpointOutcome,
  CommandEnd,
  CommandSpec,
  FilePieces,
  FilesState,
  Meeting,
  PruneOutcome,
  ReadState,
  RollbackOutcome,
  SandboxFacts,
  SandboxSpec,
  SandboxStatus,
} from '../sandbox.ts'

/** Where things are in a container. All of ours lies in one folder, which no command sees. */
export const OURS = '/rewind'
/** The volume: layers, and all that is known of the sandbox. */
export const VOLUME = `${OURS}/volume`
/** The host's workspace, read-only. */
export const SOURCE = `${OURS}/workspace`
/** The workspace as commands see it. */
export const WORKSPACE = '/workspace'

/** Exit codes of what starts the engine: its code is not in the container; the image lacks what stderr names. */
export const NO_CODE = 78
export const LACKS = 79

/** What a host learns of the sandbox that it took hold of. */
export interface Taken {
  facts: SandboxFacts
  losses: string[]
  restarted: boolean
  ended: boolean
  paused: boolean
}

type Stream = 'stdout' | 'stderr'

/** A type, so that it is a table of methods to whoever carries them out. */
export type InsideCalls = {
  /** Answered at once by an engine that runs. */
  hello(): Promise<void>
  /** @param host names the host for ever */
  create(host: string, spec: SandboxSpec): Promise<Taken>
  /** Whoever took hold before is refused from here on. */
  attach(host: string): Promise<Taken>
  /** As `attach`, by a host whose engine was lost. @throws EngineUnavailableError where another host has taken hold since */
  return(host: string): Promise<Taken>
  /** To read its layers only. */
  open(): Promise<Taken>

  status(): Promise<SandboxStatus>
  pause(): Promise<void>
  unpause(): Promise<void>
  exec(spec: CommandSpec): Promise<void>
  commands(): Promise<string[]>
  /** Answered when the command has ended; null where nothing is known of it any more. */
  ended(command: string): Promise<CommandEnd | null>
  read(command: string, stream: Stream, offset: number, limit: number): Promise<Uint8Array>
  size(command: string, stream: Stream): Promise<number>
  type(command: string, bytes: Uint8Array): Promise<void>
  resize(command: string, size: TerminalSize): Promise<void>
  kill(command: string, reason: 'timed-out' | 'cancelled'): Promise<void>
  /** Removes its run folder. */
  discard(command: string): Promise<void>

  writeFile(path: string, content: Uint8Array): Promise<string>
  readFile(path: string, state: ReadState): Promise<Uint8Array>
  checkpoint(operation: string): Promise<CheckpointOutcome>
  rollback(operation: string, to: FilesState): Promise<RollbackOutcome>
  prune(kept: readonly FilesState[]): Promise<PruneOutcome>
  keepHostEntries(paths: readonly Uint8Array[]): Promise<boolean>
  usage(): Promise<number>
  changes(from: ReadState, to: ReadState): Promise<Change[]>
  pair(path: Uint8Array, from: ReadState, to: ReadState, textLimitBytes: number): Promise<FilePair>
  meetings(from: FilesState, to: ReadState, paths: readonly Uint8Array[]): Promise<Meeting[]>
  /** The bytes of files one after another, at most `limit` of them: the container cannot write to the host. */
  pieces(
    state: ReadState,
    paths: readonly Uint8Array[],
    at: { index: number; offset: number },
    limit: number,
  ): Promise<FilePieces>
  lastChange(): Promise<number | null>
  processes(): Promise<ProcessInfo[]>
  activity(): Promise<{ processes: ProcessDetails[]; ports: ListeningPort[] }>
  endProcess(key: string): Promise<boolean>
  /** The words of a relay into the sandbox's network, to be run in the container as root. */
  relay(): Promise<string[]>
  end(): Promise<void>
}
