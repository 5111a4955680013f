/** Whether the local engine can run here, tried out rather than guessed; and what to do where it cannot. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Availability } from '../sandbox.ts'
import { type EngineMode, overlayOptions } from './overlay.ts'
import { findPrograms, type Programs } from './programs.ts'
import { removeFolder } from './remove.ts'

const run = promisify(execFile)

export interface Engine {
  mode: EngineMode
  programs: Programs
}

export type Trial =
  | { engine: Engine; availability: Availability & { ok: true } }
  | { availability: Availability & { ok: false } }

export const engineMode = (): EngineMode => (process.getuid?.() === 0 ? 'root' : 'user')

/** @param folder where the sandboxes are to live; it is made */
export async function tryEngine(folder: string): Promise<Trial> {
  if (process.platform !== 'linux') {
    return no(
      'Sandboxes of the local engine need Linux.',
      'Run Rewind on Linux, in a virtual machine, or use the docker engine.',
    )
  }
  const programs = findPrograms()
  if ('missing' in programs) {
    return no(`These programs are missing: ${programs.missing.join(', ')}.`, 'Install util-linux and coreutils.')
  }
  const mode = engineMode()
  const flags = mode === 'root' ? ['-m', '-p', '-f', '-i'] : ['-U', '-r', '-m', '-p', '-f', '-i']
  const env = { PATH: programs.path, LC_ALL: 'C', LIBMOUNT_FORCE_MOUNT2: 'always' }
  const namespaces = await attempt(programs.paths.unshare, [...flags, 'true'], env)
  if (namespaces !== null) return no(namespaces, mode === 'root' ? ROOT_REMEDY : userRemedy(namespaces))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const trial = mkdtempSync(join(folder, '.trial-'))
  try {
    const inside = ['--propagation', 'private', 'sh', '-c', TRIAL, programs.paths.mount, trial, overlayOptions(mode)]
    const said = await attempt(programs.paths.unshare, [...flags, ...inside], env)
    if (said === null) {
      const detail = mode === 'root' ? 'namespaces as root' : 'user namespaces'
      return { engine: { mode, programs }, availability: { ok: true, detail } }
    }
    if (said.includes('revealing')) {
      return no(said, 'In a container, start it with its /proc unmasked (--security-opt systempaths=unconfined).')
    }
    return no(
      `Layers cannot be mounted in ${folder}: ${said}`,
      'Set REWIND_HOME to a folder on a local file system such as ext4, XFS or btrfs (in a container: a volume). Linux 5.11 or newer is needed.',
    )
  } finally {
    await removeFolder(trial, mode, programs)
  }
}

/** Two layers, a deletion and a folder made anew over them, and an own /proc. */
const TRIAL = `set -e
cd "$1"; mkdir 0 0/d 1 u k m; echo old >0/f; echo new >1/f
"$0" -t overlay trial -o "$2,lowerdir=1:0,upperdir=u,workdir=k" m
[ "$(cat m/f)" = new ]; rm m/f; rm -r m/d; mkdir m/d; echo x >m/d/x
umount m
"$0" -t proc proc m`

/** @returns what the program said when it failed */
async function attempt(program: string, args: string[], env: Record<string, string>): Promise<string | null> {
  try {
    await run(program, args, { env, timeout: 20_000 })
    return null
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    return (stderr || message).trim()
  }
}

const no = (reason: string, remedy: string): Trial => ({ availability: { ok: false, reason, remedy } })

const ROOT_REMEDY =
  'In a container, give it CAP_SYS_ADMIN (--cap-add SYS_ADMIN --security-opt seccomp=unconfined), or run Rewind outside of it.'

function userRemedy(said: string): string {
  if (said.includes('No space left on device')) return 'As root: sysctl -w user.max_user_namespaces=10000'
  if (said.includes('uid_map')) {
    return 'As root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (or an AppArmor profile with `userns,` for Rewind).'
  }
  return 'As root: sysctl -w kernel.unprivileged_userns_clone=1. In a container, start it with --security-opt seccomp=unconfined.'
}
