/**
 * The app as a person starts it, with its data folder: real Electron where its binary is installed and can run, else
 * the stand-in. Both are driven by the same calls.
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { DataFolder, root } from './host.ts'

const standin = join(import.meta.dirname, 'electron-standin/electron-bin.sh')

/** Undefined lets Playwright find the installed binary. */
const executablePath = (() => {
  const installed = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  const canRun = existsSync(join(installed, 'path.txt')) && process.getuid?.() !== 0 && Boolean(process.env.DISPLAY)
  return canRun ? undefined : standin
})()

export class App {
  readonly data: DataFolder
  #app: ElectronApplication | undefined
  #page: Page | undefined

  /** @param data an existing data folder, which may have a host already */
  constructor(data: DataFolder = new DataFolder()) {
    this.data = data
  }

  get electron(): ElectronApplication {
    if (!this.#app) throw new Error('the app is not running')
    return this.#app
  }

  get page(): Page {
    if (!this.#page) throw new Error('the app has no window')
    return this.#page
  }

  async start(): Promise<Page> {
    this.#app = await _electron.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [root],
      cwd: root,
      env: this.data.env as { [name: string]: string },
    })
    this.#app.once('close', () => {
      this.#app = undefined
    })
    this.#page = await this.#app.firstWindow()
    return this.#page
  }

  /** Does what makes the app quit. @returns its exit code */
  async quit(by: () => Promise<unknown> = () => this.electron.close()): Promise<number | null> {
    const process = this.electron.process()
    const gone = process.exitCode === null ? once(process, 'exit') : undefined
    await by()
    await gone
    this.#app = undefined
    return process.exitCode
  }

  async end(): Promise<void> {
    if (!this.#app) await this.start()
    await this.data.destroySessions()
    await this.quit()
    this.data.remove()
  }
}
