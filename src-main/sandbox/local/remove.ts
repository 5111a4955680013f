/** Ending what is left of a sandbox: its processes, its folder, also what the kernel or the agent closed to its owner. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { EngineMode } from './overlay.ts'
import { isAlive, processesOf, signal } from './processes.ts'
import type { Programs } from './programs.ts'
import type { Holder } from './state.ts'

const run = promisify(execFile)

const END_LIMIT_MS = 10_000

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

/** A sandbox's control groups, told from those of other data folders. */
export const groupName = (folder: string): string => `rewind-${folder.replace(/[^A-Za-z0-9.-]+/g, '-').slice(-100)}`

/** Ends process 1 of a PID namespace, and with it everything there. */
export async function endHolder(holder: Holder): Promise<void> {
  signal(holder.pid, 'SIGKILL')
  for (const end = Date.now() + END_LIMIT_MS; Date.now() < end; await sleep(1)) {
    if (!isAlive(holder) && processesOf(holder).length === 0) return
  }
  throw new EngineUnavailableError('Processes of the sandbox could not be ended.', {
    nextStep: 'Try again; see which of its processes hangs in the kernel (state D) with ps.',
  })
}
