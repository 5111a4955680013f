/** The stand-in for Electron's main-process module. What is not exported here is not there: importing it fails. */
import { app } from './app.ts'
import { BrowserWindow } from './browser-window.ts'
import { ipcMain } from './ipc-main.ts'
import {
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

const parts = {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  nativeImage,
  nativeTheme,
  Notification,
  powerMonitor,
  screen,
  session,
  shell,
  Tray,
}

export {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  powerMonitor,
  screen,
  session,
  shell,
  Tray,
}

/** Asked by Playwright, to find the window of a page. */
export const webContents = {
  fromDevToolsTargetId: (id: string) =>
    BrowserWindow.getAllWindows().find((window) => window.webContents.targetId === id)?.webContents,
}

export default { ...parts, webContents }
