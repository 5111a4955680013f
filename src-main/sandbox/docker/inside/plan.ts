/** The root of a sandbox within a container: that of its image. */
import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, planRoot, type RootPlan, RUN_FOLDER } from '../../local/index.ts'
import type { SandboxSpec } from '../../sandbox.ts'
import { OURS, WORKSPACE } from '../protocol.ts'

/** The image's / without what is mounted on it. */
export const IMAGE = `${OURS}/image`
/** Folders of ours in the image's /, which show elsewhere. */
export const RUNS = '.rewind-runs'
export const SHARED_MEMORY = '.rewind-shm'
export const HOME = '/home/agent'

/** What the kernel gives each sandbox anew. */
const KERNEL = ['dev', 'proc', 'sys']

export function planContainer(spec: SandboxSpec, agent: Agent): RootPlan {
  if (spec.scope === 'workspace') return planRoot({ ...spec, workspace: WORKSPACE, hidden: [OURS] }, agent, HOME)
  const entries = readdirSync(IMAGE, { withFileTypes: true })
  const ours = [...KERNEL, RUNS, SHARED_MEMORY, OURS, WORKSPACE].map((path) => path.replace('/', ''))
  const folders = entries.filter((entry) => entry.isDirectory() && !ours.includes(entry.name))
  return {
    home: HOME,
    places: [
      ...folders.map(({ name }) => ({ folder: name, inside: `/${name}`, mode: 0o755 })),
      { folder: SHARED_MEMORY, inside: '/dev/shm', mode: 0o1777 },
      { folder: RUNS, inside: RUN_FOLDER, mode: 0o755 },
    ],
    runs: RUNS,
    image: {
      folder: IMAGE,
      links: entries
        .filter((entry) => entry.isSymbolicLink())
        .map(({ name }) => [name, readlinkSync(join(IMAGE, name))]),
      busybox: join(IMAGE, busybox()),
    },
    masks: [],
    shown: [],
  }
}

/** Checked before a sandbox is made: it is a static one. */
function busybox(): string {
  const found = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'busybox'))
  return realpathSync(found.find((path) => existsSync(path)) ?? '/bin/busybox')
}
