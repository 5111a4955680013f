/** Removing a sandbox's folder: also what the kernel, or the agent, closed to its owner. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { EngineMode } from './overlay.ts'
import type { Programs } from './programs.ts'

const run = promisify(execFile)

/**
 * In a user namespace of its own the owner passes any mode.
 * @throws EngineUnavailableError where something is left
 */
export async function removeFolder(folder: string, mode: EngineMode, { paths, path }: Programs): Promise<void> {
  const words = [paths.rm, '-rf', '--', folder]
  const [program = paths.rm, ...args] = mode === 'user' ? [paths.unshare, '-U', '-r', ...words] : words
  const said = await run(program, args, { env: { PATH: path, LC_ALL: 'C' } }).then(
    () => '',
    (error: Error) => error.message,
  )
  if (!existsSync(folder)) return
  throw new EngineUnavailableError(`The folder of the sandbox could not be removed: ${said}`, {
    nextStep: `Remove ${folder} by hand.`,
  })
}
