/** Processes that outlive their sandbox: what a test that cleans up must not leave. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface LeftBehind {
  pid: number
  command: string
}

/**
 * @returns processes that see a mount from below a folder. Those that share this process's mounts are the machine's own:
 * where a test left a mount there, all of them see it.
 */
function processesIn(folder: string): LeftBehind[] {
  if (process.platform !== 'linux') return []
  const mountsOf = (pid: string) => readlinkSync(`/proc/${pid}/ns/mnt`)
  const own = mountsOf('self')
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || mountsOf(pid) === own) return []
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

/** Takes away what is still mounted below a folder, also where it is in use. @returns where it was */
export function unmountBelow(folder: string): string[] {
  if (process.platform !== 'linux') return []
  const mounted = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
  // The newest stands on the others.
  for (const path of mounted.toReversed()) spawnSync('umount', ['-l', path], { stdio: 'inherit' })
  return mounted
}
