/**
 * Which Electron the tests of the app drive: the real binary or the stand-in. By itself the real one is taken where it
 * can run; `REWIND_ELECTRON=real` insists on it, so that a smoke test never passes on the stand-in unnoticed.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export type ElectronKind = 'real' | 'stand-in'

/**
 * @param choice $REWIND_ELECTRON
 * @param obstacles what keeps the real binary from running here, each with its remedy
 * @throws when the real one is insisted on and cannot run, or the choice is none: a typing error must not weaken a gate
 */
export function chooseElectron(choice: string | undefined, obstacles: readonly string[]): ElectronKind {
  if (!choice) return obstacles.length === 0 ? 'real' : 'stand-in'
  if (choice === 'stand-in') return choice
  if (choice !== 'real') throw new Error(`REWIND_ELECTRON is '${choice}'; it can be real or stand-in`)
  if (obstacles.length > 0)
    throw new Error(`REWIND_ELECTRON=real insists on Electron's own binary, but ${obstacles.join('; and ')}`)
  return choice
}

/** What keeps Electron's own binary from running on this machine. */
export function obstaclesToElectron(env: NodeJS.ProcessEnv = process.env): string[] {
  const installed = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  const hasDisplay = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
  return [
    ...(existsSync(join(installed, 'path.txt')) ? [] : ['it is not there (node node_modules/electron/install.js)']),
    ...(process.getuid?.() === 0 ? ['this is root, whom its sandbox refuses (run as an ordinary user)'] : []),
    ...(hasDisplay ? [] : ['there is no display (xvfb-run npm run smoke:electron)']),
  ]
}
