/** webContents: a page of Chromium with the preload in an isolated world, and the messages between it and main. */
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CDPSession, Page, Route } from 'playwright-core'
import { app, stoppable } from './app.ts'
import { ipcMain } from './ipc-main.ts'
import { MessagePortMain } from './message-port.ts'
import { headersFor } from './surroundings.ts'
import { codec, PRELOAD_WORLD, pageSource, preloadSource } from './worlds.ts'

/** What the preload's world says. */
type FromPage =
  | { type: 'port'; id: string; data: unknown }
  | { type: 'close'; id: string }
  | { type: 'open'; url: string }
  | { type: 'input'; kind: 'mouse' | 'key'; event: string }
  | { type: 'post'; channel: string; message: unknown; portIds: string[] }
  | { type: 'invoke'; id: number; channel: string; args: unknown[] }

type OpenHandler = (details: { url: string; disposition: string }) => { action: 'deny' | 'allow' }

let contents = 0

export class WebContents extends EventEmitter {
  readonly id = ++contents
  readonly #ports = new Map<string, MessagePortMain>()
  #page: Page | undefined
  #cdp: CDPSession | undefined
  /** CDP's id of the target, by which Playwright asks for a window. */
  targetId = ''
  /** Id of the preload's execution context; 0 while there is none. */
  #world = 0
  #outbox: unknown[] = []
  #flushing = false
  #openHandler: OpenHandler = () => ({ action: 'allow' })
  /** Navigations that the app itself asked for are not asked about. */
  #expected: string | undefined
  readonly #frame: { readonly url: string }

  constructor() {
    super()
    const url = () => this.getURL()
    this.#frame = {
      get url() {
        return url()
      },
    }
  }

  get mainFrame(): { readonly url: string } {
    return this.#frame
  }

  getURL(): string {
    return this.#page?.url() ?? ''
  }

  isDestroyed(): boolean {
    return this.#page?.isClosed() ?? false
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler
  }

  reload(): void {
    this.#expected = this.getURL()
    void this.#page?.reload()
  }

  /** Makes a page this one's. */
  async attach(page: Page, preload: string): Promise<void> {
    this.#page = page
    await page.route('**/*', (route) => this.#onRequest(route))
    const cdp = await page.context().newCDPSession(page)
    this.#cdp = cdp
    cdp.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name !== PRELOAD_WORLD) return
      this.#world = context.id
      void this.#flush()
    })
    cdp.on('Runtime.executionContextsCleared', () => this.disconnect())
    cdp.on('Runtime.bindingCalled', ({ name, payload }) => {
      if (name === '__standin') void this.#receive(codec.decode(payload) as FromPage)
    })
    cdp.on('Runtime.exceptionThrown', ({ exceptionDetails: { exception, text } }) =>
      process.stderr.write(`electron stand-in: uncaught in the page: ${exception?.description ?? text}\n`),
    )
    this.targetId = (await cdp.send('Target.getTargetInfo')).targetInfo.targetId
    await cdp.send('Runtime.enable')
    await cdp.send('Page.enable')
    await cdp.send('Runtime.addBinding', { name: '__standin', executionContextName: PRELOAD_WORLD })
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: pageSource })
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', {
      worldName: PRELOAD_WORLD,
      source: preloadSource(preload),
    })
  }

  async navigate(url: string): Promise<void> {
    this.#expected = url
    await this.#page?.goto(url)
  }

  /** The document is gone, and its ports with it (Chromium does not report those of a reload). */
  disconnect(): void {
    this.#world = 0
    this.#outbox = []
    for (const port of this.#ports.values()) port.disconnect()
    this.#ports.clear()
  }

  async #onRequest(route: Route): Promise<void> {
    const request = route.request()
    const url = request.url()
    if (!request.isNavigationRequest() || request.frame() !== this.#page?.mainFrame()) return route.continue()
    if (url === this.#expected) this.#expected = undefined
    else {
      const event = stoppable({ url, isMainFrame: true })
      this.emit('will-navigate', event, url)
      if (event.defaultPrevented) return route.abort('aborted')
    }
    if (!url.startsWith('file:')) return route.continue()
    const headers = { 'content-type': 'text/html; charset=utf-8', ...(await headersFor(url)) }
    await route.fulfill({ headers, body: readFileSync(fileURLToPath(url)) })
  }

  #send(message: unknown): void {
    this.#outbox.push(message)
    if (!this.#flushing) void this.#flush()
  }

  async #flush(): Promise<void> {
    this.#flushing = true
    while (this.#outbox.length > 0 && this.#world !== 0) {
      const batch = codec.encode(this.#outbox.splice(0))
      const expression = `__standinDispatch(${JSON.stringify(batch)})`
      // A document that went away meanwhile takes its messages with it.
      await this.#cdp?.send('Runtime.evaluate', { contextId: this.#world, expression }).catch(() => {})
    }
    this.#flushing = false
  }

  async #receive(message: FromPage): Promise<void> {
    const event = { sender: this, senderFrame: this.#frame, ports: [] as MessagePortMain[] }
    switch (message.type) {
      case 'port':
        return this.#ports.get(message.id)?.deliver(message.data)
      case 'close':
        this.#ports.get(message.id)?.disconnect()
        this.#ports.delete(message.id)
        return
      case 'input':
        if (message.kind === 'key') this.emit('before-input-event', stoppable({}), { type: 'keyDown' })
        else
          this.emit('before-mouse-event', stoppable({}), {
            type: message.event === 'mousedown' ? 'mouseDown' : 'mouseUp',
          })
        return
      case 'open':
        if (this.#openHandler({ url: message.url, disposition: 'foreground-tab' }).action === 'allow')
          throw new Error('electron stand-in: windows that a page opens are not implemented')
        return
      case 'post':
        event.ports = message.portIds.map((id) => {
          const port = new MessagePortMain((sent) => this.#send({ ...sent, id }))
          this.#ports.set(id, port)
          return port
        })
        ipcMain.emit(message.channel, event, message.message)
        return
      case 'invoke': {
        const { id, channel } = message
        try {
          const handler = ipcMain.handlers.get(channel)
          if (!handler) throw new Error(`No handler registered for '${channel}'`)
          this.#send({ type: 'result', id, channel, value: await handler(event, ...message.args) })
        } catch (error) {
          this.#send({ type: 'result', id, channel, error: String(error) })
        }
      }
    }
  }
}

/** As the app hears of every page that comes to be. */
export function announce(contents: WebContents): void {
  app.emit('web-contents-created', {}, contents)
}
