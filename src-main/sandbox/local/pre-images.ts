/**
 * Pre-images: what the host's folder held at some paths, as a layer directly above it. Laid under every stack before
 * something changes those entries on the host, so that what stands and all points keep showing what they did. Several
 * lie on each other, the newest lowest: what was kept first is what the session began from.
 */
import { linkSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crashPoint } from '../../store/index.ts'
import { call } from '../channel/index.ts'
import { type ByteString, dress, toBytes } from '../layers/index.ts'
import type { Layers } from './layers.ts'
import { asDiskFull, failure, type Namespace } from './namespace.ts'
import type { Standing } from './standing.ts'
import type { StateFile } from './state.ts'
import { newWhiteout } from './whiteout.ts'

export interface PreImagesOptions {
  folder: string
  standing: Standing
  namespace: Namespace
  layers: Layers
  stateFile: StateFile
  /** The host's folder, as the sandbox has it. */
  base: () => string
  /** Puts the view back that the state has. */
  reopen: () => Promise<void>
}

export class PreImages {
  readonly #options: PreImagesOptions

  constructor(options: PreImagesOptions) {
    this.#options = options
  }

  /**
   * Runs alone.
   * @param paths relative, without '..': what is there is kept with all beneath it, what is not is kept from showing
   * @returns false where processes hold the workspace; nothing changed then
   * @throws DiskFullError, EngineUnavailableError, with nothing changed
   */
  async keep(paths: readonly ByteString[]): Promise<boolean> {
    const { standing, layers, stateFile, reopen } = this.#options
    const number = layers.number()
    try {
      await this.#write(number, paths)
      crashPoint('pre-images:written')
      if (!(await standing.down(['workspace']))) {
        await layers.discard('workspace', number)
        return false
      }
      crashPoint('pre-images:unmounted')
    } catch (error) {
      await layers.discard('workspace', number)
      throw asDiskFull(error, 'Keeping what the host has')
    }
    try {
      const tree = stateFile.trees.workspace
      tree.addAboveBase(number)
      const { workspace } = standing.state
      const [on, head] = [tree.resolve(workspace.on), tree.resolve(workspace.head)]
      standing.commit({ ...standing.state, workspace: { ...workspace, on, head, lowers: tree.stack(on) } })
      crashPoint('pre-images:committed')
      return true
    } finally {
      await reopen()
    }
  }

  async #write(number: number, paths: readonly ByteString[]): Promise<void> {
    const { folder, namespace, layers, base, standing } = this.#options
    const target = layers.path('workspace', number)
    const at = (path: ByteString): Buffer => toBytes(`${target}/${path}`)
    mkdirSync(target, { mode: 0o700 })
    const { kept, absent } = sort(base(), paths)
    if (kept.length > 0) {
      writeFileSync(join(folder, 'copies'), kept.map((path) => `./${path}\0`).join(''), 'latin1')
      const script = call('copy_listed', 'pre-images', '/run/s/w/0', `/run/s/${layers.inside('workspace', number)}`)
      const answer = await namespace.shell.run(`${standing.guard()} && ${script}`)
      if (answer.code !== 0) throw failure(answer, 'Keeping what the host has')
    }
    const parents = new Set(absent.flatMap(parentsOf))
    for (const path of parents) mkdirSync(at(path), { recursive: true })
    let whiteout: string | null = null
    for (const path of absent) {
      whiteout ??= await newWhiteout(namespace, folder)
      if (linked(whiteout, at(path))) continue
      whiteout = await newWhiteout(namespace, folder)
      linkSync(whiteout, at(path))
    }
    // Of each folder after all in it: what is put there changes its times.
    for (const path of [...parents].reverse()) dress(at(path), lstatSync(toBytes(`${base()}/${path}`)))
    layers.dress(target, base())
  }
}

/** Which of the paths are there, none within another; and those that are not, each by the topmost that is missing. */
function sort(base: string, paths: readonly ByteString[]): { kept: ByteString[]; absent: ByteString[] } {
  const kept = new Set<ByteString>()
  const absent = new Set<ByteString>()
  for (const path of [...paths].sort()) {
    const steps = [...parentsOf(path), path]
    if (steps.some((step) => kept.has(step))) continue
    const found = steps.map((step) => lstatSync(toBytes(`${base}/${step}`), { throwIfNoEntry: false }))
    const missing = found.indexOf(undefined)
    // Beneath a file, or beyond a symlink, the host's folder has nothing: that entry is what would change.
    if (found.slice(0, missing === -1 ? -1 : missing).some((stat) => !stat?.isDirectory())) continue
    if (missing === -1) kept.add(path)
    else absent.add(steps[missing] ?? path)
  }
  return { kept: [...kept], absent: [...absent] }
}

/** Topmost first. */
function parentsOf(path: ByteString): ByteString[] {
  const parent = dirname(path)
  return parent === '.' ? [] : [...parentsOf(parent), parent]
}

/** False where one file has as many names as it can. */
function linked(from: string, to: Buffer): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMLINK') return false
    throw error
  }
}
