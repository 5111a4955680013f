/**
 * A page that carries the single-use code to a browser. Every user of the machine can read the arguments of every
 * process, so the browser is given the path of a file that only its owner can read, and that file leads on.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A code lives 60 s; a page that is older leads nowhere. */
const PAGE_LIVES_MS = 120_000

/**
 * Writes the page (0600) into the data folder, and removes those that have had their time.
 * @param address where it leads, with the code in its hash
 * @returns the page's own file:// address
 */
export function writeSignInPage(home: string, address: string): string {
  const folder = join(home, 'sign-in')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).mtimeMs < Date.now() - PAGE_LIVES_MS) rmSync(path, { force: true })
  }
  const page = join(folder, `${randomBytes(8).toString('hex')}.html`)
  // replace(), so that the way back does not lead through a code that was used.
  const script = `location.replace(${JSON.stringify(address).replaceAll('<', '\\u003c')})`
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Rewind</title><script>${script}</script>\n`,
    { mode: 0o600, flag: 'wx' },
  )
  return pathToFileURL(page).href
}
