/** Which folders of the host can be a workspace. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { InvalidPathError } from '../../contract/index.ts'
import type { SandboxSpec } from '../sandbox.ts'
import { isBeneath } from './mountinfo.ts'
import { realFolder } from './root-plan.ts'

/** The workspace with symlinks resolved. @throws InvalidPathError where it cannot be one */
export function checkedWorkspace({ workspace, hidden }: SandboxSpec): string {
  const refuse = (why: string, nextStep: string): never => {
    throw new InvalidPathError(`${workspace} ${why}.`, { nextStep, data: { path: workspace } })
  }
  if (!existsSync(workspace) || !statSync(workspace).isDirectory()) refuse('is not a folder', 'Create it first.')
  const real = realpathSync(workspace)
  if (real === '/') refuse('is the whole machine', 'Choose the folder of a project.')
  for (const folder of hidden.flatMap(realFolder)) {
    if (isBeneath(folder, real)) {
      refuse(
        `contains ${folder}, which holds the sandboxes themselves`,
        'Choose a folder further down, or set REWIND_HOME to one outside of it.',
      )
    }
    if (isBeneath(real, folder))
      refuse(`lies in ${folder}, which is hidden from sandboxes`, 'Choose a folder outside of it.')
  }
  return real
}
