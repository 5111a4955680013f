/** No screen has a fault that axe-core knows of, in either theme; walked over the fixtures' page, which has them all. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser, show } from './browser.ts'
import { suiteNeeding } from './needs.ts'
import { MainWindow } from './pages/main-window.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const CONFIG = join(import.meta.dirname, '../src-renderer/fixtures/vite.config.ts')

/** A scenario of the fixtures, and how its screens are reached one after the other. */
const screens: Record<string, Record<string, (window: MainWindow) => Promise<unknown>>> = {
  empty: { 'the start': (window) => window.watchDemo.waitFor() },
  failing: { 'a host that cannot be asked': ({ page }) => page.getByRole('alert').first().waitFor() },
  working: {
    'the changes': (window) => window.files.waitFor(),
    'the processes, and a port that is open': async (window) => {
      await window.tab('Processes').click()
      await window.page.getByRole('button', { name: 'Open to this machine: port 5173' }).click()
      await window.page.getByRole('button', { name: 'Close port 5173' }).waitFor()
    },
    'a point': async (window) => {
      await window.tab('Changes').click()
      await window.point(/^pre_migration/).click()
    },
    'two points': ({ page }) => page.keyboard.press('Shift+ArrowUp'),
    'the messages': async (window) => {
      await window.point(/^pre_migration/).click()
      await window.tab('Messages').click()
      await window.later.waitFor()
    },
    'the notes of the session': async ({ page }) => {
      await page.getByRole('button', { name: '2 notes' }).click()
      await page
        .getByRole('dialog', { name: 'Notes' })
        .getByText(/poetry/)
        .waitFor()
    },
    'the output': async (window) => {
      await window.page.keyboard.press('Escape')
      await window.tab('Output').click()
    },
    'the ledger': (window) => window.tab('Ledger').click(),
    'a row of the ledger': async (window) => {
      await window.ledger
        .getByRole('row', { name: /^escalation|^verification/ })
        .first()
        .click()
      await window.page.getByRole('region', { name: 'Ledger row' }).waitFor()
    },
    'the find bar': async ({ page }) => {
      await page.keyboard.press('Control+f')
      await page.keyboard.type('write')
    },
    'the palette': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+k')
    },
    'the filter': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('f')
    },
    'the keys': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
    },
    'the rules, and a verifier that was tried': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Rules' }).click()
      const sheet = page.getByRole('dialog', { name: 'Rules' })
      await sheet.getByRole('checkbox', { name: 'Roll back by itself' }).setChecked(true)
      await sheet.getByRole('textbox', { name: 'Verifier' }).fill('pytest -q')
      await sheet.getByRole('button', { name: 'Try' }).click()
      await sheet
        .getByText(/2 tests fail/)
        .first()
        .waitFor()
    },
    'the rewind sheet': async (window) => {
      await window.page.keyboard.press('Escape')
      await window.point(/^pre_migration/).click()
      await window.page.keyboard.press('r')
      await window.sheet.waitFor()
    },
    'the commit sheet': async (window) => {
      await window.page.keyboard.press('Escape')
      await window.page.keyboard.press('w')
      await window.commitSheet.waitFor()
    },
  },
  committing: {
    'the hunks of a file, and of a merge': async (window) => {
      await window.now.waitFor()
      await window.page.keyboard.press('w')
      const sheet = window.commitSheet
      await sheet.getByRole('combobox', { name: 'What to do with src/tax.py' }).selectOption('Merge both')
      await sheet.getByRole('group', { name: 'Hunks of src/tax.py' }).waitFor()
      await sheet.getByRole('button', { name: 'Difference of src/prices.py' }).click()
      await sheet.getByRole('checkbox', { name: /^Hunk 2 of 4/ }).uncheck()
    },
  },
  tampered: {
    'how an agent comes in': async ({ page }) => {
      await page.getByRole('button', { name: 'Connect an agent…' }).click()
      await page.getByRole('dialog', { name: 'Connect an agent' }).waitFor()
    },
    'what the machine lacks': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Doctor' }).click()
      await page.getByRole('list', { name: 'Checks' }).waitFor()
    },
    'the preferences': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+,')
      await page.getByRole('dialog', { name: 'Preferences' }).waitFor()
    },
    'a ledger that was changed': async (window) => {
      await window.page.keyboard.press('Escape')
      await window.tab('Ledger').click()
      await window.page.getByRole('button', { name: 'Show row 7' }).click()
    },
  },
  long: { 'a long run': ({ page }) => page.getByRole('slider', { name: 'Overview' }).waitFor() },
  undecided: { 'a decision': ({ page }) => page.getByRole('dialog').waitFor() },
  halted: { 'a halted session': (window) => window.now.waitFor() },
  hostile: { 'hostile content': (window) => window.now.waitFor() },
}

let server: ViteDevServer
let browser: Browser
let address: string

suiteNeeding(['browser'], 'every screen, as axe sees it', () => {
  beforeAll(async () => {
    server = await createServer({ configFile: CONFIG, server: { port: 0 }, logLevel: 'error' })
    await server.listen()
    address = server.resolvedUrls?.local[0] ?? ''
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  test.each(Object.entries(screens))('%s', { timeout: 180_000 }, async (scenario, steps) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
    await show(page, () => `${address}fixtures/?scenario=${scenario}`)
    const faults: string[] = []
    for (const [screen, reach] of Object.entries(steps)) {
      await reach(new MainWindow(page))
      faults.push(...(await faultsOf(page)).map((fault) => `${screen}: ${fault}`))
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      faults.push(...(await faultsOf(page, ['color-contrast'])).map((fault) => `${screen}, dark: ${fault}`))
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    }
    await page.close()
    expect(faults).toEqual([])
  })
})

/** What axe objects to, with where. @param only rules; all of them where it is left out */
async function faultsOf(page: Page, only?: string[]): Promise<string[]> {
  // Evaluated from outside: the page's own content policy lets no script in.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    // What is spoken of a row or a button is a sentence; what stands there are counts, letters and keys.
    const rules = { 'label-content-name-mismatch': { enabled: false } }
    const { violations } = await axe.run(document, {
      resultTypes: ['violations'],
      ...(only ? { runOnly: only } : { rules }),
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target} ${failureSummary}`),
    )
  }, only)
}
