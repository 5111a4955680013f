/** Processes that outlive their sandbox: what a test that cleans up must not leave. */
import { readdirSync, readFileSync } from 'node:fs'

export interface LeftBehind {
  pid: number
  command: string
}

/** @returns processes, other than this one, that see a mount from below a folder */
export function processesIn(folder: string): LeftBehind[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(`${folder}/`)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 80)
      return [{ pid: Number(pid), command }]
    } catch {
      // It ended while we looked.
      return []
    }
  })
}

/** Ends them. @returns those that there were */
export function endProcessesIn(folder: string): LeftBehind[] {
  const left = processesIn(folder)
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It went with its parent.
    }
  }
  return left
}
