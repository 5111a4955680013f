/** For tests: the workspace of a sandbox as it is mounted, to be read and written from here, and what it is made of. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FilesState } from '../sandbox.ts'
import { readProcess } from './processes.ts'
import { StateFile } from './state.ts'

/** The layers of a state's workspace as they were frozen, top first, by the sandbox's own record on disk. */
export function chainOf(folder: string, { workspace }: FilesState): number[] {
  const tree = new StateFile(folder).trees.workspace
  return tree.chain(tree.resolve(workspace))
}

/** The folders that would be mounted for a state's workspace, top first. */
export function stackOf(folder: string, { workspace }: FilesState): number[] {
  const tree = new StateFile(folder).trees.workspace
  return tree.stack(tree.resolve(workspace))
}

/** @returns the pid of the control shell that a child of this process is, for the sandbox of this folder; null without */
export function controlShellOf(folder: string): number | null {
  for (const name of readdirSync('/proc').filter((name) => Number(name) > 0)) {
    if (readProcess(Number(name))?.parent !== process.pid) continue
    try {
      const environ = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0')
      if (environ.includes(`FOLDER=${folder}`) && existsSync(`/proc/${name}/root/run/m`)) return Number(name)
    } catch {
      // It ended in the meantime.
    }
  }
  return null
}

/**
 * @param folder the sandbox's folder on the host
 * @param workspace its path inside
 * @returns a path for this process, good until the control shell is replaced
 */
export function viewOf(folder: string, workspace: string): string {
  const shell = controlShellOf(folder)
  const view = `/proc/${shell}/root/run/m${workspace}`
  if (shell === null || !existsSync(view)) throw new Error(`no control shell of ${folder} is a child of this process`)
  return view
}
