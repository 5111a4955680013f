/** The built Electron bundles: the same journeys, and what only the shell does. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { APP_NEEDS, App } from './electron.ts'
import { TestHost } from './host.ts'
import {
  afterARun,
  emptyState,
  goAnywhere,
  holdStill,
  keyboardAlone,
  lookAtFiles,
  placeFromTheTerminal,
  reachInside,
  rewindAndUndo,
  rulesInTheWindow,
  sessionFromTheTerminal,
  shellInTheWindow,
  walkTheChanges,
  watchTheDemo,
} from './journeys.ts'
import { suiteNeeding } from './needs.ts'
import { MainWindow } from './pages/main-window.ts'

/** In the app's own process: what it asked the desktop for, and what the person answers there. */
declare const standin: typeof import('./electron-standin/record.ts').record

suiteNeeding(APP_NEEDS, 'the app in Electron', () => {
  let app: App
  let page: Page

  describe('as the host', () => {
    beforeEach(async () => {
      app = new App()
      page = await app.start()
    })
    afterEach(() => app?.end())

    test('empty state', () => emptyState({ page, data: app.data }))

    test('the demo, then a rewind by hand and its undo', async () => {
      await watchTheDemo({ page, data: app.data })
      await rewindAndUndo({ page, data: app.data })
    })

    test('a session made in a terminal is here within a second', () => sessionFromTheTerminal({ page, data: app.data }))

    test('a shell in the sandbox', () => shellInTheWindow({ page, data: app.data }))

    test('what runs is looked at, held still and ended', () => holdStill({ page, data: app.data }))

    test('a port inside is opened to this machine, and closed', () => reachInside({ page, data: app.data }))

    test('anywhere by a few letters', () => goAnywhere({ page, data: app.data }))

    test('the files that changed, by the keyboard', () => walkTheChanges({ page, data: app.data }))

    test('pictures, databases and bytes', () => lookAtFiles({ page, data: app.data }))

    test('the ledger, its exports, the report, and the sheets of the window', () => afterARun({ page, data: app.data }))

    test('a point that somebody in a terminal wants to be seen', () => placeFromTheTerminal({ page, data: app.data }))

    test('the rules of a session', () => rulesInTheWindow({ page, data: app.data }))

    test('the keyboard alone', () => keyboardAlone({ page, data: app.data }))

    test('quitting asks, and lets go of the sandboxes; the next start has them again, window and all', async () => {
      await sessionFromTheTerminal({ page, data: app.data })
      await app.electron.evaluate(({ app, BrowserWindow }) => {
        standin.questionAnswers.push(1)
        BrowserWindow.getAllWindows()[0]?.setBounds({ x: 40, y: 30, width: 1000, height: 700 })
        app.quit()
      })
      const questions = () => app.electron.evaluate(() => standin.questions)
      await expect.poll(questions).toMatchObject([{ message: 'Quit while a session is live?' }])
      // The person stayed.
      await new MainWindow(page).session('from_terminal, live').waitFor()
      const code = await app.quit(() => app.electron.evaluate(({ app }) => app.quit()))
      expect(code).toBe(0)
      page = await app.start()
      const window = new MainWindow(page)
      await window.session('from_terminal, live').waitFor()
      const bounds = await app.electron.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]?.getNormalBounds(),
      )
      expect(bounds).toEqual({ x: 40, y: 30, width: 1000, height: 700 })
      const { content } = await app.data.json<{ content: string }>('--session', 'from_terminal', 'read', 'a.txt')
      expect(content).toBe('one')
    })

    test('a window that is closed while a session is live leaves the app there to ask for decisions', async () => {
      await app.data.json('init', app.data.folder('shop'), '--session', 'shop')
      await app.data.json('--session', 'shop', 'checkpoint', 'stable')
      const unknown = ['--to', 'stable', '--verifier', 'echo 48 collected', '--retries', '0']
      await app.data.json('--session', 'shop', 'auto-rollback', 'test_failure', ...unknown)
      const desk = () =>
        app.electron.evaluate(({ BrowserWindow }) => ({
          windows: BrowserWindow.getAllWindows().length,
          badge: standin.badge,
          told: standin.notifications.map(({ title }) => title),
          menu: standin.tray?.menu.flatMap(({ label }) => label ?? []),
        }))
      await app.electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close())
      const resting = { windows: 0, badge: 0, told: [], menu: ['Show Rewind', 'Quit Rewind'] }
      await expect.poll(desk).toEqual(resting)

      const verify = app.data.cli('--session', 'shop', 'verify')
      const told = ['shop waits for your decision']
      await expect
        .poll(desk)
        .toMatchObject({ windows: 0, badge: 1, told, menu: ['Decide: shop…', 'Show Rewind', 'Quit Rewind'] })
      const opened = app.electron.waitForEvent('window')
      await app.electron.evaluate(() => standin.notifications[0]?.click())
      page = await opened
      const sheet = page.getByRole('dialog', { name: 'The verifier could not decide' })
      await sheet.waitFor()
      await expect.poll(() => page.title()).toBe('(1) shop · Rewind')
      await page.waitForTimeout(600)
      await sheet.getByRole('button', { name: 'Roll back', exact: true }).click()
      expect((await verify).code).not.toBe(0)
      await expect.poll(desk).toMatchObject({ windows: 1, badge: 0, told: [], menu: resting.menu })
      await expect.poll(() => page.title()).toBe('shop · Rewind')
    })

    test('a page that crashed begins again; one that crashes over and over asks first', async () => {
      await new MainWindow(page).sessionsPane.waitFor()
      const crash = () =>
        app.electron.evaluate(({ app, BrowserWindow }) => {
          const [window] = BrowserWindow.getAllWindows()
          app.emit('render-process-gone', {}, window?.webContents, { reason: 'crashed', exitCode: 5 })
        })
      for (let times = 0; times < 3; times++) {
        const loaded = page.waitForEvent('load')
        await crash()
        await loaded
      }
      await new MainWindow(page).sessionsPane.waitFor()
      const loaded = page.waitForEvent('load')
      await crash()
      await loaded
      expect(await app.electron.evaluate(() => standin.questions)).toMatchObject([
        { message: 'The window keeps crashing', detail: expect.stringContaining('crashed') },
      ])
    })

    test('a signal to end is followed without a question', async () => {
      await app.data.json('init', app.data.folder('shop'), '--session', 'shop')
      await app.electron.evaluate(() => standin.questionAnswers.push(1))
      const code = await app.quit(async () => app.electron.process().kill('SIGTERM'))
      expect(code).toBe(0)
    })

    test('without a live session the app ends with its window', async () => {
      await new MainWindow(page).sessionsPane.waitFor()
      const code = await app.quit(() =>
        app.electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close()),
      )
      expect(code).toBe(0)
    })

    test('a page can neither leave, nor open windows by itself, nor get a permission', async () => {
      await new MainWindow(page).sessionsPane.waitFor()
      const address = page.url()
      await page.evaluate(() => {
        location.href = 'https://example.org/'
      })
      await page.evaluate(() => {
        window.open('https://example.org/by-script')
      })
      await page.evaluate(() => {
        document.body.insertAdjacentHTML(
          'beforeend',
          '<div style="position:fixed;z-index:99;top:0"><a target="_blank" href="https://example.org/clicked">out</a><a target="_blank" href="file:///etc/passwd">in</a></div>',
        )
      })
      await page.getByRole('link', { name: 'in' }).click()
      await page.getByRole('link', { name: 'out' }).click()
      const seen = () =>
        app.electron.evaluate(() => {
          const { external, permissionRequest, permissionCheck, devicePermission } = standin
          return {
            external,
            permissions: [permissionRequest?.('media'), permissionCheck?.('clipboard-read'), devicePermission?.()],
          }
        })
      await expect.poll(seen).toEqual({ external: ['https://example.org/clicked'], permissions: [false, false, false] })
      expect(page.url()).toBe(address)
      expect(app.electron.windows()).toHaveLength(1)
    })

    test('scripts that are not ours do not run', async () => {
      await new MainWindow(page).sessionsPane.waitFor()
      const ran = await page.evaluate(async () => {
        const script = document.createElement('script')
        script.textContent = 'window.foreign = true'
        document.body.append(script)
        const remote = await fetch('https://example.org/').then(
          () => 'fetched',
          () => 'refused',
        )
        return [Object.hasOwn(window, 'foreign'), remote, typeof (window as { require?: unknown }).require]
      })
      expect(ran).toEqual([false, 'refused', 'undefined'])
    })

    test('the folder dialog answers the page', async () => {
      await new MainWindow(page).sessionsPane.waitFor()
      const folder = app.data.folder('picked')
      await app.electron.evaluate(({ dialog }, path) => {
        dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] })
      }, folder)
      expect(await page.evaluate(() => window.rewindShell?.pickFolder())).toBe(folder)
    })
  })

  describe('beside a headless host', () => {
    let host: TestHost

    beforeEach(async () => {
      host = await TestHost.begin()
      app = new App(host)
    })
    afterEach(() => app?.end())

    const kind = () => host.ask(async (rpc) => (await rpc.host.info()).kind)
    /** With a command in the session `busy`. @returns what ends it */
    const atWork = async () => {
      const working = host.cli('--session', 'busy', 'exec', 'sleep 600')
      await expect.poll(() => host.ask(async (rpc) => (await rpc.host.info()).idle)).toBe(false)
      return async () => {
        await host.ask(async (rpc) => {
          for (const { id, status } of await rpc.commands.list({ session: 'busy' }))
            if (status === 'running') await rpc.commands.stop({ session: 'busy', id })
        })
        await working
      }
    }

    test('takes over from one that is idle', async () => {
      await host.json('init', host.folder('shop'), '--session', 'before')
      page = await app.start()
      await new MainWindow(page).session('before, live').waitFor()
      expect(await kind()).toBe('app')
    })

    test('is the client of one at work, and takes its place when that is gone', async () => {
      await host.json('init', host.folder('shop'), '--session', 'busy')
      const stop = await atWork()
      page = await app.start()
      const window = new MainWindow(page)
      await window.session('busy, live').waitFor()
      expect(await kind()).toBe('headless')
      await window.session('busy').click()
      await host.json('--session', 'busy', 'checkpoint', 'while at work')
      await window.point(/^while at work, checkpoint/).waitFor()

      await host.kill()
      await expect.poll(() => kind().catch(() => 'nobody'), { timeout: 20_000 }).toBe('app')
      await window.point(/^while at work, checkpoint/).waitFor()
      await host.json('--session', 'busy', 'checkpoint', 'under the app')
      await window.point(/^under the app, checkpoint/).waitFor()
      await stop()
    })

    test('quits although that one does not answer', async () => {
      await host.json('init', host.folder('shop'), '--session', 'busy')
      const stop = await atWork()
      page = await app.start()
      await new MainWindow(page).session('busy, live').waitFor()
      const { pid } = await host.ask((rpc) => rpc.host.info())
      process.kill(pid, 'SIGSTOP')
      try {
        expect(await app.quit(() => app.electron.evaluate(({ app }) => app.quit()))).toBe(0)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await stop()
    })
  })
})
