/** BrowserWindow: a page of the one Chromium, with the bounds and states that the app gives it. */
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { BrowserWindowConstructorOptions, Rectangle } from 'electron'
import type { Page } from 'playwright-core'
import { app, stoppable } from './app.ts'
import { browser } from './chromium.ts'
import { loud } from './loud.ts'
import { record } from './record.ts'
import { nativeTheme } from './surroundings.ts'
import { announce, WebContents } from './web-contents.ts'

const windows = new Set<BrowserWindow>()
let opened = 0

export class BrowserWindow extends EventEmitter {
  readonly id = ++opened
  readonly webContents = loud(new WebContents(), 'webContents')
  readonly #options: BrowserWindowConstructorOptions
  readonly #page: Promise<Page>
  readonly #self: BrowserWindow
  #bounds: Rectangle
  #visible: boolean
  #maximized = false
  #minimized = false

  constructor(options: BrowserWindowConstructorOptions = {}) {
    super()
    this.#options = options
    this.#visible = options.show !== false
    this.#bounds = { x: options.x ?? 0, y: options.y ?? 0, width: options.width ?? 800, height: options.height ?? 600 }
    const { contextIsolation, sandbox, nodeIntegration } = options.webPreferences ?? {}
    if (contextIsolation === false || sandbox === false || nodeIntegration)
      throw new Error('electron stand-in: pages are isolated, sandboxed and without Node; others are not implemented')
    announce(this.webContents)
    this.#page = this.#open()
    this.#self = loud<BrowserWindow>(this, 'BrowserWindow')
    windows.add(this.#self)
    app.windows.add(this.#self)
    // biome-ignore lint/correctness/noConstructorReturn: members that are missing must fail loudly
    return this.#self
  }

  async #open(): Promise<Page> {
    const context = (await browser).contexts()[0]
    if (!context) throw new Error('electron stand-in: Chromium has no default context')
    const page = await context.newPage()
    await page.setViewportSize(this.#bounds)
    await page.emulateMedia({ colorScheme: nativeTheme.shouldUseDarkColors ? 'dark' : 'light' })
    const preload = this.#options.webPreferences?.preload
    await this.webContents.attach(page, preload === undefined ? '' : readFileSync(preload, 'utf8'))
    page.on('pageerror', (error) => process.stderr.write(`electron stand-in: page error: ${error.stack ?? error}\n`))
    page.on('close', () => this.#closed())
    return page
  }

  async loadURL(url: string): Promise<void> {
    await this.#page
    await this.webContents.navigate(url)
    this.emit('ready-to-show')
  }

  loadFile(file: string): Promise<void> {
    return this.loadURL(pathToFileURL(file).href)
  }

  show(): void {
    this.#visible = true
  }

  focus(): void {
    void this.#page.then((page) => page.bringToFront())
  }

  maximize(): void {
    this.#maximized = true
  }

  minimize(): void {
    this.#minimized = true
  }

  restore(): void {
    this.#minimized = false
  }

  isVisible(): boolean {
    return this.#visible
  }

  isMaximized(): boolean {
    return this.#maximized
  }

  isMinimized(): boolean {
    return this.#minimized
  }

  getTitle(): string {
    return this.#options.title ?? 'Electron'
  }

  getNormalBounds(): Rectangle {
    return { ...this.#bounds }
  }

  setBounds(bounds: Partial<Rectangle>): void {
    this.#bounds = { ...this.#bounds, ...bounds }
    const { width, height } = this.#bounds
    void this.#page.then((page) => page.setViewportSize({ width, height }))
  }

  close(): void {
    if (this.mayClose()) void this.destroy()
  }

  /** Asks the app, which may keep it; quitting asks so too. */
  mayClose(): boolean {
    const event = stoppable({})
    this.emit('close', event)
    return !event.defaultPrevented
  }

  /** Without asking anybody. */
  async destroy(): Promise<void> {
    await this.#page.then((page) => page.close()).catch(() => {})
    this.#closed()
  }

  #closed(): void {
    app.windows.delete(this.#self)
    if (!windows.delete(this.#self)) return
    this.webContents.disconnect()
    this.emit('closed')
    if (windows.size > 0) return
    if (app.listenerCount('window-all-closed') > 0) app.emit('window-all-closed')
    else app.quit()
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows]
  }

  static getFocusedWindow(): BrowserWindow | null {
    const seen = [...windows].filter((window) => window.isVisible() && !window.isMinimized())
    return record.isElsewhere ? null : (seen[0] ?? null)
  }

  static fromWebContents({ id }: WebContents): BrowserWindow | null {
    return [...windows].find(({ webContents }) => webContents.id === id) ?? null
  }
}
