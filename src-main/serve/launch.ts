/**
 * Opens the window: Electron, else a browser's app window, else the default browser, else it prints the address.
 * It always says which way it took and why; a way that breaks at once gives way to the next.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { idleMinutes } from './idle.ts'
import { chooseWindow, type Facts, type Way } from './launch/choose.ts'
import { downloadElectron } from './launch/download.ts'
import { lookAtMachine } from './launch/facts.ts'
import { writeSignInPage } from './launch/sign-in-page.ts'
import { packageRoot } from './package-root.ts'

export type { Facts, Way } from './launch/choose.ts'

export interface OpenWindow {
  /** The data folder. */
  home: string
  /**
   * An address with a single-use code in its hash, or what asks a host for one. Asked when a browser needs it, since
   * codes live for a minute; Electron needs none.
   */
  url: string | (() => Promise<string>)
  /** Whether Electron may be downloaded where its binary is missing. */
  download?: boolean
  /** Where the person reads what is done. */
  say?: (line: string) => void
  /** The machine, as it was found; looked at when left out. */
  facts?: Facts
}

/** What was opened, and the process that shows it where it is ours to know. */
export interface Opened {
  way: Way
  pid: number | null
}

/** A window that lives this long has opened. */
const OPENED_AFTER_MS = 1_000

const TITLES: Record<Way, string> = {
  electron: 'the Electron window',
  'app-window': 'a browser window of its own',
  'default-browser': 'the default browser',
  address: 'no window',
}

/** Opens the window in the best way there is; resolves when it stands (or its address is printed). */
export async function openWindow(options: OpenWindow): Promise<Opened> {
  const { home, say = console.log } = options
  const electronFolder = findElectron()
  let facts = options.facts ?? lookAtMachine(electronFolder)
  if (options.download && electronFolder && isOnlyMissing(facts)) {
    const outcome = await downloadElectron(electronFolder, say)
    facts =
      'binary' in outcome
        ? { ...facts, electron: outcome.binary }
        : { ...facts, failed: { ...facts.failed, electron: outcome.why } }
  }
  const url = async () => (typeof options.url === 'string' ? options.url : await options.url())
  for (;;) {
    const { way, passedOver } = chooseWindow(facts)
    if (way === 'address') {
      for (const { way, why } of passedOver) say(`Not ${TITLES[way]}: ${why}.`)
      say(`Open this address in a browser on this machine within a minute:\n\n  ${await url()}\n`)
      say(`${goesOn(home)} \`rewind open\` gives a new address.`)
      return { way, pid: null }
    }
    const outcome = await start(commandFor(way, facts, home, way === 'electron' ? '' : await url()), home)
    if ('pid' in outcome) {
      say(`Opened ${TITLES[way]}.`)
      for (const { way, why } of passedOver) say(`Not ${TITLES[way]}: ${why}.`)
      if (way === 'app-window' && facts.root)
        say("As root it runs without the browser's own sandbox; it shows only this host's page.")
      if (way !== 'electron') say(goesOn(home))
      return { way, pid: outcome.pid }
    }
    facts = { ...facts, failed: { ...facts.failed, [way]: outcome.why } }
  }
}

const goesOn = (home: string): string =>
  `The host goes on in the background, and ends by itself after ${idleMinutes(process.env.REWIND_IDLE_MINUTES)} quiet minutes; its data lies in ${home}.`

function isOnlyMissing(facts: Facts): boolean {
  return facts.electron === null && chooseWindow({ ...facts, electron: 'downloaded' }).way === 'electron'
}

interface Command {
  program: string
  args: string[]
  env?: Record<string, string>
}

function commandFor(way: Exclude<Way, 'address'>, facts: Facts, home: string, url: string): Command {
  switch (way) {
    case 'electron':
      return { program: facts.electron ?? '', args: [packageRoot], env: { REWIND_HOME: home } }
    case 'app-window': {
      const profile = join(home, 'browser-profile')
      mkdirSync(profile, { recursive: true, mode: 0o700 })
      // Chromium refuses to run as root with its sandbox; --test-type leaves out the bar that says so.
      const asRoot = facts.root ? ['--no-sandbox', '--test-type'] : []
      return {
        program: facts.browser ?? '',
        args: [
          `--app=${writeSignInPage(home, url)}`,
          `--user-data-dir=${profile}`,
          '--class=rewind-desktop',
          '--no-first-run',
          '--no-default-browser-check',
          '--window-size=1280,800',
          ...asRoot,
        ],
      }
    }
    case 'default-browser':
      return { program: facts.opener ?? '', args: [writeSignInPage(home, url)] }
  }
}

/** Starts a program that outlives us. One that ends badly at once is a window that did not open. */
function start({ program, args, env }: Command, home: string): Promise<{ pid: number } | { why: string }> {
  const log = openSync(join(home, 'window.log'), 'a', 0o600)
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
  })
  closeSync(log)
  return new Promise((resolve) => {
    const opened = () => {
      clearTimeout(timer)
      child.removeAllListeners()
      child.unref()
      resolve({ pid: child.pid ?? 0 })
    }
    const timer = setTimeout(opened, OPENED_AFTER_MS)
    const failed = (why: string) => {
      clearTimeout(timer)
      resolve({ why })
    }
    child.once('error', (error) => failed(`it cannot be started (${error.message})`))
    child.once('exit', (code, signal) => {
      // Openers hand over and end, and so does a browser that runs already.
      if (code === 0) opened()
      else failed(`it ended at once (${signal ?? `exit code ${code}`}; see ${join(home, 'window.log')})`)
    })
  })
}

/** Folder of Electron's npm package; null in an installation that left it out. */
function findElectron(): string | null {
  try {
    return dirname(createRequire(join(packageRoot, 'package.json')).resolve('electron/package.json'))
  } catch {
    return null
  }
}
