/** Sessions in docker, begun in the window. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchBrowser } from '../browser.ts'
import { TestHost } from '../host.ts'
import { suiteNeeding } from '../needs.ts'
import { MainWindow } from '../pages/main-window.ts'

suiteNeeding(['browser', 'docker'], 'docker in the window', () => {
  let browser: Browser
  let host: TestHost
  let page: Page

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  beforeEach(async () => {
    host = await TestHost.begin()
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(await host.browserUrl())
    await page.getByRole('button', { name: 'New session…' }).first().click()
    await page.getByLabel('Folder on this machine').fill(host.folder('project'))
    await page.getByRole('radiogroup', { name: 'Runs in' }).getByText('Docker', { exact: true }).click()
  })
  afterEach(async () => {
    await page?.close()
    await host?.end()
  })

  test('a session begun by the form runs in a machine of its own', async () => {
    await page.getByText('what is installed in it goes back with a rewind').waitFor()
    await page.getByRole('button', { name: 'Start session' }).click()
    await new MainWindow(page).now.waitFor({ state: 'visible' })
    const [session] = await host.ask((rpc) => rpc.sessions.list())
    expect(session).toMatchObject({ engine: 'docker', scope: 'machine', workspaceInside: '/workspace' })
    const { stdout } = await host.json<{ stdout: string }>(
      'exec',
      '--session',
      'project',
      '--user',
      'root',
      'id -u; pwd',
    )
    expect(stdout).toBe('0\n/workspace\n')
  })

  test('an image that no registry gives is said to, and the form stays as it was filled in', async () => {
    await page.getByLabel('Image').fill('127.0.0.1:1/nobody')
    await page.getByText('it is pulled first').waitFor()
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByRole('alert').getByText('could not be pulled').waitFor()
    expect(await page.getByLabel('Image').inputValue()).toBe('127.0.0.1:1/nobody')
    expect(await host.ask((rpc) => rpc.sessions.list())).toEqual([])
  })
})
