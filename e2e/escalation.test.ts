/** A verdict that nobody can give, decided in the window by keyboard; a halt, and resuming from it. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchBrowser, show } from './browser.ts'
import { TestHost } from './host.ts'
import { suiteNeeding } from './needs.ts'

suiteNeeding(['browser', 'local'], 'escalations in the window', () => {
  let browser: Browser
  let host: TestHost
  let page: Page

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  beforeEach(async () => {
    host = await TestHost.begin()
    await host.json('init', host.folder('project'))
    await host.json('checkpoint', 'stable')
    await host.json('write', 'a.txt', 'bad')
    const verifier = ['--verifier', 'echo 48 collected; echo refused >&2', '--retries', '0']
    await host.json('auto-rollback', 'test_failure', '--to', 'stable', ...verifier)
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await show(page, () => host.browserUrl())
    await page.getByRole('main').waitFor()
  })
  afterEach(async () => {
    await page?.close()
    await host?.end()
  })

  const sheet = () => page.getByRole('dialog', { name: 'The verifier could not decide' })
  const answer = (name: string) => sheet().getByRole('button', { name, exact: true })
  const isFocused = (name: string) => answer(name).evaluate((button) => button === document.activeElement)

  test('evidence first, deaf for half a second, then C R S and Enter', async () => {
    // The page's own clock stands still: however slow this machine is, the sheet has just come.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1_000)
    const verify = host.cli('verify')
    await sheet().waitFor()
    await page.keyboard.press('s')
    await page.keyboard.press('Enter')
    const evidence = sheet().getByRole('region', { name: 'Evidence' })
    for (const text of ['48 collected', 'refused', 'a.txt', 'stable']) await evidence.getByText(text).first().waitFor()
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/escalation.png` })
    await page.clock.runFor(600)
    await page.clock.resume()
    // What was pressed too soon has done nothing, and the evidence has the focus: an Enter decides nothing.
    expect([await isFocused('Stop'), await isFocused('Continue')]).toEqual([false, false])
    await page.keyboard.press('Enter')
    await page.keyboard.press('s')
    expect(await isFocused('Stop')).toBe(true)
    await page.keyboard.press('r')
    expect(await isFocused('Roll back')).toBe(true)
    await page.keyboard.press('c')
    await page.keyboard.press('Enter')
    expect(await verify).toMatchObject({ code: 6, stderr: expect.stringContaining('Nothing was verified') })
    await sheet().waitFor({ state: 'detached' })
    const { escalations } = await host.json<{ escalations: object[] }>('escalations', '--all')
    expect(escalations).toMatchObject([{ resolution: 'continue', answered_by: 'you', via: 'window' }])
  })

  test('it is laid aside to look first, is there again after a reload and after the host was killed', async () => {
    void host.cli('verify')
    await sheet().waitFor()
    await page.waitForTimeout(600)
    await page.keyboard.press('Escape')
    const bar = page.getByRole('region', { name: 'Waiting for you' })
    await bar.waitFor()
    await bar.getByRole('button', { name: 'Decide' }).click()
    await sheet().waitFor()
    await page.reload()
    await sheet().waitFor()
    await host.kill()
    await sheet().waitFor({ state: 'detached' })
    await host.start()
    await sheet().waitFor()
    await page.waitForTimeout(600)
    await answer('Roll back').click()
    await sheet().waitFor({ state: 'detached' })
    expect((await host.cli('read', 'a.txt')).code).toBe(5)
  })

  test('a halted session says why, and goes on with a mended verifier or unverified', async () => {
    const verify = host.cli('verify')
    await sheet().waitFor()
    await page.waitForTimeout(600)
    await page.keyboard.press('s')
    await page.keyboard.press('Enter')
    expect((await verify).code).toBe(6)
    const halted = page.getByRole('region', { name: 'Halted' })
    await halted.getByText('You stopped it.').waitFor()
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/halted.png` })
    await halted.getByRole('button', { name: 'Changes' }).click()
    await halted.getByLabel('Mended verifier').fill('echo \'{"status":"fail","summary":"still bad"}\'')
    await page.keyboard.press('Enter')
    await halted.getByText('still bad').waitFor()
    await halted.getByLabel('Mended verifier').fill('echo \'{"status":"pass"}\'')
    await halted.getByRole('button', { name: 'Verify and resume' }).click()
    await halted.waitFor({ state: 'detached' })
    expect((await host.json<{ status: string }>('status')).status).toBe('running')
    expect((await host.cli('verify')).code).toBe(0)
  })
})
