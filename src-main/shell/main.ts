/**
 * Electron's entry: one instance per data folder, one window, and the host behind it. A window that is closed while
 * sessions are live leaves the app among the desktop's icons. Quitting lets go of the sandboxes, which go on; the next
 * start finds them again.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  app,
  BrowserWindow,
  dialog,
  type IpcMainEvent,
  type IpcMainInvokeEvent,
  ipcMain,
  Menu,
  Notification,
  powerMonitor,
  session,
} from 'electron'
import { RewindError } from '../contract/index.ts'
import { dataFolder, ensureHome, rendererFolder } from '../serve/index.ts'
import { Attention, asMarkup, type Notice } from './attention.ts'
import { PICK_FOLDER, RPC_PORT } from './channels.ts'
import { AGAIN, Crashes, crashQuestion } from './crashes.ts'
import { guardAllPages, guardSession } from './guards.ts'
import { type HostLink, liveAt, openHostLink, waitingAt } from './host-link.ts'
import { buildMenu } from './menu.ts'
import { createPageCheck } from './our-page.ts'
import { QUIT, quitQuestion } from './quitting.ts'
import { createTray } from './tray.ts'
import { bringToFront, openMainWindow, preloadFile } from './window.ts'

const devServer = app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL
const entry = devServer ? { url: devServer } : { file: join(rendererFolder, 'index.html') }
const isOurPage = createPageCheck(entry)
const icon = join(import.meta.dirname, '../../resources/icons/icon.png')

try {
  const home = ensureHome(dataFolder())
  app.setName('Rewind')
  // Also what makes one instance: two data folders are two apps.
  app.setPath('userData', join(home, 'shell'))
  app.enableSandbox()
  if (app.requestSingleInstanceLock()) void run(home).catch(giveUp)
  else app.quit()
} catch (error) {
  giveUp(error)
}

async function run(home: string): Promise<void> {
  let link: Promise<HostLink> | undefined
  const over = new AbortController()
  const openWindow = () => {
    const [window] = BrowserWindow.getAllWindows()
    if (window) bringToFront(window)
    else openMainWindow({ entry, preload: preloadFile, icon, placementFile: join(home, 'window.json') })
  }

  app.on('second-instance', openWindow)
  app.on('window-all-closed', async () => {
    if (process.platform === 'darwin') return
    const live = await liveAt(home)
    if (live?.length === 0 && BrowserWindow.getAllWindows().length === 0) app.quit()
  })
  let mayQuit = false
  let asking = false
  const quitNow = () => {
    mayQuit = true
    app.quit()
  }
  app.on('before-quit', (event) => {
    if (mayQuit || !link) return
    event.preventDefault()
    if (asking) return
    asking = true
    void asksToStay(home)
      .then((stays) => stays || quitNow())
      .finally(() => {
        asking = false
      })
  })
  // Whoever sends these, or ends the desktop's session, waits for no answer.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, quitNow)
  app.on('will-quit', (event) => {
    if (!link) return
    event.preventDefault()
    const closing = link.then((open) => open.close())
    link = undefined
    over.abort()
    void closing.catch(console.error).finally(() => app.quit())
  })
  guardAllPages(app, isOurPage)
  reviveCrashed(openWindow)

  await app.whenReady()
  // On macOS it is told of every quit, and a question holds up nothing there that the person does not see.
  if (process.platform === 'linux') powerMonitor.on('shutdown', quitNow)
  guardSession(session.defaultSession, devServer === undefined)
  Menu.setApplicationMenu(buildMenu(process.platform))

  const connect = async (): Promise<HostLink> => {
    const opened = await openHostLink(home)
    // The owner is gone: take its place, and let the window begin again on the new line.
    void opened.lost.then(() => {
      if (!link) return
      link = connect()
      link.then(reloadWindows, giveUp)
    })
    return opened
  }
  link = connect()
  ipcMain.on(RPC_PORT, (event) => {
    const [port] = event.ports
    if (!port || !isTrusted(event)) return
    void link?.then((open) => open.serve(port))
  })
  ipcMain.handle(PICK_FOLDER, async (event) => {
    if (!isTrusted(event)) throw new Error('Only the window itself may ask for a folder.')
    return pickFolder(BrowserWindow.fromWebContents(event.sender))
  })

  await link
  openWindow()
  app.on('activate', openWindow)
  const tray = createTray(icon, { open: openWindow, quit: () => app.quit() })
  const attention = new Attention({
    isLooking: () => BrowserWindow.getFocusedWindow() !== null,
    notify: (title, body) => notify(title, body, openWindow),
    count(waiting) {
      app.setBadgeCount(waiting.length)
      tray.show(waiting)
    },
  })
  void attention.follow(() => waitingAt(home, over.signal), over.signal)
}

/** Whether the person wants to stay with sessions that quitting would let go of; not asked where nobody knows of any. */
async function asksToStay(home: string): Promise<boolean> {
  const live = await liveAt(home)
  return live !== null && live.length > 0 && (await dialog.showMessageBox(quitQuestion(live))).response !== QUIT
}

function reviveCrashed(openWindow: () => void): void {
  const crashes = new Crashes()
  app.on('render-process-gone', async (_event, contents, { reason }) => {
    if (reason === 'clean-exit') return
    if (crashes.isOften(Date.now())) {
      const { response } = await dialog.showMessageBox(crashQuestion(reason))
      if (response !== AGAIN) return app.quit()
      crashes.forget()
    }
    // Not within the event: Electron may still be taking the old page down (electron/electron#51900).
    await setImmediate()
    if (contents.isDestroyed()) openWindow()
    else contents.reload()
  })
}

function notify(title: string, text: string, open: () => void): Notice {
  const body = process.platform === 'linux' ? asMarkup(text) : text
  const notification = new Notification({ title, body, icon, timeoutType: 'never' })
  notification.on('click', open)
  notification.show()
  return notification
}

function reloadWindows(): void {
  for (const window of BrowserWindow.getAllWindows()) window.webContents.reload()
}

/** Only the top frame of our own page is listened to. */
function isTrusted({ sender, senderFrame }: IpcMainEvent | IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isOurPage(senderFrame.url)
}

async function pickFolder(window: BrowserWindow | null): Promise<string | null> {
  const options = { title: 'Choose a workspace', properties: ['openDirectory' as const, 'createDirectory' as const] }
  const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options))
  return filePaths[0] ?? null
}

/** Without a host there is nothing to show: say why, and what can be done, in the platform's own dialog. */
function giveUp(error: unknown): void {
  const known = error instanceof RewindError
  if (!known) console.error(error)
  const lines = [error instanceof Error ? error.message : String(error), known ? error.nextStep : null]
  dialog.showErrorBox('Rewind cannot start', lines.filter(Boolean).join('\n\n'))
  app.exit(known ? error.exitCode : 70)
}
