/**
 * The control channel: one long-lived shell that takes short scripts on its standard input and answers framed.
 *
 * Node itself starts a program only to open the channel: its `spawn` costs 20 ms and more once the process has
 * grown, a fork of a small shell 1 ms. The shell is replaceable: when it dies, calls that wait are rejected with
 * {@link ShellDied} and the caller opens another.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'

/** The shell ended before it answered; what it was doing may be done, half done or not begun. */
export class ShellDied extends Error {}

export interface ShellAnswer {
  /** Exit code of the script. */
  code: number
  /** What it and its programs wrote, both streams. */
  output: string
}

interface Waiting {
  mark: string
  resolve(answer: ShellAnswer): void
  reject(error: Error): void
}

export class ControlShell {
  readonly pid: number
  /** The host's end of descriptor 3, which the shell hands on to the launcher. */
  readonly side: Duplex
  /** Resolves when the shell has ended, however. */
  readonly ended: Promise<void>
  readonly #process: ChildProcess
  readonly #waiting: Waiting[] = []
  #output = ''
  #alive = true

  private constructor(process: ChildProcess, pid: number) {
    this.#process = process
    this.pid = pid
    this.side = process.stdio[3] as Duplex
    // Both ends of the channel may vanish under us; the calls that wait are told by `exit`.
    for (const stream of [process.stdin, this.side]) stream?.on('error', () => {})
    process.stdout?.setEncoding('utf8').on('data', (text: string) => this.#receive(text))
    process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#receive(text))
    this.ended = new Promise((resolve) => {
      process.once('exit', () => {
        this.#alive = false
        for (const waiting of this.#waiting.splice(0)) waiting.reject(new ShellDied(this.#describe()))
        resolve()
      })
    })
  }

  /**
   * @param argv the program that becomes the shell, and how it enters its namespaces
   * @param env its whole environment
   * @throws the system's error where the program cannot be started
   */
  static async open(argv: readonly string[], env: Record<string, string>): Promise<ControlShell> {
    const [program = 'sh', ...args] = argv
    // Its own session: what a terminal sends to the host's process group is not for the sandbox.
    const child = spawnShut(program, args, { detached: true, cwd: '/', env })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    if (child.pid === undefined) throw new Error(`${program} was not started`)
    return new ControlShell(child, child.pid)
  }

  get alive(): boolean {
    return this.#alive
  }

  /**
   * Runs a script in the shell itself, after those asked for before.
   * @throws ShellDied
   */
  run(script: string): Promise<ShellAnswer> {
    if (!this.#alive) return Promise.reject(new ShellDied(this.#describe()))
    const mark = randomBytes(12).toString('hex')
    return new Promise((resolve, reject) => {
      this.#waiting.push({ mark, resolve, reject })
      this.#process.stdin?.write(`{ ${script}\n} 2>&1 </dev/null; echo "${mark} $?"\n`)
    })
  }

  /** Closes the channel: the shell finishes its script and ends; what it started goes on. */
  async close(limitMs = 5_000): Promise<void> {
    if (!this.#alive) return
    this.#process.stdin?.end()
    this.side.destroy()
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), limitMs)
    await this.ended
    clearTimeout(timer)
  }

  #receive(text: string): void {
    this.#output += text
    for (;;) {
      const waiting = this.#waiting[0]
      if (waiting === undefined) return
      const at = this.#output.indexOf(`${waiting.mark} `)
      const end = at === -1 ? -1 : this.#output.indexOf('\n', at)
      if (end === -1) return
      const answer = {
        code: Number(this.#output.slice(at + waiting.mark.length + 1, end)),
        output: this.#output.slice(0, at).trim(),
      }
      this.#output = this.#output.slice(end + 1)
      this.#waiting.shift()
      waiting.resolve(answer)
    }
  }

  #describe(): string {
    return `the control shell ended${this.#output.trim() ? `: ${this.#output.trim().slice(-2000)}` : ''}`
  }
}

/**
 * Starts a program with pipes on its first descriptors and with nothing on the others. What Node opens is closed in its
 * children; what whoever started this host had open is not, and would be the agent's to read and write.
 */
export function spawnShut(program: string, args: readonly string[], options: SpawnOptions, pipes = 4): ChildProcess {
  const nothing = openSync('/dev/null', 'r')
  try {
    const stdio: ('pipe' | 'ignore' | number)[] = Array(pipes).fill('pipe')
    for (const fd of inherited()) {
      while (stdio.length <= fd) stdio.push('ignore')
      if (fd >= pipes) stdio[fd] = nothing
    }
    return spawn(program, args, { ...options, stdio })
  } finally {
    closeSync(nothing)
  }
}

const O_CLOEXEC = 0o2000000

/** Descriptors of this process that its children get. */
function inherited(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => {
      try {
        const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
        return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
      } catch {
        // The listing's own.
        return false
      }
    })
}
