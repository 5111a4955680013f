/** Has a process of its own compare two databases, and ends it when its time or its answer grows too large. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabasePair, DatabaseTable } from '../contract/database.ts'
import type { DatabaseFiles, Found } from './compare.ts'

const TIME_MS = 10_000
/** What an expression in a schema makes of a row may be half a gigabyte, several times. */
const MEMORY_BYTES = 700 << 20
const LOOK_MS = 50
const PAGE_BYTES = 4096
const ANSWER_BYTES = 32 << 20

interface Most {
  timeMs?: number
  memoryBytes?: number
  /** Ends it at once. */
  signal?: AbortSignal | undefined
}

/**
 * @param files in a folder that is private to us: SQLite keeps an index of a `-wal` beside it
 * @param most what was found by then is the answer
 */
export async function askForTables(
  files: DatabaseFiles,
  { timeMs = TIME_MS, memoryBytes = MEMORY_BYTES, signal }: Most = {},
): Promise<DatabasePair> {
  const child = spawn(process.execPath, [entry(), JSON.stringify(files)], {
    cwd: '/',
    // It reads nothing: its input ends with us, and it ends with that.
    stdio: ['pipe', 'pipe', 'ignore'],
    // Electron is Node then.
    env: { ELECTRON_RUN_AS_NODE: '1' },
  })
  const end = () => child.kill('SIGKILL')
  let why: string | null = null
  const stop = (reason: string) => {
    why = reason
    end()
  }
  const callOff = () => stop('it was called off')
  signal?.addEventListener('abort', callOff)
  if (signal?.aborted) callOff()
  const timer = setTimeout(() => stop('it takes too long'), timeMs)
  const look = setInterval(() => {
    if (memoryOf(child.pid) > memoryBytes) stop('it takes too much memory')
  }, LOOK_MS)
  const collected = new Collected()
  try {
    let bytes = 0
    let text = ''
    child.stdout.setEncoding('utf8')
    const closed = new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject))
    child.stdout.on('data', (part: string) => {
      bytes += part.length
      if (bytes > ANSWER_BYTES) {
        stop('there is too much of it')
        return
      }
      const lines = `${text}${part}`.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) collected.take(JSON.parse(line) as Found)
    })
    await closed
  } finally {
    clearTimeout(timer)
    clearInterval(look)
    signal?.removeEventListener('abort', callOff)
    end()
  }
  return collected.answer(why ?? (child.exitCode === 0 ? null : 'the process that read it died'))
}

/** Bytes in memory; 0 where the system does not tell. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}

/** In the sources it lies beside this module; in the built product at the top, wherever this went. */
function entry(): string {
  if (import.meta.url.endsWith('.ts')) return join(import.meta.dirname, 'reader.ts')
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const path = join(at, 'database-reader.js')
    if (existsSync(path) || dirname(at) === at) return path
  }
}

class Collected {
  #tables: DatabaseTable[] | null = null
  #problem: DatabasePair | null = null
  #left = 0
  #isCut = false
  readonly #finished = new Set<number>()

  take(said: Found): void {
    if (said.found === 'problem') this.#problem = { kind: 'unreadable', side: said.side, reason: said.reason }
    else if (said.found === 'tables') {
      this.#tables = said.tables
      this.#left = said.left
      this.#isCut = said.isCut
    } else if (this.#tables) {
      this.#tables[said.at] = said.table
      if (said.table.counts !== null || said.table.problem !== null) this.#finished.add(said.at)
    }
  }

  /** @param why it was ended before its time */
  answer(why: string | null): DatabasePair {
    if (this.#problem) return this.#problem
    if (this.#tables === null) return { kind: 'unreadable', side: null, reason: why ?? 'nothing was found' }
    const tables = this.#tables.map((table, at) =>
      why === null || table.kind !== 'table' || this.#finished.has(at)
        ? table
        : { ...table, problem: `Its rows were not compared: ${why}.` },
    )
    const notes = [
      ...(this.#left > 0 ? [`and ${this.#left} more, which were not looked at`] : []),
      ...(this.#isCut
        ? ['Its schema has more entries than are compared: those that come last by name are left out.']
        : []),
    ]
    return { kind: 'tables', tables, notes }
  }
}
