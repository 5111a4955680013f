/** What attacks are after, made for them: files, sockets, shared memory and a process of the machine's. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inDisposableMachine } from './disposable.ts'
import { type Box, type ProviderSource, World } from './world.ts'

/** The attacker. */
const SCRIPT = fs.readFileSync(join(import.meta.dirname, 'attacks.py'), 'utf8')
const asRoot = process.getuid?.() === 0

/** Names of the attacks that are tried together. */
export const attackNames = [...SCRIPT.matchAll(/@attack\ndef (\w+)/g)].map(([, name = '']) => name.replaceAll('_', '-'))

/** What each of some attacks achieved; null where it was refused. */
export type Achieved = Record<string, unknown>

export class Prey {
  readonly world: World
  readonly secret = `secret-${randomUUID()}`
  readonly folder: string
  readonly #name = `rewind-prey-${randomUUID().slice(0, 8)}`
  readonly #victim: ChildProcess
  readonly #marker = `rewind-victim-${randomUUID()}`
  readonly #variable = `variable-${randomUUID()}`
  readonly #key = randomInt(1, 2 ** 31 - 1)
  readonly #servers: Server[] = []

  private constructor(world: World) {
    this.world = world
    this.folder = join(world.folder, 'prey')
    fs.mkdirSync(join(this.folder, 'public'), { recursive: true })
    fs.chmodSync(join(this.folder, 'public'), 0o777)
    for (const name of ['open', 'public/there']) {
      fs.writeFileSync(join(this.folder, name), 'host')
      fs.chmodSync(join(this.folder, name), 0o666)
    }
    for (const file of [join(world.home, 'secret'), this.#shm]) fs.writeFileSync(file, this.secret, { mode: 0o644 })
    this.#sharedMemory('libc.shmget(KEY, 4096, 0o1666)')
    this.#victim = spawn('sh', ['-c', 'sleep 1000; : "$0"', this.#marker], {
      env: { PATH: process.env.PATH, VARIABLE: this.#variable },
      stdio: 'ignore',
      // The agent's own user, so that nothing but the sandbox keeps it off.
      ...(asRoot ? { uid: 1000, gid: 1000 } : {}),
    })
  }

  /** As root outside of /tmp, which is the sandbox's own: everything but it is the machine's. */
  static async make(source: ProviderSource): Promise<Prey> {
    const prey = new Prey(await World.make(source, asRoot ? '/var' : tmpdir()))
    const addresses = [prey.#hostSocket, `\0${prey.#name}`, ...(asRoot ? [prey.#runSocket] : [])]
    for (const path of addresses) {
      const server = createServer((socket) => socket.end(prey.secret))
      await new Promise<void>((resolve) => server.listen(path, resolve))
      if (path.startsWith('/')) fs.chmodSync(path, 0o666)
      prey.#servers.push(server)
    }
    return prey
  }

  get #shm(): string {
    return `/dev/shm/${this.#name}`
  }

  get #hostSocket(): string {
    return join(this.world.home, 'host.sock')
  }

  get #runSocket(): string {
    return `/run/${this.#name}.sock`
  }

  get victimLives(): boolean {
    return this.#victim.exitCode === null && this.#victim.signalCode === null
  }

  /** Whether nothing of what is the machine's has changed. */
  get whole(): boolean {
    const read = (name: string) => fs.readFileSync(join(this.folder, name), 'utf8')
    const untouched = read('open') === 'host' && read('public/there') === 'host' && this.victimLives
    return untouched && fs.readdirSync(join(this.folder, 'public')).length === 1
  }

  async attack(box: Box, ...names: string[]): Promise<Achieved> {
    const { pid } = this.#victim
    return JSON.parse(await box.say(this.#words(pid ?? 0, box.sandbox.id, names))) as Achieved
  }

  /** The attack's words for a sandbox that it may leave without a word. */
  words(box: Box, name: string): string[] {
    return this.#words(0, box.sandbox.id, [name])
  }

  /** With all rights, where there is nothing to be harmed. */
  async attackDisposable(...names: string[]): Promise<Achieved> {
    const fd = fs.openSync(join(this.folder, 'open'), 'r')
    try {
      const whole = { shown: this.world.folder, same: [this.#shm, ...(asRoot ? [this.#runSocket] : [])] }
      const options = { victim: this.#marker, env: { VARIABLE: this.#variable }, descriptor: fd }
      const said = await inDisposableMachine(this.world.folder, this.#words(1, '', names), {
        ...options,
        ...(names.length === 0 ? whole : {}),
      })
      return JSON.parse(said) as Achieved
    } finally {
      fs.closeSync(fd)
    }
  }

  async end(): Promise<void> {
    this.#victim.kill('SIGKILL')
    for (const server of this.#servers) server.close()
    fs.rmSync(this.#shm, { force: true })
    this.#sharedMemory('libc.shmctl(libc.shmget(KEY, 0, 0), 0, None)')
  }

  #words(pid: number, sandbox: string, names: readonly string[]): string[] {
    const { dev } = fs.statSync(this.world.folder)
    const where = {
      name: this.#name,
      open: join(this.folder, 'open'),
      workspace: this.world.workspace,
      public: join(this.folder, 'public'),
      secret: join(this.world.home, 'secret'),
      layers: sandbox === '' ? this.world.home : join(this.world.home, 'sandboxes', sandbox, 'w'),
      shm: this.#shm,
      key: this.#key,
      major: (dev >> 8) & 0xfff,
      minor: (dev & 0xff) | ((dev >> 12) & 0xfff00),
      victim: this.#marker,
      pid,
      variable: this.#variable,
      host_socket: this.#hostSocket,
      run_socket: this.#runSocket,
      abstract: this.#name,
    }
    return ['python3', '-c', SCRIPT, JSON.stringify(where), ...names]
  }

  #sharedMemory(call: string): void {
    execFileSync('python3', [
      '-c',
      `import ctypes; libc = ctypes.CDLL(None); ${call.replace('KEY', String(this.#key))}`,
    ])
  }
}
