/** app: its life cycle, one instance per user data folder, and where things lie. */
import { EventEmitter } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { browser } from './chromium.ts'
import { loud } from './loud.ts'
import { record } from './record.ts'

/** A window, as far as quitting is concerned. */
interface Closable {
  mayClose(): boolean
  destroy(): Promise<void>
}

/** An event that its listeners may stop. */
export function stoppable<T extends object>(
  members: T,
): T & { preventDefault(): void; readonly defaultPrevented: boolean } {
  let stopped = false
  return Object.assign(
    Object.create({
      get defaultPrevented() {
        return stopped
      },
    }),
    members,
    {
      preventDefault() {
        stopped = true
      },
    },
  )
}

class App extends EventEmitter {
  readonly isPackaged = false
  readonly windows = new Set<Closable>()
  #userData: string | undefined
  #name = 'stand-in'
  #quitting = false
  readonly #ready = browser.then(() => {
    this.emit('ready')
  })

  whenReady(): Promise<void> {
    return this.#ready
  }

  getName(): string {
    return this.#name
  }

  setName(name: string): void {
    this.#name = name
  }

  setPath(name: string, path: string): void {
    if (name !== 'userData') throw new Error(`electron stand-in: app.setPath('${name}') is not implemented`)
    this.#userData = path
  }

  /** Pages are Chromium's, with the sandbox that it has. */
  enableSandbox(): void {}

  /** By a file with the owner's pid; a second instance tells the first by a signal. */
  requestSingleInstanceLock(): boolean {
    if (this.#userData === undefined) throw new Error('electron stand-in: set userData before asking for the lock')
    mkdirSync(this.#userData, { recursive: true })
    const file = join(this.#userData, 'standin.pid')
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
    } catch {
      const owner = Number(readFileSync(file, 'utf8'))
      if (notify(owner)) return false
      writeFileSync(file, String(process.pid))
    }
    process.on('SIGUSR2', () => this.emit('second-instance', {}, [], ''))
    process.on('exit', () => rmSync(file, { force: true }))
    return true
  }

  setBadgeCount(count: number): boolean {
    record.badge = count
    return true
  }

  quit(): void {
    if (this.#quitting) return
    this.#quitting = true
    void this.#quit()
  }

  async #quit(): Promise<void> {
    const before = stoppable({})
    this.emit('before-quit', before)
    if (!before.defaultPrevented && [...this.windows].every((window) => window.mayClose())) {
      for (const window of [...this.windows]) await window.destroy()
      const last = stoppable({})
      this.emit('will-quit', last)
      if (!last.defaultPrevented) {
        this.emit('quit', {}, 0)
        return this.exit(0)
      }
    }
    this.#quitting = false
  }

  exit(code = 0): void {
    process.exitCode = code
    void browser
      .then((connected) => connected.close())
      .catch(() => {})
      .finally(() => process.exit(code))
  }
}

function notify(pid: number): boolean {
  try {
    process.kill(pid, 'SIGUSR2')
    return true
  } catch {
    return false
  }
}

export const app = loud(new App(), 'app')

// As Electron: they quit, unless the app listens to them itself.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) app.quit()
  })
