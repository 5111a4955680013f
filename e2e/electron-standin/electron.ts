/** The stand-in for Electron's main-process module. What is not exported here is not there: importing it fails. */
import { app } from './app.ts'
import { BrowserWindow } from './browser-window.ts'
import { ipcMain } from './ipc-main.ts'
import { dialog, Menu, nativeTheme, screen, session, shell } from './surroundings.ts'

export { app, BrowserWindow, dialog, ipcMain, Menu, nativeTheme, screen, session, shell }

/** Asked by Playwright, to find the window of a page. */
export const webContents = {
  fromDevToolsTargetId: (id: string) =>
    BrowserWindow.getAllWindows().find((window) => window.webContents.targetId === id)?.webContents,
}

export default { app, BrowserWindow, dialog, ipcMain, Menu, nativeTheme, screen, session, shell, webContents }
