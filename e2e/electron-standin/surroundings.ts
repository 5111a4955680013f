/** What lies around the window: menu, dialogs, the person's browser, session, theme, screens. Recorded, not shown. */
import { EventEmitter } from 'node:events'
import type { MenuItemConstructorOptions, MessageBoxOptions } from 'electron'
import { loud } from './loud.ts'
import { record } from './record.ts'

export const Menu = loud(
  {
    buildFromTemplate: (template: MenuItemConstructorOptions[]) => template,
    setApplicationMenu: (menu: MenuItemConstructorOptions[]) => {
      record.menu = menu
    },
  },
  'Menu',
)

export const dialog = loud(
  {
    showOpenDialog: (...args: unknown[]) => {
      record.dialogs.push(args.at(-1))
      return Promise.resolve(record.dialogAnswers.shift() ?? { canceled: true, filePaths: [] })
    },
    showMessageBox: (options: MessageBoxOptions) => {
      record.questions.push(options)
      return Promise.resolve({ response: record.questionAnswers.shift() ?? 0, checkboxChecked: false })
    },
    showErrorBox: (title: string, content: string) => {
      record.errors.push({ title, content })
      process.stderr.write(`${title}\n${content}\n`)
    },
  },
  'dialog',
)

/** What the desktop tells the person; a click on it is the tests'. */
class DesktopNotification extends EventEmitter {
  readonly #shown: (typeof record.notifications)[number]

  constructor({ title = '', body = '' }: { title?: string; body?: string }) {
    super()
    this.#shown = { title, body, click: () => this.emit('click', {}) }
  }

  show(): void {
    record.notifications.push(this.#shown)
  }

  close(): void {
    record.notifications = record.notifications.filter((one) => one !== this.#shown)
  }
}

export { DesktopNotification as Notification }

export class Tray extends EventEmitter {
  constructor() {
    super()
    record.tray = { tip: '', menu: [] }
  }

  setToolTip(tip: string): void {
    if (record.tray) record.tray.tip = tip
  }

  setContextMenu(menu: MenuItemConstructorOptions[]): void {
    if (record.tray) record.tray.menu = menu
  }
}

const image = { resize: () => image }

export const nativeImage = loud({ createFromPath: () => image }, 'nativeImage')

export const shell = loud(
  {
    openExternal: (url: string) => {
      record.external.push(url)
      return Promise.resolve()
    },
  },
  'shell',
)

type Headers = { [name: string]: string[] }
type HeadersListener = (
  details: { url: string; responseHeaders: Headers },
  answer: (r: { responseHeaders?: Headers }) => void,
) => void
let headersListener: HeadersListener | undefined

/** The headers that the app adds to a response. */
export function headersFor(url: string): Promise<{ [name: string]: string }> {
  return new Promise((resolve) => {
    if (!headersListener) return resolve({})
    headersListener({ url, responseHeaders: {} }, ({ responseHeaders = {} }) =>
      resolve(Object.fromEntries(Object.entries(responseHeaders).map(([name, values]) => [name, values.join(', ')]))),
    )
  })
}

export const session = loud(
  {
    defaultSession: loud(
      {
        setPermissionRequestHandler(handler: (c: null, permission: string, answer: (yes: boolean) => void) => void) {
          record.permissionRequest = (permission) => {
            let said: boolean | undefined
            handler(null, permission, (yes) => {
              said = yes
            })
            return said
          }
        },
        setPermissionCheckHandler(handler: (c: null, permission: string) => boolean) {
          record.permissionCheck = (permission) => handler(null, permission)
        },
        setDevicePermissionHandler(handler: () => boolean) {
          record.devicePermission = handler
        },
        webRequest: loud(
          {
            onHeadersReceived(listener: HeadersListener) {
              headersListener = listener
            },
          },
          'session.webRequest',
        ),
      },
      'session.defaultSession',
    ),
  },
  'session',
)

class NativeTheme extends EventEmitter {
  readonly shouldUseDarkColors = process.env.STANDIN_DARK === '1'
}

/** Nothing of it happens here. */
export const powerMonitor = loud(new EventEmitter(), 'powerMonitor')

export const nativeTheme = loud(new NativeTheme(), 'nativeTheme')

const display = { id: 1, workArea: { x: 0, y: 0, width: 1920, height: 1080 } }

export const screen = loud({ getPrimaryDisplay: () => display, getAllDisplays: () => [display] }, 'screen')
