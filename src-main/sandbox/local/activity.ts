/**
 * What runs in a sandbox and what listens in it, read from the host's /proc: the processes are the agent's, so all that
 * they say of themselves is only shown.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { ListeningPort, ProcessDetails } from '../../contract/index.ts'
import { commandWords, environmentWord, type HostProcess, pidInside, readProcess } from './processes.ts'

/** What /proc counts a second in, on every Linux. */
const TICKS_A_SECOND = 100
/** More processes are not described: that would hold up the host, and nobody reads as many. */
const MOST = 500
/** Characters of a command line. */
const COMMAND_SHOWN = 4096

/**
 * @param processes of which some may be no agent's
 * @param commandOf the id of the command that a run folder is of
 */
export function activityOf(
  processes: readonly HostProcess[],
  commandOf: (folder: string) => string | null,
  isAgents: (one: HostProcess) => boolean,
  most = MOST,
): { processes: ProcessDetails[]; ports: ListeningPort[] } {
  const byPid = new Map(processes.map((one) => [one.pid, one]))
  const began = bootTime()
  const startedBy = new Starters(byPid, commandOf)
  const found = new Map<number, ProcessDetails>()
  for (const one of processes) {
    if (found.size === most) break
    if (!isAgents(one)) continue
    const inside = pidInside(one.pid)
    const command = commandWords(one.pid).join(' ')
    const stat = statOf(one.pid)
    if (inside === null || command === '' || stat === null) continue
    found.set(one.pid, {
      pid: inside,
      command: command.length > COMMAND_SHOWN ? `${command.slice(0, COMMAND_SHOWN)}…` : command,
      key: keyOf(inside, one),
      commandId: startedBy.command(one),
      startedAt: new Date(began + (Number(one.startTime) / TICKS_A_SECOND) * 1000),
      cpuMs: (stat.ticks / TICKS_A_SECOND) * 1000,
      rssBytes: residentBytes(one.pid),
    })
  }
  return { processes: [...found.values()].sort((a, b) => a.pid - b.pid), ports: portsOf(found) }
}

/** Names a process for as long as it lives, and no other that gets its number. */
export const keyOf = (inside: number, { startTime }: HostProcess): string => `${inside}-${startTime}`

/** Each process is looked at once, however many descend from it. */
class Starters {
  readonly #byPid: ReadonlyMap<number, HostProcess>
  readonly #commandOf: (folder: string) => string | null
  readonly #known = new Map<number, string | null>()

  constructor(byPid: ReadonlyMap<number, HostProcess>, commandOf: (folder: string) => string | null) {
    this.#byPid = byPid
    this.#commandOf = commandOf
  }

  /** The command whose mark it has in its environment, or the nearest of those that it descends from. */
  command(one: HostProcess): string | null {
    const way: number[] = []
    let found: string | null = null
    for (let at: HostProcess | undefined = one; at && found === null; at = this.#byPid.get(at.parent)) {
      const known = this.#known.get(at.pid)
      found = known ?? null
      if (known !== undefined) break
      // Known at once: numbers that were given anew may make a circle.
      this.#known.set(at.pid, null)
      way.push(at.pid)
      const mark = environmentWord(at.pid, 'REWIND_COMMAND=')
      found = mark === null ? null : this.#commandOf(mark)
    }
    for (const pid of way) this.#known.set(pid, found)
    return found
  }
}

function portsOf(processes: ReadonlyMap<number, ProcessDetails>): ListeningPort[] {
  const ports = new Map<string, ListeningPort>()
  let listening: Map<string, { address: string; port: number }> | null = null
  for (const [pid, { pid: inside, command }] of processes) {
    const sockets = socketsOf(pid)
    if (sockets.length === 0) continue
    // All of them are in one network.
    listening ??= listeningIn(pid)
    for (const inode of sockets) {
      const at = listening.get(inode)
      const name = at && `${at.address} ${at.port}`
      // A server's children have its socket too: the one that was there first is shown.
      if (at && name && !ports.has(name)) ports.set(name, { ...at, pid: inside, command })
    }
  }
  return [...ports.values()].sort((a, b) => a.port - b.port || a.address.localeCompare(b.address))
}

/** Inodes of the sockets that a process holds. */
function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []
      return inode === undefined ? [] : [inode]
    })
  } catch {
    // It ended meanwhile, or one of its files was closed: the next look sees it again.
    return []
  }
}

/** Sockets that listen in the network of a process, by inode. */
function listeningIn(pid: number): Map<string, { address: string; port: number }> {
  const found = new Map<string, { address: string; port: number }>()
  for (const file of ['tcp', 'tcp6']) {
    let text = ''
    try {
      text = readFileSync(`/proc/${pid}/net/${file}`, 'latin1')
    } catch {
      // No such protocol here, or the process ended.
    }
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state === LISTENS && inode) found.set(inode, { address: addressOf(address), port: Number.parseInt(port, 16) })
    }
  }
  return found
}

const LISTENS = '0A'

/** The kernel writes each 32 bits in the machine's own order, which is little-endian wherever this runs. */
export function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0))
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return bytes.slice(12).join('.')
  const text = groups.map((group) => group.toString(16)).join(':')
  return text.replace(/(^|:)0(:0)+($|:)/, '::')
}

function statOf(pid: number): { ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { ticks: Number(fields[11]) + Number(fields[12]) }
  } catch {
    return null
  }
}

function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Milliseconds since 1970. */
const bootTime = (): number => Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0) * 1000

/** Whether it is still the process that was meant. */
export const isStill = ({ pid, startTime }: HostProcess): boolean => {
  const now = readProcess(pid)
  return now !== null && now.startTime === startTime && now.state !== 'Z'
}
