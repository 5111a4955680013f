/**
 * The layer trees of a sandbox on disk. What changed last stands in state.json, with whose rename it begins to count; when
 * that has become much, it is appended here, synced, and left out there from then on. So an operation writes what it
 * changed, however many layers there are, and waits for the disk once. A change may stand in both: doing it again
 * changes nothing, and a line that a crash cut short is in state.json still.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeChange } from './layer-tree.ts'
import type { Overlay } from './layers.ts'

export type Change = readonly [Overlay, ...TreeChange]

/** As state.json has it. */
export interface FiledChanges {
  /** Number of the file that holds what came before; null where there is none yet. */
  file: number | null
  /** Oldest first. */
  recent: readonly Change[]
}

/** Changes that state.json may hold before they are appended. */
const RECENT = 64
/** A file with more lines than this, and more than twice what there is to say, is written anew. */
const LINES = 4096

export class TreeFile {
  readonly #folder: string
  #file: number | null
  #lines: number
  /** Bytes of whole lines: what follows was cut short by a crash. */
  #length: number
  #recent: Change[]
  /** The first that may still be there. */
  #oldest: number
  /** What the file held when it was opened. */
  readonly older: readonly Change[]

  constructor(folder: string, { file, recent }: FiledChanges) {
    this.#folder = folder
    this.#file = file
    this.#oldest = file ?? 0
    this.#recent = [...recent]
    const text = file === null ? '' : readFileSync(this.#path(file), 'utf8')
    this.#length = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1))
    this.older = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Change)
    this.#lines = this.older.length
  }

  /** For state.json. */
  get filed(): FiledChanges {
    return { file: this.#file, recent: this.#recent }
  }

  record(change: Change): void {
    this.#recent.push(change)
  }

  /**
   * Moves what is recent into the file where it is much; the next state.json is smaller then.
   * @param all what there is to say, asked for where the file is written anew
   * @throws the system's ENOSPC and the like: everything is where it was
   */
  tidy(all: () => Change[]): void {
    if (this.#recent.length <= RECENT) return
    const moved = this.#recent.length
    if (this.#file === null) this.#rewrite(all())
    else if (this.#lines + moved > LINES && this.#lines + moved > 2 * all().length) this.#rewrite(all())
    else {
      this.#length = write(this.#path(this.#file), this.#length, this.#recent)
      this.#lines += moved
      this.#recent = []
    }
  }

  /** state.json names this file now: those before it are of no use. */
  named(file: number | null): void {
    for (; this.#oldest < (file ?? 0); this.#oldest++) rmSync(this.#path(this.#oldest), { force: true })
  }

  #rewrite(changes: readonly Change[]): void {
    const file = (this.#file ?? 0) + 1
    this.#length = write(this.#path(file), 0, changes)
    this.#file = file
    this.#lines = changes.length
    this.#recent = []
  }

  #path(file: number): string {
    return join(this.#folder, `layers-${file}`)
  }
}

/** @returns the length of the file */
function write(path: string, at: number, changes: readonly Change[]): number {
  const bytes = Buffer.from(changes.map((change) => `${JSON.stringify(change)}\n`).join(''))
  const fd = openSync(path, at === 0 ? 'w' : 'r+', 0o600)
  try {
    ftruncateSync(fd, at)
    let written = 0
    while (written < bytes.length) written += writeSync(fd, bytes, written, bytes.length - written, at + written)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  return at + bytes.length
}
