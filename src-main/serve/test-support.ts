/** For tests of the host's doors alone: sessions that are none, and a host over them in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandResult, SessionEvent } from '../contract/index.ts'
import type { SessionManager } from '../session/index.ts'
import { Askers } from '../verification/index.ts'
import type { HostOptions } from './host.ts'
import { type Host, startHostWith } from './host.ts'

/** A stand-in for the sessions: says what it is told to say. No sandbox, no store. */
export class FakeSessions {
  busy = false
  processes = 0
  closed = 0
  /** Calls of what changes something. */
  rollbacks = 0
  rollbackTakesMs = 0
  /** What reading a file answers. */
  file = ''
  waiting: PromiseWithResolvers<CommandResult> = Promise.withResolvers()
  events: (since: number | null, signal?: AbortSignal) => AsyncGenerator<SessionEvent> = async function* () {}

  asManager(): SessionManager {
    const session = {
      waitCommand: () => this.waiting.promise,
      read: async () => ({ content: this.file, encoding: 'utf-8' }),
      rollback: async () => {
        this.rollbacks++
        await new Promise((resolve) => setTimeout(resolve, this.rollbackTakesMs))
        return {}
      },
    }
    const fake = {
      list: () => [],
      find: () => session,
      events: (since: number | null, signal?: AbortSignal) => this.events(since, signal),
      askers: new Askers(),
      checks: async () => [],
      idle: () => !this.busy,
      liveProcesses: async () => this.processes,
      close: async () => {
        this.closed++
      },
    }
    return fake as unknown as SessionManager
  }
}

export const tempHome = (): string => mkdtempSync(join(tmpdir(), 'rewind-host-'))
export const removeHome = (home: string): void => rmSync(home, { recursive: true, force: true })

export const startFakeHost = (
  home: string,
  sessions: FakeSessions = new FakeSessions(),
  options: Partial<HostOptions> = {},
): Promise<Host> =>
  startHostWith(async () => sessions.asManager(), { home, kind: 'headless', version: '0.1.0', ...options })
