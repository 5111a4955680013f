/** The window in a browser, on a headless host: sign-in, the journeys, and a host that dies meanwhile. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchBrowser, show } from './browser.ts'
import { TestHost } from './host.ts'
import {
  afterARun,
  commitHunks,
  commitToTheWorkspace,
  emptyState,
  goAnywhere,
  holdStill,
  keyboardAlone,
  lookAtFiles,
  placeFromTheTerminal,
  reachInside,
  rewindAndUndo,
  rulesInTheWindow,
  saveAsItWas,
  sessionFromTheTerminal,
  shellInTheWindow,
  walkTheChanges,
  watchAnAgent,
  watchTheDemo,
} from './journeys.ts'
import { suiteNeeding } from './needs.ts'
import { MainWindow } from './pages/main-window.ts'

suiteNeeding(['browser', 'local'], 'the window in a browser', () => {
  let browser: Browser
  let host: TestHost
  let person: BrowserContext
  let page: Page
  let faults: string[]

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  beforeEach(async () => {
    host = await TestHost.begin()
    person = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    page = await person.newPage()
    faults = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      // A host that is killed on purpose cannot be reached for a while; the browser writes that down by itself.
      const isOurs = !/Failed to load resource|WebSocket connection|net::ERR_/.test(message.text())
      if (message.type() === 'error' && isOurs) faults.push(message.text())
    })
    await show(page, () => host.browserUrl())
  })
  afterEach(async () => {
    await person?.close()
    await host?.end()
    expect(faults).toEqual([])
  })

  test('empty state', () => emptyState({ page, data: host }))

  test('the demo, then a rewind by hand and its undo', async () => {
    await watchTheDemo({ page, data: host })
    await rewindAndUndo({ page, data: host })
  })

  test('a session made in a terminal is here within a second', () => sessionFromTheTerminal({ page, data: host }))

  test('the files that changed, by the keyboard', () => walkTheChanges({ page, data: host }))

  test('a shell in the sandbox', () => shellInTheWindow({ page, data: host }))

  test('what runs is looked at, held still and ended', () => holdStill({ page, data: host }))

  test('a port inside is opened to this machine, and closed', () => reachInside({ page, data: host }))

  test('anywhere by a few letters', () => goAnywhere({ page, data: host }))

  test('a point that somebody in a terminal wants to be seen', () => placeFromTheTerminal({ page, data: host }))

  test('the rules of a session', () => rulesInTheWindow({ page, data: host }))

  test('what an agent does is seen as it does it', () => watchAnAgent({ page, data: host }))

  test('a session on a folder that is not there yet', async () => {
    const folder = join(host.folder('around'), 'not', 'yet')
    await page.getByRole('button', { name: 'New session…' }).first().click()
    await page.getByLabel('Folder on this machine').fill(folder)
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByText('Check the path, or have the folder made.').waitFor({ state: 'visible' })
    expect(existsSync(folder)).toBe(false)
    await page.getByRole('button', { name: 'Make the folder and start' }).click()
    await new MainWindow(page).now.waitFor({ state: 'visible' })
    expect(existsSync(folder)).toBe(true)
  })

  test('a commit to the workspace, and its undo', () => commitToTheWorkspace({ page, data: host }))

  test('a commit of hunks, and of a merge', () => commitHunks({ page, data: host }))

  test('the ledger, its exports, the report, and the sheets of the window', () => afterARun({ page, data: host }))

  test('pictures, databases, bytes, and a file saved as it was', async () => {
    await lookAtFiles({ page, data: host })
    await saveAsItWas({ page, data: host })
  })

  test('the keyboard alone', () => keyboardAlone({ page, data: host }))

  test('a host that is killed and comes back is caught up with', async () => {
    await sessionFromTheTerminal({ page, data: host })
    const window = new MainWindow(page)
    const points = (await window.spoken()).length
    await host.kill()
    await window.hostIsAway.waitFor({ state: 'visible' })
    await window.button('Checkpoint').click()
    await page.getByRole('button', { name: 'Take' }).click()
    await page.getByText('The host is away, so nothing was done.').waitFor({ state: 'visible' })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Copy rewind open' }).waitFor({ state: 'visible', timeout: 8_000 })
    await host.start()
    await host.json('--session', 'from_terminal', 'checkpoint', 'after the crash')
    await window.point(/^after the crash, checkpoint/).waitFor({ state: 'visible' })
    await window.hostIsAway.waitFor({ state: 'hidden' })
    expect(await window.point(/^first, checkpoint/).count()).toBe(1)
    await window.button('Checkpoint').click()
    await page.getByRole('button', { name: 'Take' }).click()
    // The one made after the crash and this one: what was refused while the host was away was not done later.
    await expect.poll(() => window.spoken()).toHaveLength(points + 2)
  })

  test('a session that took the window down twice is marked and asked about', async () => {
    for (const name of ['steady', 'heavy']) await host.json('init', host.folder(name), '--session', name)
    /** Another page, as a person opens one after the first went down. */
    const again = async () => {
      const next = await person.newPage()
      await show(next, () => host.browserUrl())
      const window = new MainWindow(next)
      await window.session('heavy').waitFor({ state: 'visible' })
      return { next, window }
    }
    const crash = async (fallen: Page) => {
      const session = await person.newCDPSession(fallen)
      const gone = fallen.waitForEvent('crash')
      void session.send('Page.crash').catch(() => undefined)
      await gone
      await fallen.close()
    }
    const isOpen = (window: MainWindow, name: string) =>
      expect.poll(() => window.session(name).getAttribute('aria-selected'), { timeout: 10_000 }).toBe('true')

    await new MainWindow(page).session('heavy').click()
    await new MainWindow(page).now.waitFor({ state: 'visible' })
    await crash(page)
    const second = await again()
    await isOpen(second.window, 'heavy')
    await second.window.now.waitFor({ state: 'visible' })
    await crash(second.next)

    const { next, window } = await again()
    await isOpen(window, 'steady')
    await window
      .session('heavy')
      .and(next.getByRole('option', { name: /took the window down$/ }))
      .click()
    await next.getByRole('heading', { name: '“heavy” took the window down twice' }).waitFor({ state: 'visible' })
    expect(await window.timeline.count()).toBe(0)
    await next.getByRole('button', { name: 'Open it all the same' }).click()
    await window.now.waitFor({ state: 'visible' })
  })

  test('a code works once, for one browser', async () => {
    const url = await host.browserUrl()
    const refusedWith = async (address: string) => {
      const stranger = await browser.newContext()
      const other = await stranger.newPage()
      await other.goto(address)
      await other.getByRole('heading').waitFor()
      const said = await other.getByRole('main').innerText()
      expect(await new MainWindow(other).sessionsPane.count()).toBe(0)
      await stranger.close()
      return said
    }
    const friend = await browser.newContext()
    const theirs = await friend.newPage()
    await theirs.goto(url)
    await new MainWindow(theirs).sessionsPane.waitFor()
    expect(theirs.url()).not.toContain('code')
    await theirs.reload()
    await new MainWindow(theirs).sessionsPane.waitFor()
    await friend.close()

    expect(await refusedWith(url)).toMatch(/wrong, was used already, or is older than a minute/)
    expect(await refusedWith(url.replace(/code=.*/, `code=${'A'.repeat(43)}`))).toMatch(/wrong, was used already/)
    expect(await refusedWith(url.replace(/#.*/, ''))).toMatch(/not signed in/)
  })
})
