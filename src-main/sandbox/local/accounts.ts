/** Who the agent is: its user and group, and the lines by which programs inside find it (git, ssh, initdb ask). */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Agent } from './state.ts'

/** In place of root, which no command is. */
const SUBSTITUTE = 1000

/** As root the owner of the workspace, so that what the agent makes belongs to whom it will; else the user itself. */
export function agentFor(workspace: string): Agent {
  const own = process.getuid?.() ?? SUBSTITUTE
  if (own !== 0) return { uid: own, gid: process.getgid?.() ?? own }
  const { uid, gid } = statSync(workspace)
  return uid === 0 ? { uid: SUBSTITUTE, gid: SUBSTITUTE } : { uid, gid: gid === 0 ? uid : gid }
}

/** The home that the host gives the agent's user. */
export const homeOf = ({ uid }: Agent): string =>
  passwdLines()
    .find((line) => Number(line.split(':')[2]) === uid)
    ?.split(':')[5] ?? homedir()

/** The host's passwd with the agent's home moved to its empty one, and a line for it where it has none. */
export function passwdFor({ uid, gid }: Agent, home: string): { text: string; name: string } {
  const lines = passwdLines()
  const found = lines.find((line) => Number(line.split(':')[2]) === uid)
  const name = found?.split(':')[0] ?? 'agent'
  const own = `${name}:x:${uid}:${gid}:Agent:${home}:/bin/sh`
  return { text: `${[own, ...lines.filter((line) => line !== found)].join('\n')}\n`, name }
}

export function groupFor({ gid }: Agent, name: string): string {
  const lines = readLines('/etc/group')
  const known = lines.some((line) => Number(line.split(':')[2]) === gid)
  return `${(known ? lines : [...lines, `${name}:x:${gid}:`]).join('\n')}\n`
}

const passwdLines = (): string[] => readLines('/etc/passwd')

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
