/**
 * What a sandbox's folder remembers: `spec.json`, written once, and `state.json`, replaced by every operation. The trees of
 * its layers are part of that state; most of them lie beside it (see tree-file.ts).
 *
 * state.json is the truth after a crash: an operation counts when its result stands here. It is written beside its
 * place and synced before anything is unmounted (a full disk is noticed while nothing has changed yet), and renamed
 * over it once the new view stands.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointOutcome, FilesState, RollbackOutcome, SandboxFacts, SandboxSpec } from '../sandbox.ts'
import { BASE, LayerTree } from './layer-tree.ts'
import type { Overlay } from './layers.ts'
import { type OlderState, upgrade } from './older-state.ts'
import { type Change, type FiledChanges, TreeFile } from './tree-file.ts'

/** Everything an attach needs to build the sandbox again. */
export interface StoredSpec {
  version: 1
  spec: SandboxSpec
  facts: SandboxFacts
  mode: 'root' | 'user'
  agent: Agent
  /** Mount options that show the workspace with the agent as its owner; null where its owner is the agent. */
  idmap: string | null
  /** What the workspace was on the host; left out by older versions. */
  identity?: FolderIdentity | null
}

/** A folder whatever it is called, also after the machine was started anew. */
export interface FolderIdentity {
  ino: number
  birthtimeMs: number
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
  /** The frozen layer that it stands on. */
  on: number
  /** What is mounted beneath it, top first: folders that show the chain from `on`, compact ones among them. */
  lowers: number[]
  /** As `on`, unless the upper was last frozen as a copy because processes held it. */
  head: number
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
  version: 2
  /** Raised by each host that takes hold; scripts of older ones are refused. */
  generation: number
  workspace: OverlayState
  machine: OverlayState
  /** The next number for a layer or work folder; none is used twice. */
  next: number
  /** Live layers that a reboot may have torn, kept as they are. */
  aside: LayerNumbers
  /** The last ones, oldest first. */
  operations: OperationResult[]
  bootId: string
  holder: Holder | null
  /** How often something was frozen. */
  frozen: number
  /** What that was when all of it surely was on disk. */
  syncedThrough: number
  ended: boolean
  /**
   * When it was paused, oldest first, as far as commands were running then; the last one may last. Left out by older
   * versions.
   */
  pauses?: Pause[]
}

/** Milliseconds since 1970; null while it lasts. */
export interface Pause {
  from: number
  to: number | null
}

/** Numbers of layers, per overlay. */
export interface LayerNumbers {
  workspace: number[]
  machine: number[]
}

/** Results that recovery may ask for. */
const OPERATIONS_KEPT = 16

export const withOperation = (state: SandboxState, result: OperationResult): SandboxState => ({
  ...state,
  operations: [...state.operations.filter(({ id }) => id !== result.id), result].slice(-OPERATIONS_KEPT),
})

/** Reads this boot's id: layers written without syncing are whole as long as it stays the same. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

export class StateFile {
  readonly #path: string
  readonly #file: TreeFile
  readonly #read: SandboxState
  /** The file of the trees that a prepared state names. */
  #names: number | null = null
  readonly trees: Readonly<Record<Overlay, LayerTree>>

  /** @throws the system's ENOENT where there is none */
  constructor(folder: string) {
    this.#path = join(folder, 'state.json')
    const { layers, ...state } = upgraded(JSON.parse(readFileSync(this.#path, 'utf8')) as StoredState, folder)
    this.#read = state
    this.#file = new TreeFile(folder, layers)
    const changes = [...this.#file.older, ...layers.recent]
    const treeOf = (overlay: Overlay): LayerTree =>
      new LayerTree(
        changes.flatMap(([of, ...change]) => (of === overlay ? [change] : [])),
        (change) => this.#file.record([overlay, ...change]),
      )
    this.trees = { workspace: treeOf('workspace'), machine: treeOf('machine') }
  }

  /** Makes the first one, of a sandbox that has nothing but its base. */
  static first(folder: string, state: SandboxState): void {
    write(join(folder, 'state.json'), { ...state, layers: { file: null, recent: [] } })
  }

  /** As it was when this was opened. */
  read(): SandboxState {
    return this.#read
  }

  /**
   * Writes it beside its place, on disk.
   * @throws the system's ENOSPC and the like, with nothing left
   */
  prepare(state: SandboxState): void {
    this.#write(state, true)
  }

  #write(state: SandboxState, synced: boolean): void {
    const { filed } = this.#file
    const path = `${this.#path}.new`
    try {
      write(path, { ...state, layers: filed }, synced)
      this.#names = filed.file
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
  }

  /** Whether there is room for it, as far as that can be known without waiting for the disk. @throws the system's ENOSPC */
  tryRoom(state: SandboxState): void {
    this.#write(state, false)
  }

  /** What was prepared counts from here on. */
  commit(): void {
    renameSync(`${this.#path}.new`, this.#path)
    this.#file.named(this.#names)
  }

  write(state: SandboxState): void {
    this.prepare(state)
    this.commit()
  }

  /** Keeps the next one small, however much was changed. @throws the system's ENOSPC and the like: nothing is lost */
  tidy(): void {
    this.#file.tidy(() =>
      (['workspace', 'machine'] as const).flatMap((overlay) =>
        [...this.trees[overlay].changes()].map((change): Change => [overlay, ...change]),
      ),
    )
  }
}

type StoredState = (SandboxState & { layers: FiledChanges }) | OlderState

/** The generation has a line of its own, for the control shell's `read`. */
function write(path: string, { generation, ...rest }: SandboxState & { layers: FiledChanges }, synced = true): void {
  const fd = openSync(path, 'w', 0o600)
  try {
    writeSync(fd, `{"generation":${generation},\n${JSON.stringify(rest).slice(1)}\n`)
    if (synced) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function upgraded(state: StoredState, folder: string): SandboxState & { layers: FiledChanges } {
  return 'version' in state ? state : upgrade(state, folder)
}

/** Point 0. */
export const BASE_STATE: FilesState = { workspace: BASE, machine: BASE }

export async function readSpec(folder: string): Promise<StoredSpec | null> {
  try {
    const stored = JSON.parse(await readFile(join(folder, 'spec.json'), 'utf8')) as StoredSpec
    return { ...stored, facts: { ...stored.facts, baseState: BASE_STATE } }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
