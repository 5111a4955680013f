/** The one Chromium behind all windows. It dies with this process, however that ends. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { chromiumFlags } from '../chromium-flags.ts'
import { chromium as chromiumPath } from '../parts.ts'

const path = chromiumPath()
if (path === undefined) throw new Error('electron stand-in: no Chromium; set REWIND_CHROMIUM to its path')

const profile = mkdtempSync(join(tmpdir(), 'standin-profile-'))
const child = spawn(
  path,
  [
    ...chromiumFlags(),
    '--headless',
    // A page from a file loads its scripts as modules, as Electron lets it.
    '--allow-file-access-from-files',
    '--no-startup-window',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)

process.on('exit', () => {
  child.kill('SIGKILL')
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
})

/** Connected over CDP. Playwright's _electron.launch() waits for Chromium's own line, so it is passed on. */
export const browser: Promise<Browser> = new Promise((resolve, reject) => {
  child.once('error', reject)
  createInterface({ input: child.stderr }).on('line', (line) => {
    const endpoint = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
    if (endpoint === undefined) return
    chromium.connectOverCDP(endpoint).then((connected) => {
      process.stderr.write(`${line}\n`)
      connected.on('disconnected', () => process.exit(process.exitCode ?? 0))
      resolve(connected)
    }, reject)
  })
})

browser.catch((error: unknown) => {
  process.stderr.write(`electron stand-in: Chromium did not start: ${error}\n`)
  process.exit(1)
})
