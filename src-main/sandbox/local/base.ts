/** What a sandbox begins from: the host's workspace as its lowest layer, or a copy of it; and why. */
import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { InvalidOptionError } from '../../contract/index.ts'
import { unsuitedFileSystem } from '../host-folder/index.ts'
import type { SandboxSpec } from '../sandbox.ts'
import { isBeneath, readMounts } from './mountinfo.ts'
import { asDiskFull, diskFull } from './namespace.ts'
import type { EngineMode } from './overlay.ts'
import type { Programs } from './programs.ts'
import type { Agent } from './state.ts'

const run = promisify(execFile)

export interface BaseDecision {
  base: 'copy' | 'live'
  /** Mount options that show the workspace as the agent's; null where it is the agent's already. */
  idmap: string | null
  notes: string[]
}

/** Above either, a workspace that cannot be cloned is not copied. */
const COPY_BYTES = 200e6
const COPY_ENTRIES = 20_000

export interface BaseSurroundings {
  /** The workspace as this process finds it. */
  source: string
  mode: EngineMode
  agent: Agent
  /** The sandbox's, for trying what its file system can do. */
  folder: string
  programs: Programs
}

/**
 * @param spec its workspace as a person knows it
 * @throws InvalidOptionError where `live` was asked for and cannot be
 */
export async function decideBase(
  spec: Pick<SandboxSpec, 'workspace' | 'base'>,
  { source, mode, agent, folder, programs }: BaseSurroundings,
): Promise<BaseDecision> {
  const hidden = mountsWithin(source).map((point) => spec.workspace + point.slice(source.length))
  const notes = hidden.map((point) => `What is mounted at ${point} does not show in the sandbox.`)
  if (spec.base === 'copy') return { base: 'copy', idmap: null, notes }
  const reason = await whyNotLive(source, mode, agent, programs)
  if (typeof reason === 'string') {
    if (spec.base === 'live') {
      throw new InvalidOptionError(`The workspace cannot be used without copying it: ${reason}.`, {
        nextStep: "Leave out base: 'live', so that a copy is used.",
        data: { option: 'base', valid: ['auto', 'copy'] },
      })
    }
    return { base: 'copy', idmap: null, notes: [...notes, `The workspace was copied: ${reason}.`] }
  }
  const copied = spec.base === 'auto' && ((await canClone(source, folder, programs)) || (await isSmall(source)))
  return copied ? { base: 'copy', idmap: null, notes } : { base: 'live', idmap: reason.idmap, notes }
}

async function whyNotLive(
  workspace: string,
  mode: EngineMode,
  agent: Agent,
  programs: Programs,
): Promise<string | { idmap: string | null }> {
  const unsuited = unsuitedFileSystem(statfsSync(workspace).type)
  if (unsuited) return `it lies on ${unsuited}`
  if (mode === 'user') {
    // A mount that came with the namespace cannot be separated from what it lies on.
    return mountsWithin(workspace).length === 0 ? { idmap: null } : 'other file systems are mounted in it'
  }
  const { uid, gid } = statSync(workspace)
  if (uid === agent.uid) return { idmap: null }
  const idmap = `X-mount.idmap=u:${uid}:${agent.uid}:1 g:${gid}:${agent.gid}:1`
  if (await idmapTakes(workspace, idmap, agent, programs)) return { idmap }
  return 'it belongs to root, and this mount(8) or file system cannot show it as an ordinary user’s (util-linux 2.39 can)'
}

/** util-linux before 2.39 takes the option, answers 0 and does nothing: an owner seen through the mount tells. */
async function idmapTakes(workspace: string, idmap: string, agent: Agent, { paths, path }: Programs): Promise<boolean> {
  const script = '"$0" -o "bind,$1" "$2" "$2" && stat -c %u "$2"'
  const args = ['-m', '--propagation', 'private', 'sh', '-c', script, paths.mount, idmap, workspace]
  try {
    const { stdout } = await run(paths.unshare, args, {
      env: { PATH: path, LC_ALL: 'C', LIBMOUNT_FORCE_MOUNT2: 'always' },
    })
    return Number(stdout.trim()) === agent.uid
  } catch {
    return false
  }
}

/** Whether the two folders share a file system that copies without copying. */
async function canClone(workspace: string, folder: string, { paths, path }: Programs): Promise<boolean> {
  if (statSync(workspace).dev !== statSync(folder).dev) return false
  const [from, to] = [join(folder, 'clone-from'), join(folder, 'clone-to')]
  try {
    writeFileSync(from, 'x'.repeat(8192))
    await run(paths.cp, ['--reflink=always', '--', from, to], { env: { PATH: path, LC_ALL: 'C' } })
    return true
  } catch (error) {
    const explained = asDiskFull(error, 'Preparing the sandbox')
    if (explained !== error) throw explained
    return false
  } finally {
    rmSync(from, { force: true })
    rmSync(to, { force: true })
  }
}

async function isSmall(workspace: string): Promise<boolean> {
  let bytes = 0
  let entries = 0
  const folders = [Buffer.from(workspace)]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readIfAllowed(folder)) {
      if (++entries % 500 === 0) await setImmediate()
      const child = Buffer.concat([folder, Buffer.from('/'), entry.name])
      if (entry.isDirectory()) folders.push(child)
      else bytes += lstatSync(child, { throwIfNoEntry: false })?.size ?? 0
      if (entries > COPY_ENTRIES || bytes > COPY_BYTES) return false
    }
  }
  return true
}

function readIfAllowed(folder: Buffer): ReturnType<typeof list> {
  try {
    return list(folder)
  } catch (error) {
    if (['EACCES', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

const list = (folder: Buffer) => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })

/** Neither a copy nor a layer takes along what is mounted within the workspace. */
function mountsWithin(workspace: string): string[] {
  const points = readMounts('self').map(({ point }) => point)
  return [...new Set(points)].filter((point) => point !== workspace && isBeneath(point, workspace))
}

/**
 * Copies the workspace as the lowest layer, and gives it to the agent where it belonged to root.
 * @returns notes on what could not be copied
 * @throws DiskFullError
 */
export async function copyBase(
  workspace: string,
  target: string,
  { agent, mode, programs }: { agent: Agent; mode: EngineMode; programs: Programs },
): Promise<string[]> {
  const { paths, path } = programs
  const options = { env: { PATH: path, LC_ALL: 'C' }, maxBuffer: 64 << 20 }
  const copy = ['-a', '--one-file-system', '--reflink=auto', '-T', '--', workspace, target]
  const said = await run(paths.cp, copy, options).then(
    () => '',
    (error: Error & { stderr?: string }) => error.stderr || error.message,
  )
  if (said.includes('No space left on device')) throw diskFull('Copying the workspace')
  if (mode === 'root' && statSync(target).uid !== agent.uid) {
    await run('chown', ['-Rh', '--', `${agent.uid}:${agent.gid}`, target], options)
  }
  const failures = said.split('\n').filter(Boolean)
  return failures.length === 0
    ? []
    : [`${failures.length} entries of the workspace could not be copied: ${failures[0]}`]
}
