/** The stand-in itself: what tests of the shell rely on must behave as Electron documents it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { suiteNeeding } from '../needs.ts'
import { codec } from './worlds.ts'

const executablePath = join(import.meta.dirname, 'electron-bin.sh')
const fixture = join(import.meta.dirname, 'fixture/main.ts')

/** What the fixture's page finds on its window. */
type FixtureWindow = Window & {
  bridge: {
    plain: { word: string }
    now(): Date
    double(value: unknown): Promise<Map<number, Date>>
    fails(): never
    twice(): void
    complaints: string[]
  }
  inlineScriptRan?: boolean
  secretOfThePreload?: boolean
}

suiteNeeding(['browser'], 'the Electron stand-in', () => {
  let data: string
  let app: ElectronApplication
  let page: Page
  const env = () => ({ ...process.env, FIXTURE_DATA: data }) as { [name: string]: string }
  const log = () => app.evaluate(() => [...(globalThis as unknown as { log: string[] }).log])

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'fixture-'))
    app = await _electron.launch({ executablePath, args: [fixture], env: env() })
    page = await app.firstWindow()
    await page.getByText('away').waitFor()
  })

  afterAll(async () => {
    await app?.close()
    rmSync(data, { recursive: true, force: true })
  })

  test('exposes copies and functions to the page, and nothing else of the preload', async () => {
    const seen = await page.evaluate(() => {
      const { bridge, secretOfThePreload } = window as unknown as FixtureWindow
      return {
        word: bridge.plain.word,
        now: bridge.now().getTime(),
        secret: secretOfThePreload,
        frozen: Object.isFrozen(bridge),
      }
    })
    expect(seen).toEqual({ word: 'hello', now: 5, secret: undefined, frozen: true })
  })

  test('answers invocations with cloned values, and errors by their message', async () => {
    const answers = await page.evaluate(async () => {
      const { bridge } = window as unknown as FixtureWindow
      const map = await bridge.double(21)
      const refusal = await bridge.double('x').catch((error: Error) => error.message)
      let thrown = ''
      try {
        bridge.fails()
      } catch (error) {
        thrown = (error as Error).message
      }
      return { doubled: map.get(21)?.getTime(), refusal, thrown }
    })
    expect(answers).toEqual({
      doubled: 42,
      refusal: "Error invoking remote method 'double': Error: not a number",
      thrown: 'from the preload',
    })
  })

  test('is loud about what a sandboxed preload may not do, and about what is not written', async () => {
    const complaints = await page.evaluate(() => (window as unknown as FixtureWindow).bridge.complaints)
    expect(complaints).toEqual([
      'module not found: node:fs',
      'electron stand-in: ipcRenderer.sendSync is not implemented',
    ])
    const twice = await page.evaluate(() => {
      try {
        ;(window as unknown as FixtureWindow).bridge.twice()
        return ''
      } catch (error) {
        return (error as Error).message
      }
    })
    expect(twice).toBe('Cannot bind an API on top of an existing property on the window object: bridge')
    const inMain = await app.evaluate(({ BrowserWindow }) => {
      try {
        BrowserWindow.getAllWindows()[0]?.setVibrancy('menu')
        return ''
      } catch (error) {
        return String(error)
      }
    })
    expect(inMain).toContain('electron stand-in: BrowserWindow.setVibrancy is not implemented')
  })

  test('ports carry messages both ways, and close when the document goes', async () => {
    const echo = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => resolve(data)
          window.postMessage('port', '*', [port2])
          port1.postMessage({ n: 7n, bytes: new Uint8Array([1, 2]) })
        }),
    )
    expect(echo).toEqual({ echo: { n: 7n, bytes: new Uint8Array([1, 2]) } })
    await page.reload()
    await expect.poll(log).toContain('port closed')
  })

  test('gives the page the headers that the app sets', async () => {
    expect(await page.evaluate(() => (window as unknown as FixtureWindow).inlineScriptRan)).toBeUndefined()
  })

  test('asks before the page navigates or opens a window, and tells of input', async () => {
    await page.getByText('away').click()
    await expect.poll(log).toContain('navigate https://example.org/away')
    expect(page.url()).toMatch(/page\.html$/)
    await page.getByText('new window').click()
    const external = () =>
      app.evaluate(() => (globalThis as unknown as { standin: { external: string[] } }).standin.external)
    await expect.poll(external).toEqual(['https://example.org/new'])
    expect(await log()).toContain('mouseDown')
    expect(app.windows()).toHaveLength(1)
  })

  test('a second instance is told so, and the first hears of it', async () => {
    const second = spawnSync(executablePath, [fixture], { env: env(), timeout: 20_000 })
    expect(second.status).toBe(3)
    await expect.poll(log).toContain('second instance')
  })

  test('quitting asks will-quit, and goes when it is no longer stopped', async () => {
    const process = app.process()
    await app.close()
    await vi.waitFor(() => expect(process.exitCode).toBe(0))
  })

  test('a missing export fails at import', () => {
    const file = join(data, 'shortcut.mjs')
    writeFileSync(file, "import { globalShortcut } from 'electron'\nconsole.log(globalShortcut)\n")
    const { status, stderr } = spawnSync(executablePath, [file], { encoding: 'utf8', timeout: 20_000 })
    expect(status).not.toBe(0)
    expect(stderr).toContain("does not provide an export named 'globalShortcut'")
  })
})

describe("the stand-in's clone", () => {
  test.each([
    [undefined],
    [null],
    [{ $: 'date', value: 'not a tag of ours' }.value],
    [new Date(3)],
    [new Map([[1, new Set([2n])]])],
    [new Uint8Array([0, 255])],
    [[Number.NaN, Number.POSITIVE_INFINITY, -1.5]],
    [{ nested: [{ deep: undefined }] }],
  ])('carries %o', (value) => {
    expect(codec.decode(codec.encode(value))).toEqual(value)
  })

  test('refuses functions, as the real one does', () => {
    expect(() => codec.encode({ call: () => 1 })).toThrow('could not be cloned')
  })
})
