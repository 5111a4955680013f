/** For tests: the workspace as it is mounted in a sandbox of this process, to be read and written from here. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readProcess } from './processes.ts'

/**
 * @param folder the sandbox's folder on the host
 * @param workspace its path inside
 * @returns a path for this process, good until the control shell is replaced
 */
export function viewOf(folder: string, workspace: string): string {
  for (const pid of readdirSync('/proc').filter((name) => Number(name) > 0)) {
    if (readProcess(Number(pid))?.parent !== process.pid) continue
    const view = `/proc/${pid}/root/run/m${workspace}`
    const own = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`FOLDER=${folder}`)
    if (own && existsSync(view)) return view
  }
  throw new Error(`no control shell of ${folder} is a child of this process`)
}
