/**
 * The programs of this machine that the engine uses, by their full paths: a control shell that is busybox would
 * otherwise take its own, lesser versions of unshare, nsenter, setpriv and flock.
 */
import { accessSync, constants, readFileSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NEEDED = [
  'unshare',
  'nsenter',
  'setpriv',
  'setsid',
  'flock',
  'mount',
  'umount',
  'env',
  'chroot',
  'cp',
  'mv',
  'rm',
] as const
export type ProgramName = (typeof NEEDED)[number]

export interface Programs {
  paths: Record<ProgramName, string>
  /** The shell of control shell, holder and launcher: `['/bin/busybox', 'sh']` or `['/bin/sh']`. */
  shell: readonly [string] | readonly [string, string]
  /**
   * The shell that becomes a command: never busybox where there is another, as that takes its own programs for those of
   * the same names.
   */
  sh: string
  /** A static busybox, to be the holder; null where there is none. */
  busybox: string | null
  /**
   * The words before each command where a busybox becomes it, which would start its own program in place of another of
   * that name: with the signals that a background job ignores.
   */
  starter: readonly string[]
  /** PATH of everything that the engine starts. */
  path: string
}

/**
 * @param shell `busybox` or `sh` to insist on one; otherwise busybox where there is a static one, as it swaps layers
 * in half the time
 * @returns the programs, or the names of those that are missing
 */
export function findPrograms(shell = process.env.REWIND_CONTROL_SHELL): Programs | { missing: string[] } {
  const folders = [
    ...new Set([...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/sbin', '/bin']),
  ].filter((folder) => folder.startsWith('/'))
  const find = (name: string): string | null =>
    folders.map((folder) => join(folder, name)).find((path) => isExecutable(path)) ?? null
  const found = NEEDED.map((name) => [name, find(name)] as const)
  const sh = find('sh')
  const missing = found.filter(([, path]) => path === null).map(([name]) => name as string)
  if (sh === null) missing.push('sh')
  if (missing.length > 0 || sh === null) return { missing }
  const busybox = find('busybox')
  const isStatic = busybox !== null && isStaticProgram(busybox)
  const paths = Object.fromEntries(found) as Record<ProgramName, string>
  return {
    paths,
    sh,
    shell: isStatic && shell !== 'sh' ? [realpathSync(busybox), 'sh'] : [sh],
    busybox: isStatic ? realpathSync(busybox) : null,
    starter: [paths.env, '--default-signal=INT,QUIT'],
    path: folders.join(delimiter),
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const ELF_HEADER = 64
const PT_INTERP = 3

/** Whether a 64-bit little-endian ELF program needs no loader: none of its segments names one. */
function isStaticProgram(path: string): boolean {
  const bytes = readFileSync(path)
  if (bytes.length < ELF_HEADER || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1)
    return false
  const table = Number(bytes.readBigUInt64LE(32))
  const size = bytes.readUInt16LE(54)
  const count = bytes.readUInt16LE(56)
  for (let at = 0; at < count; at++) if (bytes.readUInt32LE(table + at * size) === PT_INTERP) return false
  return true
}
