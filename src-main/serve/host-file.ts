/**
 * host.json: what the running host says about itself, for its owner alone. It is a hint and never a lock: after
 * kill -9 it stays behind and names a process that is gone, so readers check what it says.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface HostFile {
  pid: number
  version: string
  kind: 'app' | 'headless'
  /** Path of the local socket. */
  socket: string
  /** Where browsers find it; null until it listens. */
  url: string | null
  /** Where agents come in over HTTP, and the token that they show. */
  mcp: string | null
  token: string | null
  /** ISO 8601 */
  startedAt: string
}

const fileOf = (home: string) => join(home, 'host.json')

/** @returns what host.json says; null where there is none or it is not readable as such */
export function readHostFile(home: string): HostFile | null {
  try {
    const parsed = JSON.parse(readFileSync(fileOf(home), 'utf8')) as Partial<HostFile>
    if (typeof parsed.pid !== 'number' || typeof parsed.socket !== 'string') return null
    return parsed as HostFile
  } catch {
    return null
  }
}

/** Replaces host.json in one step, so that no reader ever sees half of it. */
export function writeHostFile(home: string, host: HostFile): void {
  const draft = `${fileOf(home)}.${process.pid}.tmp`
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify(host, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, fileOf(home))
}

export const removeHostFile = (home: string): void => rmSync(fileOf(home), { force: true })

/** Whether a process of that id lives, also one that we may not signal. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
