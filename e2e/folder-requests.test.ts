/** What an agent may use is a person's to say, at the window: folders that it asks for, sessions that they began. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launchBrowser, show } from './browser.ts'
import { TestHost } from './host.ts'
import { connect, type ToolClient } from './mcp-clients.ts'
import { suiteNeeding } from './needs.ts'
import { MainWindow } from './pages/main-window.ts'

suiteNeeding(['local', 'browser'], 'what agents may use, asked at the window', () => {
  let browser: Browser
  let host: TestHost
  let project: string
  let page: Page
  let window: MainWindow
  const clients: ToolClient[] = []

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    host = await TestHost.begin()
    project = host.folder('project')
    writeFileSync(join(project, 'app.py'), 'print("fine")\n')
    page = await (await browser.newContext()).newPage()
    await show(page, () => host.browserUrl())
    window = new MainWindow(page)
    await window.watchDemo.waitFor()
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
    await page?.context().close()
    await host?.end()
  })

  async function agent(...args: string[]): Promise<ToolClient> {
    const client = await connect('2025 over stdin', host, { name: 'tidy agent', args })
    clients.push(client)
    return client
  }

  test('allowed once, it begins there and is not asked again', async () => {
    const client = await agent()
    const answer = client.call('init_sandbox', { path: project, container_name: 'one' })
    await window.folderRequest.getByText(project).waitFor()
    expect(await window.folderRequest.innerText()).toContain('tidy agent 1.2.3 asks to work in a folder')
    await window.folderRequest.getByRole('button', { name: 'Allow' }).click()
    expect(await answer).toMatchObject({ isError: false, data: { status: 'running', path: project, pending: false } })
    await window.folderRequest.waitFor({ state: 'detached' })
    await window.session('one').waitFor()
    const again = await (await agent()).call('init_sandbox', { path: project, container_name: 'two' })
    expect(again, again.text).toMatchObject({ isError: false })
    expect((await host.json<{ folders: string[] }>('allow')).folders).toEqual([project])
  })

  test('refused, it is told so, and nothing is asked again', async () => {
    const client = await agent()
    const missing = join(project, 'not/there')
    const answer = client.call('init_sandbox', { path: missing })
    await window.folderRequest.getByRole('button', { name: 'Refuse' }).click()
    expect(await answer).toMatchObject({ isError: true, text: expect.stringContaining('A person refused') })
    expect((await client.call('init_sandbox', { path: missing })).text).toContain('A person refused')
    expect(existsSync(missing)).toBe(false)
    expect((await host.json<{ folders: string[] }>('allow')).folders).toEqual([])
  })

  test('an agent that waits longer than its client does goes on by get_command', async () => {
    const client = await agent('--wait', '1')
    const pending = await client.call('init_sandbox', { path: project, container_name: 'late' })
    expect(pending).toMatchObject({ isError: false, data: { pending: true, id: expect.stringMatching(/^begin-/) } })
    const { id } = pending.data
    expect((await client.call('get_command', { id })).data).toMatchObject({ id, pending: true })
    await window.folderRequest.getByRole('button', { name: 'Allow' }).click()
    let done = await client.call('get_command', { id })
    while (done.data.pending) done = await client.call('get_command', { id })
    expect(done).toMatchObject({ isError: false, data: { result: { name: 'late', status: 'running' } } })
    // The session is the one that is meant from now on.
    const written = await client.call('write_sandbox_file', { path: 'x', content: 'y' })
    expect(written, written.text).toMatchObject({ isError: false, data: { session: done.data.result.session } })
    expect((await client.call('get_command', { id })).text).toContain('Nothing is pending')
  })

  test('an agent that goes takes its question along; allowed on the command line, it is answered', async () => {
    const first = await agent()
    const gone = first.call('init_sandbox', { path: project }).catch((error: unknown) => String(error))
    await window.folderRequest.waitFor()
    await clients.pop()?.close()
    expect(await gone).toContain('closed')
    await window.folderRequest.waitFor({ state: 'detached' })
    const answer = (await agent()).call('init_sandbox', { path: project })
    await window.folderRequest.waitFor()
    await host.json('allow', project)
    expect(await answer).toMatchObject({ isError: false })
    await window.folderRequest.waitFor({ state: 'detached' })
  })

  test('a home folder is not asked for, and without a window the command is named', async () => {
    const client = await agent('--wait', '1')
    expect((await client.call('init_sandbox', { path: '/' })).text).toContain('may not begin a session in /')
    await page.close()
    // Those of a moment in which the window was still seen wait on.
    let asked = 0
    await expect
      .poll(async () => (await client.call('init_sandbox', { path: join(project, `x${++asked}`) })).text, {
        timeout: 20_000,
      })
      .toContain(`rewind allow ${project}/x`)
  })

  describe('a session that a person began', () => {
    test('is opened to agents by a switch, and closed again', async () => {
      await host.json('init', '--session', 'mine', project)
      const client = await agent()
      const look = () => client.call('execute_sandbox_command', { cmd: 'ls', session: 'mine' })
      expect((await look()).text).toMatch(/^SANDBOX_NOT_FOUND/)
      await window.session('mine').click()
      await window.share.click()
      await expect.poll(() => window.share.getAttribute('aria-checked'), { timeout: 10_000 }).toBe('true')
      expect(await look()).toMatchObject({ isError: false, data: { stdout: 'app.py\n' } })
      await window.share.click()
      await expect.poll(() => window.share.getAttribute('aria-checked'), { timeout: 10_000 }).toBe('false')
      expect((await look()).text).toMatch(/^SANDBOX_NOT_FOUND/)
    })
  })
})
