/** The one window: made as closed as Electron allows, placed where it was, shown when it has something to show. */
import { join } from 'node:path'
import { BrowserWindow, nativeTheme, screen } from 'electron'
import { BACKGROUND } from './background.ts'
import { fitToScreens, loadPlacement, MINIMUM_SIZE, savePlacement } from './bounds.ts'

export interface WindowPlan {
  /** The page: a file, or in development the server's address. */
  entry: { file: string } | { url: string }
  preload: string
  icon: string
  /** Where the placement is remembered. */
  placementFile: string
}

export function openMainWindow({ entry, preload, icon, placementFile }: WindowPlan): BrowserWindow {
  const remembered = loadPlacement(placementFile)
  const primary = screen.getPrimaryDisplay()
  const others = screen.getAllDisplays().filter(({ id }) => id !== primary.id)
  const window = new BrowserWindow({
    ...fitToScreens(
      remembered?.bounds ?? null,
      [primary, ...others].map(({ workArea }) => workArea),
    ),
    minWidth: MINIMUM_SIZE.width,
    minHeight: MINIMUM_SIZE.height,
    title: 'Rewind',
    icon,
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? BACKGROUND.dark : BACKGROUND.light,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  })
  window.once('ready-to-show', () => {
    if (remembered?.maximized) window.maximize()
    window.show()
  })
  window.on('close', () =>
    savePlacement(placementFile, { bounds: window.getNormalBounds(), maximized: window.isMaximized() }),
  )
  void ('file' in entry ? window.loadFile(entry.file) : window.loadURL(entry.url))
  return window
}

/** Brings a window that may be minimised or hidden in front of the person. */
export function bringToFront(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

export const preloadFile = join(import.meta.dirname, '../preload/preload.cjs')
