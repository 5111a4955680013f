/** What the host's machine offers, apart from the engines' own part: one line each, with the remedy where it is missing. */
import { execFile } from 'node:child_process'
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Check } from '../contract/index.ts'
import type { Facts } from './launch/choose.ts'
import { lookAtMachine } from './launch/facts.ts'
import { packageRoot } from './package-root.ts'

const LOW_DISK_BYTES = 2 * 1024 ** 3

/** Looks at everything there is to look at; takes no longer than a second and changes nothing. */
export async function examine(home: string): Promise<Check[]> {
  const facts = lookAtMachine(join(packageRoot, 'node_modules/electron'))
  return [node(), await userNamespaces(), browser(facts), electron(facts), busybox(), dataFolderCheck(home)]
}

const check = (name: string, detail: string | null, missing: string, remedy: string): Check =>
  detail === null ? { name, ok: false, detail: missing, remedy } : { name, ok: true, detail, remedy: null }

function node(): Check {
  const modern = Number(process.versions.node.split('.', 1)[0]) >= 24
  return check('node', modern ? process.version : null, `${process.version} is too old.`, 'Install Node 24 or newer.')
}

/** What the local engine stands on for everybody but root. */
async function userNamespaces(): Promise<Check> {
  if (process.platform !== 'linux')
    return check('userns', null, 'They are for Linux.', 'The local engine needs Linux; other systems need docker.')
  const open = await new Promise<boolean>((resolve) => {
    execFile('unshare', ['-U', '-r', '-m', 'true'], { timeout: 1_000 }, (error) => resolve(error === null))
  })
  if (process.getuid?.() === 0) return check('userns', `not needed as root${open ? '' : ', and shut'}`, '', '')
  return check(
    'userns',
    open ? 'open to ordinary users' : null,
    'User namespaces are shut for ordinary users.',
    'As root: `sysctl kernel.unprivileged_userns_clone=1`, or with AppArmor `sysctl kernel.apparmor_restrict_unprivileged_userns=0`.',
  )
}

function browser({ browser }: Facts): Check {
  return check(
    'browser',
    browser,
    'No Chromium or Chrome was found.',
    'Install Chromium (Debian: `apt install chromium`) to have the window without Electron.',
  )
}

/** Looked for as a file: requiring electron outside of it would begin a download. */
function electron({ electron }: Facts): Check {
  return check(
    'electron',
    electron,
    'Its program is not here.',
    '`npm start` fetches it where it can; without it the window opens in a browser.',
  )
}

/** Optional: without it the control shell is the system's own, and each operation takes a little longer. */
function busybox(): Check {
  return check(
    'busybox',
    onPath('busybox'),
    'Not here; everything works without it, a little slower.',
    'Install busybox-static (Debian: `apt install busybox-static`).',
  )
}

function dataFolderCheck(home: string): Check {
  const { bavail, bsize, type } = statfsSync(home)
  const free = bavail * bsize
  const detail = `${home} on ${fileSystems[type] ?? `file system 0x${type.toString(16)}`}, ${(free / 1024 ** 3).toFixed(1)} GB free`
  const remedy = 'Free some space, or set REWIND_HOME to a folder on a larger disk.'
  return free < LOW_DISK_BYTES
    ? { name: 'data folder', ok: false, detail, remedy }
    : { name: 'data folder', ok: true, detail, remedy: null }
}

/** Magic numbers of statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlay',
  801189825: 'zfs',
  26985: 'nfs',
}

function onPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
