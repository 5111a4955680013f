/** Looks at the machine for {@link chooseWindow}: files and one fork, so it is done within milliseconds. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Facts } from './choose.ts'

const BROWSERS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'brave-browser',
  'microsoft-edge',
  'vivaldi',
]
const MAC_BROWSERS = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser']
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { linux: 'xdg-open', darwin: 'open' }

/**
 * @param electronFolder the installed npm package of Electron; null where it is not installed
 * @param env PATH, DISPLAY, WAYLAND_DISPLAY and REWIND_CHROMIUM (a browser to use; `none` for no browser) are looked at
 */
export function lookAtMachine(electronFolder: string | null, env: NodeJS.ProcessEnv = process.env): Facts {
  const { platform } = process
  const opener = OPENERS[platform]
  return {
    platform,
    root: process.getuid?.() === 0,
    display: platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY),
    electron: electronFolder === null ? null : electronBinary(electronFolder, env),
    browser: findBrowser(platform, env),
    opener: opener === undefined ? null : onPath(opener, env),
    sandbox: platform !== 'linux' || canBuildSandbox(),
    failed: {},
  }
}

/** Electron's package says in path.txt where the binary that was downloaded for it lies. */
export function electronBinary(folder: string, env: NodeJS.ProcessEnv = process.env): string | null {
  try {
    const name = readFileSync(join(folder, 'path.txt'), 'utf8')
    const binary = join(env.ELECTRON_OVERRIDE_DIST_PATH ?? join(folder, 'dist'), name)
    return existsSync(binary) ? binary : null
  } catch {
    return null
  }
}

function findBrowser(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | null {
  const chosen = env.REWIND_CHROMIUM
  if (chosen === 'none') return null
  if (chosen) return chosen
  const candidates =
    platform === 'darwin'
      ? MAC_BROWSERS.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`).filter(isExecutable)
      : BROWSERS.flatMap((name) => onPath(name, env) ?? [])
  return candidates.find((path) => !isSnap(path)) ?? null
}

/** A browser in a snap sees no hidden folders: neither its profile nor the sign-in page could be in the data folder. */
function isSnap(path: string): boolean {
  if (dirname(path) === '/snap/bin' || realpathSync(path) === '/usr/bin/snap') return true
  const isSmall = statSync(path).size < 16_384
  return isSmall && readFileSync(path, 'latin1').includes('/snap/bin/')
}

function canBuildSandbox(): boolean {
  if (spawnSync('unshare', ['-U', '-r', 'true'], { stdio: 'ignore', timeout: 1_000 }).status === 0) return true
  return ['/usr/lib/chromium/chrome-sandbox', '/opt/google/chrome/chrome-sandbox'].some(
    (helper) => existsSync(helper) && (statSync(helper).mode & 0o4000) !== 0,
  )
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
