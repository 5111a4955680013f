/** /proc/PID/mountinfo: what is mounted in the namespace of a process, as the kernel itself says. */
import { readFileSync } from 'node:fs'

export interface Mount {
  /** Path of the mount point. */
  point: string
  /** Options of this mount: ro, nosuid, noexec, ... */
  flags: ReadonlySet<string>
  fileSystem: string
  /** Options of the file system: lowerdir=..., ro, ... */
  options: readonly string[]
}

/**
 * Mounts in the order in which they were made: where several share a point, the last one shows.
 * @param only those of one file system, which spares taking all the others apart
 */
export function readMounts(pid: number | 'self', only?: string): Mount[] {
  return parseMounts(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'), only)
}

export function parseMounts(text: string, only?: string): Mount[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && (only === undefined || line.includes(` - ${only} `)))
    .map((line) => {
      const [own = '', shared = ''] = line.split(' - ')
      const fields = own.split(' ')
      const [fileSystem = '', , options = ''] = shared.split(' ')
      return {
        point: unescapeOctal(fields[4] ?? ''),
        flags: new Set((fields[5] ?? '').split(',')),
        fileSystem,
        options: options.split(','),
      }
    })
}

/** The mount that holds a path: of those whose point is the longest prefix, the last. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let best: Mount | undefined
  for (const mount of mounts) {
    if (isBeneath(path, mount.point) && (best === undefined || mount.point.length >= best.point.length)) best = mount
  }
  return best
}

/** Whether `path` is `folder` or lies in it. Both absolute and clean. */
export const isBeneath = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`)

const KEPT = ['noexec', 'noatime', 'nodiratime', 'relatime', 'strictatime', 'nosymfollow']

/**
 * Options that make a bind of this mount read-only. In a user namespace the flags that a mount has are locked: a
 * remount that leaves one out is refused.
 */
export const readOnlyOptions = (mount: Mount | undefined): string =>
  ['ro', 'nosuid', 'nodev', ...KEPT.filter((flag) => mount?.flags.has(flag))].join(',')

/** A field of an fstab line. */
export const escapeOctal = (text: string): string =>
  text.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
