/** Ending what is left of a sandbox: its processes, its folder, also what the kernel or the agent closed to its owner. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { EngineMode } from './overlay.ts'
import { identifyHolder, isAlive, processesOf, processesWith, signal } from './processes.ts'
import type { Programs } from './programs.ts'
import { type Holder, StateFile } from './state.ts'

const run = promisify(execFile)

const END_LIMIT_MS = 10_000

/**
 * In a user namespace of its own the owner passes any mode; where none can be made, what his modes allow is removed.
 * @throws EngineUnavailableError where something is left
 */
export async function removeFolder(folder: string, mode: EngineMode, { paths, path }: Programs): Promise<void> {
  const words = [paths.rm, '-rf', '--', folder]
  let said = ''
  for (const before of mode === 'user' ? [[paths.unshare, '-U', '-r'], []] : [[]]) {
    const [program = paths.rm, ...args] = [...before, ...words]
    said = await run(program, args, { env: { PATH: path, LC_ALL: 'C' } }).then(
      () => '',
      (error: Error) => error.message,
    )
    if (!existsSync(folder)) return
  }
  throw new EngineUnavailableError(`The folder of the sandbox could not be removed: ${said}`, {
    nextStep: `Remove ${folder} by hand.`,
  })
}

/** In a sandbox's folder: where its holder says who it is. */
export const HOLDER_NOTE = 'holder.pid'

/** The holder that said so in a sandbox's folder, alive; null where there is none. */
export function notedHolder(folder: string): Holder | null {
  const note = join(folder, HOLDER_NOTE)
  const found = existsSync(note) ? /^(\d+) (\d+)\n$/.exec(readFileSync(note, 'utf8')) : null
  const holder = found ? identifyHolder(Number(found[1])) : null
  return holder?.startTime === found?.[2] ? holder : null
}

/**
 * Ends what runs for a sandbox whose host is gone, also where that host was killed before it could write down what it
 * had started: control shells and what they start know the folder from their environment, the holder left a note.
 */
export async function endStrays(folder: string): Promise<void> {
  for (const pid of processesWith(`FOLDER=${folder}`)) signal(pid, 'SIGKILL')
  const state = existsSync(join(folder, 'state.json')) ? new StateFile(folder).read().holder : null
  for (const holder of [state, notedHolder(folder)]) if (holder !== null && isAlive(holder)) await endHolder(holder)
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
