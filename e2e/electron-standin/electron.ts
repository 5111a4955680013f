/** The stand-in for Electron's main-process module. What is not exported here is not there: importing it fails. */
import { BrowserWindow } from './browser-window.ts'

export { app } from './app.ts'
export { ipcMain } from './ipc-main.ts'
export {
  dialog,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  powerMonitor,
  screen,
  session,
  shell,
  Tray,
} from './surroundings.ts'
export { BrowserWindow }

/** Asked by Playwright, to find the window of a page. */
export const webContents = {
  fromDevToolsTargetId: (id: string) =>
    BrowserWindow.getAllWindows().find((window) => window.webContents.targetId === id)?.webContents,
}
