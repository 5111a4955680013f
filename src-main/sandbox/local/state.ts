/**
 * What a sandbox's folder remembers: `spec.json`, written once, and `state.json`, replaced by every operation.
 *
 * state.json is the truth after a crash: an operation counts when its result stands here. It is written beside its
 * place and synced before anything is unmounted (a full disk is noticed while nothing has changed yet), and renamed
 * over it once the new view stands.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointOutcome, FilesState, RollbackOutcome, SandboxFacts, SandboxSpec } from '../sandbox.ts'

/** Everything an attach needs to build the sandbox again. */
export interface StoredSpec {
  version: 1
  spec: SandboxSpec
  facts: SandboxFacts
  mode: 'root' | 'user'
  agent: Agent
  /** Mount options that show the workspace with the agent as its owner; null where its owner is the agent. */
  idmap: string | null
}

/** Whom commands run as, inside. */
export interface Agent {
  uid: number
  gid: number
}

/** One overlay: what is mounted, and the frozen state that the session knows as its head. */
export interface OverlayState {
  /** The live layer, to which everything is written. */
  upper: number
  /** The frozen layers beneath it, top first. */
  lowers: number[]
  /** As `lowers`, unless the upper was last frozen as a copy because processes held it. */
  head: number[]
  /** Nanoseconds since 1970 before that copy was made, in decimal: entries of the upper changed since are new. */
  copiedAt: string | null
}

export type OperationResult =
  | { id: string; kind: 'checkpoint'; outcome: CheckpointOutcome }
  | { id: string; kind: 'rollback'; outcome: RollbackOutcome }

export interface Holder {
  pid: number
  /** In clock ticks since boot: with the pid it names a process for ever. */
  startTime: string
  /** Of its PID namespace. */
  namespace: string
}

export interface SandboxState {
  /** Raised by each host that takes hold; scripts of older ones are refused. */
  generation: number
  workspace: OverlayState
  machine: OverlayState
  /** The next number for a layer or work folder; none is used twice. */
  next: number
  /** Layers that went into the one beneath them, while somebody may still name them. */
  folded: LayerNumbers
  /** Live layers that a reboot may have torn, kept as they are. */
  aside: LayerNumbers
  /** The last ones, oldest first. */
  operations: OperationResult[]
  bootId: string
  holder: Holder | null
  /** Highest layer number that surely is on disk. */
  syncedThrough: number
  ended: boolean
}

/** Numbers of layers, per overlay. */
export interface LayerNumbers {
  workspace: number[]
  machine: number[]
}

/** A state without the layers that went into those beneath them. */
export const withoutFolded = (state: FilesState, folded: LayerNumbers): FilesState => ({
  workspace: state.workspace.filter((number) => !folded.workspace.includes(number)),
  machine: state.machine.filter((number) => !folded.machine.includes(number)),
})

/** Results that recovery may ask for. */
const OPERATIONS_KEPT = 16

export const withOperation = (state: SandboxState, result: OperationResult): SandboxState => ({
  ...state,
  operations: [...state.operations.filter(({ id }) => id !== result.id), result].slice(-OPERATIONS_KEPT),
})

/** Reads this boot's id: layers written without syncing are whole as long as it stays the same. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** What was written before layers could be folded says nothing of it. */
type Older<S extends SandboxState> = Omit<S, 'folded' | 'aside'> & Partial<Pick<S, 'folded' | 'aside'>>

export class StateFile {
  readonly #path: string

  constructor(folder: string) {
    this.#path = join(folder, 'state.json')
  }

  read(): SandboxState {
    const { folded, aside, ...rest } = JSON.parse(readFileSync(this.#path, 'utf8')) as Older<SandboxState>
    return { ...rest, folded: folded ?? { workspace: [], machine: [] }, aside: aside ?? { workspace: [], machine: [] } }
  }

  /**
   * Writes it beside its place, on disk.
   * @throws the system's ENOSPC and the like, with nothing left
   */
  prepare(state: SandboxState): void {
    const { generation, ...rest } = state
    // The generation has a line of its own, for the control shell's `read`.
    const text = `{"generation":${generation},\n${JSON.stringify(rest).slice(1)}\n`
    const path = `${this.#path}.new`
    try {
      const fd = openSync(path, 'w', 0o600)
      try {
        writeSync(fd, text)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
  }

  /** What was prepared counts from here on. */
  commit(): void {
    renameSync(`${this.#path}.new`, this.#path)
  }

  write(state: SandboxState): void {
    this.prepare(state)
    this.commit()
  }
}

export async function readSpec(folder: string): Promise<StoredSpec | null> {
  try {
    return JSON.parse(await readFile(join(folder, 'spec.json'), 'utf8')) as StoredSpec
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
