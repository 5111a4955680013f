/** The app as a person starts it, with its data folder. Real Electron and the stand-in are driven by the same calls. */
import { once } from 'node:events'
import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { chooseElectron, obstaclesToElectron } from './electron-binary.ts'
import { DataFolder, root } from './host.ts'
import type { Part } from './parts.ts'

const kind = chooseElectron(process.env.REWIND_ELECTRON, obstaclesToElectron())

/** Undefined lets Playwright find the installed binary. */
const executablePath = kind === 'real' ? undefined : join(import.meta.dirname, 'electron-standin/electron-bin.sh')

/** What tests of the app need: the stand-in's windows are pages of a Chromium. */
export const APP_NEEDS: readonly Part[] = kind === 'real' ? ['local'] : ['browser', 'local']

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
