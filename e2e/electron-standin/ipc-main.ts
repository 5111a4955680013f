/** ipcMain: events by channel, and handlers that answer. */
import { EventEmitter } from 'node:events'
import { loud } from './loud.ts'

type Handler = (event: unknown, ...args: unknown[]) => unknown

class IpcMain extends EventEmitter {
  readonly handlers = new Map<string, Handler>()

  handle(channel: string, handler: Handler): void {
    if (this.handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    this.handlers.set(channel, handler)
  }
}

export const ipcMain = loud(new IpcMain(), 'ipcMain')
