/** What the tests of the SDK share: a data folder of their own, the host that calls start there, and its end. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectHost, type Rpc } from '../serve/client/index.ts'

export interface SdkHome {
  home: string
  /** A new folder, for a workspace. */
  folder(name: string): string
  hostPid(): number
  /** kill -9, and gone when it resolves. */
  killHost(): Promise<void>
  /** Asks the host as another client would. */
  ask<T>(question: (rpc: Rpc) => Promise<T>): Promise<T>
  /** Destroys the sessions, ends the host, removes the folder. */
  remove(): Promise<void>
}

/** Becomes the data folder of this process. */
export function sdkHome(): SdkHome {
  const base = mkdtempSync(join(tmpdir(), 'rewind-sdk-'))
  const home = join(base, 'data')
  process.env.REWIND_HOME = home
  const hostFile = join(home, 'host.json')
  const hostPid = () => (JSON.parse(readFileSync(hostFile, 'utf8')) as { pid: number }).pid
  const end = async (signal: NodeJS.Signals) => {
    const pid = hostPid()
    process.kill(pid, signal)
    while (existsSync(`/proc/${pid}`)) await sleep(20)
  }
  const ask: SdkHome['ask'] = async (question) => {
    const client = await connectHost({ home, start: true })
    try {
      return await question(client.rpc)
    } finally {
      client.close()
    }
  }
  return {
    home,
    hostPid,
    ask,
    folder(name) {
      const path = join(base, name)
      mkdirSync(path, { recursive: true })
      return path
    },
    killHost: () => end('SIGKILL'),
    async remove() {
      if (existsSync(home)) {
        await ask(async (rpc) => {
          for (const { id, status } of await rpc.sessions.list())
            if (status !== 'destroyed') await rpc.sessions.destroy({ session: id })
        })
        await end('SIGTERM')
      }
      rmSync(base, { recursive: true, force: true })
      // Sessions that are still held by a test must not bring it back.
      await sleep(100)
      if (existsSync(base)) throw new Error(`${base} is there again`)
    },
  }
}

/** Warnings of the process while `work` runs, by their codes. */
export async function warningsDuring(work: () => Promise<unknown>): Promise<{ code: string; message: string }[]> {
  const seen: { code: string; message: string }[] = []
  const listener = (warning: Error & { code?: string }) => {
    if (warning.name === 'RewindWarning') seen.push({ code: warning.code ?? '', message: warning.message })
  }
  process.on('warning', listener)
  try {
    await work()
    // They are told a moment later.
    await sleep(10)
  } finally {
    process.off('warning', listener)
  }
  return seen
}
