/**
 * The root that commands see, as a plan: which of the host's folders are masked, what shows through the masks, and
 * which mounts make it so. The host's / is bound read-only, or where all of an image can be changed, its folders are
 * places of the machine layer; everything else is a few entries of one mount table, so that a start costs a handful of
 * processes whatever the machine.
 */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { SandboxSpec } from '../sandbox.ts'
import { escapeOctal, isBeneath, type Mount, readOnlyOptions } from './mountinfo.ts'
import type { Agent } from './state.ts'

/** Where the sandbox's root and folder are, within its mount namespace. */
export const ROOT = '/run/m'
export const FOLDER = '/run/s'
export const SKELETON = '/run/k'

/** Run folders of commands, inside. */
export const RUN_FOLDER = '/run/rewind'

/** Writable places beside the workspace: folders of the machine layer, and where they appear. */
export interface MachinePlace {
  folder: string
  inside: string
  mode: number
}

/** An image of which everything can be changed: it is the lowest machine layer. */
export interface ImageRoot {
  /** Where its / is to this process, without what is mounted on it. */
  folder: string
  /** Symlinks in its /: name and target. */
  links: readonly (readonly [name: string, target: string])[]
  /** A static busybox that commands cannot change: what is run with rights inside. */
  busybox: string
}

export interface RootPlan {
  /** The sandbox's empty home. */
  home: string
  /** In the order in which they are mounted. */
  places: readonly MachinePlace[]
  /** The folder of run folders in a machine layer: it is no part of a state. */
  runs: string
  /** Null where the root is the host's, read-only. */
  image: ImageRoot | null
  /** Host folders that an empty one is bound over; what lies beneath them may be opened by `shown`. */
  masks: readonly string[]
  /** Host folders bound read-only at their own path, beneath a mask. */
  shown: readonly string[]
}

/** Version managers: their whole folder is needed, not just the entry of PATH in it. */
const TOOL_ROOTS =
  /^(.*?\/(\.nvm|\.pyenv|\.rbenv|\.nodenv|\.asdf|\.volta|\.fnm|\.sdkman|\.rustup|\.bun|\.deno|\.local\/share\/(mise|fnm|uv)|miniconda3|anaconda3))\//

/**
 * @param spec its workspace and hidden folders with all symlinks resolved
 * @param realHome the home of the user whose agent this is
 */
export function planRoot(spec: SandboxSpec, agent: Agent, realHome: string): RootPlan {
  const homes = ['/home', '/root', realHome, homedir()].flatMap(realFolder)
  const hidden = spec.hidden.flatMap(realFolder)
  const home = homes.includes('/home') ? '/home/agent' : '/run/agent'
  const places: MachinePlace[] = [
    { folder: 'tmp', inside: '/tmp', mode: 0o1777 },
    { folder: 'shm', inside: '/dev/shm', mode: 0o1777 },
    { folder: 'home', inside: home, mode: 0o755 },
    { folder: 'run', inside: RUN_FOLDER, mode: 0o755 },
  ]
  if (realFolder('/var/tmp')[0] === '/var/tmp') places.push({ folder: 'vartmp', inside: '/var/tmp', mode: 0o1777 })
  const covered = ['/proc', '/dev', '/run', ...places.map(({ inside }) => inside)]
  const masks = outermost([...homes, ...hidden, '/sys/fs'].filter((folder) => !covered.some(beneath(folder))))
  const shown = toolFolders(process.env.PATH ?? '')
    .filter((folder) => masks.some(beneath(folder)) && !hidden.some(beneath(folder)) && canReach(folder, agent))
    .filter((folder) => !isBeneath(folder, spec.workspace) && !isBeneath(spec.workspace, folder))
  return {
    home,
    places,
    runs: 'run',
    image: null,
    masks: masks.filter((folder) => existsSync(folder)),
    shown: outermost(shown),
  }
}

/** The skeleton's folder that is the root where the host's is not. */
export const OWN_ROOT = `${SKELETON}/root`
/** In it: what is run with rights inside, as a path of the sandbox. */
export const OWN_BUSYBOX = '/.rewind/busybox'

/** Mount points that have to be made in the skeleton. */
export function skeletonPoints(plan: RootPlan, workspace: string): string[] {
  const point = placePath(plan, workspace) === null ? [workspace] : []
  if (plan.image === null)
    return [plan.home, ...plan.shown, ...point].flatMap((inside) => skeletonPath(plan, inside) ?? [])
  const top = plan.places.map(({ inside }) => inside).filter((inside) => dirname(inside) === '/')
  return ['/proc', '/sys', '/dev', ...top, ...point].map((inside) => join(OWN_ROOT, inside))
}

/** Where mount points beneath a mask, /run or /dev have to be made: the folder of the skeleton that is bound there. */
function skeletonPath(plan: RootPlan, path: string): string | null {
  const mask = plan.masks.find((folder) => isBeneath(path, folder))
  if (mask !== undefined) return join(SKELETON, maskName(plan, mask), path.slice(mask.length))
  if (isBeneath(path, '/run')) return join(SKELETON, path)
  if (isBeneath(path, '/dev')) return join(SKELETON, path)
  return null
}

/** Where a workspace that lies within one of the machine layer's places needs its mount point: path in that layer. */
export function placePath(plan: RootPlan, path: string): string | null {
  const place = plan.places.find(({ inside }) => isBeneath(path, inside))
  return place === undefined ? null : join(place.folder, path.slice(place.inside.length))
}

export const maskName = (plan: RootPlan, mask: string): string => `mask-${plan.masks.indexOf(mask)}`

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/** Names in the sandbox's /dev: devices that are bound, links that are made. */
export const deviceFiles = DEVICES
export const deviceLinks: readonly (readonly [name: string, target: string])[] = [
  ['ptmx', 'pts/ptmx'],
  ['fd', '/proc/self/fd'],
  ['stdin', '/proc/self/fd/0'],
  ['stdout', '/proc/self/fd/1'],
  ['stderr', '/proc/self/fd/2'],
]

/** The mounts over the read-only /, as lines of an fstab. */
export function mountTable(plan: RootPlan): string {
  const bind = (from: string, at: string, options = 'bind'): string => entry(from, ROOT + at, 'none', options)
  const readOnly = 'bind,ro,nosuid,nodev'
  const devices = [
    bind(`${SKELETON}/dev`, '/dev', 'bind,ro,nosuid'),
    ...DEVICES.map((name) => bind(`/dev/${name}`, `/dev/${name}`)),
    // Named otherwise than the host's, which `mount -a` would take for this one.
    entry('rewind', `${ROOT}/dev/pts`, 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec'),
  ]
  if (plan.image !== null) {
    return table([
      bind('/sys', '/sys', 'bind,ro,nosuid,nodev,noexec'),
      bind(`${SKELETON}/empty`, '/sys/fs', readOnly),
      bind(plan.image.busybox, OWN_BUSYBOX, readOnly),
      ...devices,
    ])
  }
  return table([
    ...plan.masks.map((folder) => bind(join(SKELETON, maskName(plan, folder)), folder, readOnly)),
    bind(`${SKELETON}/run`, '/run', readOnly),
    ...devices,
    ...plan.shown.map((folder) => bind(folder, folder, readOnly)),
    bind(`${FOLDER}/etc/passwd`, '/etc/passwd', readOnly),
    bind(`${FOLDER}/etc/group`, '/etc/group', readOnly),
  ])
}

/** The machine layer's binds, made again at each swap of it. */
export const machineTable = (plan: RootPlan): string =>
  table(plan.places.map(({ folder, inside }) => entry(`/run/v/${folder}`, ROOT + inside, 'none', 'bind')))

/** As docker: what nobody may write, or read, of the sandbox's own /proc, which the holder makes at its own. */
export function procTable(): string {
  const readOnly = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'].filter((name) => existsSync(`/proc/${name}`))
  const empty = ['acpi', 'asound', 'scsi'].filter((name) => existsSync(`/proc/${name}`))
  const closed = ['interrupts', 'kcore', 'keys', 'latency_stats', 'timer_list', 'timer_stats', 'sched_debug'].filter(
    (name) => existsSync(`/proc/${name}`),
  )
  const at = (name: string): string => `/run/h/proc/${name}`
  return table([
    ...readOnly.map((name) => entry(at(name), at(name), 'none', 'bind,ro,nosuid,nodev,noexec')),
    ...empty.map((name) => entry(`${SKELETON}/empty`, at(name), 'none', 'bind,ro,nosuid,nodev,noexec')),
    ...closed.map((name) => entry('/dev/null', at(name), 'none', 'bind')),
  ])
}

/**
 * The host's mounts that come along with / and stay visible: each must be made read-only by itself.
 * @returns paths on the host with the options of their remount
 */
export function remounts(plan: RootPlan, mounts: readonly Mount[]): { point: string; options: string }[] {
  if (plan.image !== null) return []
  const covered = ['/proc', '/dev', '/run', ...plan.masks, ...plan.places.map(({ inside }) => inside)]
  const last = new Map(mounts.map((mount) => [mount.point, mount]))
  return [...last.values()]
    .filter(({ point }) => !covered.some(beneath(point)))
    .filter(({ flags }) => !['ro', 'nosuid', 'nodev'].every((flag) => flags.has(flag)))
    .map((mount) => ({ point: mount.point, options: readOnlyOptions(mount) }))
}

const entry = (from: string, at: string, type: string, options: string): string =>
  `${escapeOctal(from)} ${escapeOctal(at)} ${type} ${options} 0 0`

const table = (lines: readonly string[]): string => `${lines.join('\n')}\n`

const beneath =
  (path: string) =>
  (folder: string): boolean =>
    isBeneath(path, folder)

/** Without those that lie in another one. */
const outermost = (folders: readonly string[]): string[] =>
  [...new Set(folders)].filter((folder) => !folders.some((other) => other !== folder && isBeneath(folder, other)))

/** The folder with all symlinks resolved; nothing where it is none. */
export function realFolder(path: string): string[] {
  try {
    const real = realpathSync(path)
    return real !== '/' && statSync(real).isDirectory() ? [real] : []
  } catch {
    return []
  }
}

function toolFolders(path: string): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => TOOL_ROOTS.exec(`${folder}/`)?.[1] ?? folder)
    .flatMap(realFolder)
}

/** Whether the agent could list a folder on the host itself: a mask is not opened for more than that. */
export function canReach(path: string, { uid, gid }: Agent): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid: owner, gid: group } = lstatSync(folder)
    const bits = owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode
    const wanted = folder === path ? 0o5 : 0o1
    if ((bits & wanted) !== wanted) return false
    if (folder === '/') return true
  }
}
