/** Windows opened for real: programs that write down how they were started, and a Chromium that follows the page. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chromium, suiteNeeding } from '../../e2e/needs.ts'
import { type Facts, openWindow } from './launch.ts'

const CODE = 'c0de-that-nobody-else-may-see'
const url = `http://127.0.0.1:7717/#code=${CODE}`

let home: string
let said: string[]
const say = (line: string) => void said.push(line)

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'window-'))
  said = []
})

afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))

const machine = (facts: Partial<Facts> = {}): Facts => ({
  platform: 'linux',
  root: false,
  display: true,
  electron: null,
  browser: null,
  opener: null,
  sandbox: true,
  failed: {},
  ...facts,
})

/** A program that writes its arguments, one a line, and its REWIND_HOME, then does `then`. */
function program(name: string, then = 'sleep 2'): string {
  const path = join(home, name)
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" "home=$REWIND_HOME" > ${path}.argv\n${then}\n`)
  chmodSync(path, 0o755)
  return path
}

const argvOf = (path: string) => readFileSync(`${path}.argv`, 'utf8').trim().split('\n')

function pageIn(argv: string[]): string {
  const address = argv.map((arg) => arg.replace('--app=', '')).find((arg) => arg.startsWith('file://'))
  return fileURLToPath(address ?? '')
}

describe('opening the window', () => {
  test('a browser is told the way in by a file that only its owner can read, never by an argument', async () => {
    const browser = program('browser')
    expect(await openWindow({ home, url, say, facts: machine({ browser }) })).toMatchObject({ way: 'app-window' })
    const argv = argvOf(browser)
    expect(argv.join(' ')).not.toContain(CODE)
    expect(argv).toContain(`--user-data-dir=${join(home, 'browser-profile')}`)
    expect(argv).not.toContain('--no-sandbox')
    const page = pageIn(argv)
    expect(readFileSync(page, 'utf8')).toContain(`location.replace("${url}")`)
    expect(statSync(page).mode & 0o777).toBe(0o600)
    expect(said).toEqual([
      'Opened a browser window of its own.',
      'Not the Electron window: its binary is not installed.',
      `The host goes on in the background, and ends by itself after 15 quiet minutes; its data lies in ${home}.`,
    ])
  })

  test('as root the browser runs without its sandbox, and that is said', async () => {
    const browser = program('browser')
    await openWindow({ home, url, say, facts: machine({ browser, root: true, electron: '/opt/electron' }) })
    expect(argvOf(browser)).toContain('--no-sandbox')
    expect(said).toContain('Not the Electron window: it does not run as root.')
    expect(said.at(-2)).toMatch(/^As root it runs without the browser's own sandbox/)
  })

  test('Electron finds the data folder, and no code is asked for', async () => {
    const electron = program('electron')
    const never = () => Promise.reject(new Error('asked for a code'))
    expect(await openWindow({ home, url: never, say, facts: machine({ electron }) })).toMatchObject({ way: 'electron' })
    expect(argvOf(electron).at(-1)).toBe(`home=${home}`)
  })

  test('a window that breaks at once gives way to the next, which says so', async () => {
    const electron = program('electron', 'exit 1')
    const browser = program('browser', 'kill -9 $$')
    const opener = program('opener', 'exit 0')
    const facts = machine({ electron, browser, opener })
    expect(await openWindow({ home, url, say, facts })).toMatchObject({ way: 'default-browser' })
    expect(readFileSync(pageIn(argvOf(opener)), 'utf8')).toContain(CODE)
    expect(said.slice(1, 3)).toEqual([
      expect.stringMatching(/^Not the Electron window: it ended at once \(exit code 1; see .*window\.log\)\.$/),
      expect.stringMatching(/^Not a browser window of its own: it ended at once \(SIGKILL;/),
    ])
  })

  test('without a display it prints the address, after all the reasons', async () => {
    expect(await openWindow({ home, url, say, facts: machine({ display: false }) })).toEqual({
      way: 'address',
      pid: null,
    })
    expect(said.slice(0, 3).map((line) => line.split(':')[0])).toEqual([
      'Not the Electron window',
      'Not a browser window of its own',
      'Not the default browser',
    ])
    expect(said[3]).toContain(url)
    expect(said[4]).toMatch(/in the background, and ends by itself after 15 quiet minutes; its data lies in /)
  })

  test('sign-in pages that had their time are removed', async () => {
    const opener = program('opener', 'exit 0')
    const folder = join(home, 'sign-in')
    await openWindow({ home, url, say, facts: machine({ opener }) })
    const [first] = readdirSync(folder)
    utimesSync(join(folder, String(first)), 1, 1)
    await openWindow({ home, url, say, facts: machine({ opener }) })
    expect(readdirSync(folder)).toHaveLength(1)
    expect(readdirSync(folder)).not.toContain(first)
  })
})

suiteNeeding(['browser'], 'the app window in a real browser', () => {
  test('reaches the host with its code, and no process shows the code in its arguments', async () => {
    const seen = Promise.withResolvers<string>()
    const server = createServer((request, response) => {
      if (request.method === 'POST') {
        request.on('data', (hash) => seen.resolve(String(hash)))
        response.end()
      } else
        response
          .setHeader('content-type', 'text/html')
          .end("<script>fetch('/', { method: 'POST', body: location.hash })</script>")
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#code=${CODE}`
    // Headless, as no display is promised here; everything else is what a person's browser is started with.
    const browser = join(home, 'headless')
    writeFileSync(browser, `#!/bin/sh\nexec '${chromium()}' --headless --disable-gpu "$@"\n`)
    chmodSync(browser, 0o755)
    const facts = machine({ browser, root: process.getuid?.() === 0 })
    const { pid } = await openWindow({ home, url: address, say, facts })
    try {
      expect(await seen.promise).toBe(`#code=${CODE}`)
      const family = processesNaming(home)
      expect(family.length).toBeGreaterThan(1)
      expect(family.filter((argv) => argv.includes(CODE))).toEqual([])
    } finally {
      if (pid) process.kill(-pid, 'SIGTERM')
      for (let tries = 0; processesNaming(home).length > 0 && tries < 100; tries++) await sleep(50)
      server.closeAllConnections()
      server.close()
    }
  })
})

/** Command lines of all processes that name a folder, as any user of the machine can read them. */
function processesNaming(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/cmdline`))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
    .filter((argv) => argv.includes(folder))
}
