/**
 * The processes of a sandbox, seen and ended from the host: they are those of its PID namespace. A PID namespace can
 * be seen on any process of the same user (as root: on any), so no program has to be started for it.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Holder } from './state.ts'

export interface HostProcess {
  /** As the host numbers it. */
  pid: number
  parent: number
  /** R, S, D, T, Z, ... */
  state: string
  startTime: string
}

/**
 * @param proc a mounted /proc, which says whose numbers are meant
 * @returns null where there is no such process
 */
export function readProcess(pid: number, proc = '/proc'): HostProcess | null {
  try {
    const text = readFileSync(`${proc}/${pid}/stat`, 'latin1')
    // The name may hold blanks and brackets: fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(fields[1]), state: fields[0] ?? '', startTime: fields[19] ?? '' }
  } catch {
    return null
  }
}

/** The holder that a pid names now; null where that is no process 1 of a namespace. */
export function identifyHolder(pid: number): Holder | null {
  const found = readProcess(pid)
  const namespace = namespaceOf(pid)
  return found && namespace ? { pid, startTime: found.startTime, namespace } : null
}

export function isAlive({ pid, startTime, namespace }: Holder): boolean {
  const found = readProcess(pid)
  return found !== null && found.startTime === startTime && found.state !== 'Z' && namespaceOf(pid) === namespace
}

const namespaceOf = (pid: number): string | null => {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return null
  }
}

/** Everything alive in the holder's namespace but the holder itself. */
export function processesOf(holder: Holder): HostProcess[] {
  const found: HostProcess[] = []
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === holder.pid || namespaceOf(pid) !== holder.namespace) continue
    const process = readProcess(pid)
    if (process !== null && process.state !== 'Z') found.push(process)
  }
  return found
}

/**
 * How many processes the namespace has, the holder and dead ones included: read from the holder's own /proc, so that it
 * costs the same however much runs on the host. null where that cannot be seen.
 */
export function countInside({ pid }: Holder): number | null {
  try {
    return readdirSync(procInside({ pid })).filter((name) => /^\d+$/.test(name)).length
  } catch {
    return null
  }
}

/** The holder's own /proc, where processes are numbered as the sandbox sees them. */
export const procInside = ({ pid }: Pick<Holder, 'pid'>): string => `/proc/${pid}/root/proc`

/** Of what a process says of itself: more than our own launcher says, which is told by it. */
const SAID_BYTES = 64 << 10

/** The first words of its command line; none where it is ending and its memory is gone already. */
export function commandWords(pid: number): string[] {
  try {
    const text = beginningOf(`/proc/${pid}/cmdline`)
    return text === '' ? [] : text.replace(/\0$/, '').split('\0')
  } catch {
    return []
  }
}

/** Its number inside, where it is one of the last namespaces' own. */
export function pidInside(pid: number): number | null {
  try {
    const ids = /^NSpid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]?.split('\t')
    return Number(ids?.[1] ?? ids?.[0])
  } catch {
    return null
  }
}

/** Sends a signal to a process that may have ended meanwhile. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Ends what `find` finds, until it finds nothing: everything is stopped first, so that nothing starts more of itself.
 * @returns whether nothing is left within the time
 */
export async function killUntilNone(find: () => readonly HostProcess[], limitMs = 5_000): Promise<boolean> {
  const end = Date.now() + limitMs
  for (;;) {
    const seen = new Set<number>()
    for (let grown = true; grown; ) {
      grown = false
      for (const { pid } of find()) {
        if (seen.has(pid)) continue
        seen.add(pid)
        grown = true
        signal(pid, 'SIGSTOP')
      }
    }
    if (seen.size === 0) return true
    for (const pid of seen) signal(pid, 'SIGKILL')
    if (Date.now() > end) return false
    await sleep(1)
  }
}

/** Those of `all` that a command started: descendants of one of its own, or with its mark in their environment. */
export function treeOf(command: string, all: readonly HostProcess[], roots: ReadonlySet<number>): HostProcess[] {
  const mark = `REWIND_COMMAND=${command}`
  const tree = new Map<number, HostProcess>()
  for (const one of all) if (roots.has(one.pid) || environmentOf(one.pid).includes(mark)) tree.set(one.pid, one)
  for (let before = -1; before !== tree.size; ) {
    before = tree.size
    for (const one of all) if (tree.has(one.parent)) tree.set(one.pid, one)
  }
  return [...tree.values()]
}

/** Processes that were started with one word in their environment. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && environmentOf(pid).includes(word))
}

/**
 * What follows a word's beginning in the environment that a process was started with; null where no word begins so, as
 * far as it is looked through.
 */
export function environmentWord(pid: number, beginning: string): string | null {
  try {
    const words = beginningOf(`/proc/${pid}/environ`).split('\0')
    return words.find((word) => word.startsWith(beginning))?.slice(beginning.length) ?? null
  } catch {
    return null
  }
}

function beginningOf(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const bytes = Buffer.allocUnsafe(SAID_BYTES)
    let filled = 0
    for (let got = -1; got !== 0 && filled < bytes.length; filled += got)
      got = readSync(fd, bytes, filled, bytes.length - filled, null)
    return bytes.toString('utf8', 0, filled)
  } finally {
    closeSync(fd)
  }
}

const environmentOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}
