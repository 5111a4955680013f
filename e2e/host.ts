/**
 * A real host on a data folder of its own, for tests that look at the product from outside: the built host, the built
 * command line, real sandboxes. It ends everything that it began, and says so when something outlives that.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectHost, type Rpc } from '../src-main/serve/client/index.ts'
import { endProcessesIn } from './left-behind.ts'

export const root = resolve(import.meta.dirname, '..')

const READY_WITHIN_MS = 20_000

export interface CliAnswer {
  code: number
  stdout: string
  stderr: string
}

/** A data folder and the ways to it, whoever owns it. */
export class DataFolder {
  /** Holds the data folder and everything that the test lays beside it. */
  readonly base = mkdtempSync(join(tmpdir(), 'rewind-'))
  readonly home = join(this.base, 'data')
  readonly env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv = {}) {
    for (const built of ['out/main/host.js', 'out/main/cli.js', 'out/renderer/index.html'])
      if (!existsSync(join(root, built))) throw new Error(`${built} is missing: run npm run build first`)
    // The demo is told for people; tests need not wait for its pauses.
    this.env = { ...process.env, REWIND_HOME: this.home, REWIND_DEMO_PACE_MS: '150', ...env }
  }

  /** Runs the command line, as in a terminal. */
  cli(...args: string[]): Promise<CliAnswer> {
    return new Promise((resolve) => {
      const options = { env: this.env, cwd: this.base, maxBuffer: 1 << 26 }
      execFile(join(root, 'bin/rewind'), args, options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
      })
    })
  }

  /** Runs the command line with --json. @throws when it answers with an error */
  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.cli('--json', ...args)
    const answer = JSON.parse(stdout || '{}') as { success?: boolean; data?: T; error?: string }
    if (!answer.success) throw new Error(`rewind ${args.join(' ')}: ${answer.error ?? stderr}`)
    return answer.data as T
  }

  /** Asks the running host. @throws HostUnavailableError where none runs */
  async ask<T>(question: (rpc: Rpc) => Promise<T>): Promise<T> {
    const { rpc, close } = await connectHost({ home: this.home, start: false })
    try {
      return await question(rpc)
    } finally {
      close()
    }
  }

  /** A new folder beside the data folder, for a workspace. */
  folder(name: string): string {
    const path = join(this.base, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** Resolves when a host answers. */
  async ready(): Promise<void> {
    for (const until = Date.now() + READY_WITHIN_MS; ; await sleep(25)) {
      try {
        await this.ask((rpc) => rpc.host.info())
        return
      } catch (error) {
        if (Date.now() > until) throw error
      }
    }
  }

  /** Destroys all sandboxes; a host must run. */
  async destroySessions(): Promise<void> {
    await this.ask(async (rpc) => {
      for (const session of await rpc.sessions.list())
        if (session.status !== 'destroyed') await rpc.sessions.destroy({ session: session.id })
    })
  }

  /** Removes the folder. @throws when processes still live in a sandbox of it: they are ended, and named */
  remove(): void {
    const left = endProcessesIn(this.base)
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
    if (left.length > 0)
      throw new Error(`left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join(', ')}`)
  }
}

/** A headless host under the test's control. */
export class TestHost extends DataFolder {
  #process: ChildProcess | undefined

  static async begin(env: NodeJS.ProcessEnv = {}): Promise<TestHost> {
    const host = new TestHost(env)
    await host.start()
    return host
  }

  async start(): Promise<void> {
    const stdio = ['ignore', 'ignore', 'inherit'] as const
    this.#process = spawn(process.execPath, [join(root, 'out/main/host.js')], { env: this.env, stdio: [...stdio] })
    await this.ready()
  }

  /** An address with a fresh single-use code. */
  async browserUrl(): Promise<string> {
    return (await this.ask((rpc) => rpc.host.browserUrl())).url
  }

  /** kill -9: the host has no chance to say goodbye. */
  kill(): Promise<void> {
    return this.#signal('SIGKILL')
  }

  async end(): Promise<void> {
    if (this.#process?.exitCode !== null) await this.start()
    await this.destroySessions()
    await this.#signal('SIGTERM')
    this.remove()
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
}
