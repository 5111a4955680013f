/**
 * What runs in a sandbox and what listens in it, read from the host's /proc: the processes are the agent's, so all that
 * they say of themselves is only shown.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { ListeningPort, ProcessDetails } from '../../contract/index.ts'
import { commandWords, environmentWord, type HostProcess, pidInside, readProcess } from './processes.ts'

/** What /proc counts a second in, on every Linux. */
const TICKS_A_SECOND = 100
/** Sockets of more processes are not looked for: that would take longer than anybody waits. */
const LOOKED_THROUGH = 500

/**
 * @param processes the agent's
 * @param commandOf the id of the command that a run folder is of
 */
export function activityOf(
  processes: readonly HostProcess[],
  commandOf: (folder: string) => string | null,
): { processes: ProcessDetails[]; ports: ListeningPort[] } {
  const byPid = new Map(processes.map((one) => [one.pid, one]))
  const began = bootTime()
  const found = new Map<number, ProcessDetails>()
  for (const one of processes) {
    const inside = pidInside(one.pid)
    const command = commandWords(one.pid).join(' ')
    const stat = statOf(one.pid)
    if (inside === null || command === '' || stat === null) continue
    found.set(one.pid, {
      pid: inside,
      command,
      key: keyOf(inside, one),
      commandId: startedBy(one, byPid, commandOf),
      startedAt: new Date(began + (Number(one.startTime) / TICKS_A_SECOND) * 1000),
      cpuMs: (stat.ticks / TICKS_A_SECOND) * 1000,
      rssBytes: residentBytes(one.pid),
    })
  }
  return { processes: [...found.values()].sort((a, b) => a.pid - b.pid), ports: portsOf(found) }
}

/** Names a process for as long as it lives, and no other that gets its number. */
export const keyOf = (inside: number, { startTime }: HostProcess): string => `${inside}-${startTime}`

/** The command whose mark it has in its environment, or the nearest of those that it descends from. */
function startedBy(
  one: HostProcess,
  byPid: ReadonlyMap<number, HostProcess>,
  commandOf: (folder: string) => string | null,
): string | null {
  for (let at: HostProcess | undefined = one, steps = 0; at && steps < byPid.size; at = byPid.get(at.parent), steps++) {
    const mark = environmentWord(at.pid, 'REWIND_COMMAND=')
    const id = mark === null ? null : commandOf(mark)
    if (id !== null) return id
  }
  return null
}

function portsOf(processes: ReadonlyMap<number, ProcessDetails>): ListeningPort[] {
  const ports = new Map<string, ListeningPort>()
  let listening: Map<string, { address: string; port: number }> | null = null
  for (const [pid, { pid: inside, command }] of [...processes].slice(0, LOOKED_THROUGH)) {
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
