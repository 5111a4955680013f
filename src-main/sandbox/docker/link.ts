/**
 * The line to the engine within a container: one `docker exec` of it, which lasts as long as its standard streams are
 * attached. Calls go in, answers come out.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import { EngineUnavailableError } from '../../contract/index.ts'
import { type Answer, Calls } from '../calls/index.ts'
import { engineBundle } from './bundle.ts'
import { Decoder, encode } from './frames.ts'
import { type InsideCalls, LACKS, NO_CODE } from './protocol.ts'

/** The engine is gone: what it was asked to do is done, half done or not begun. */
export class LinkLost extends Error {}

/** Programs that the engine and the sandbox cannot do without, beside a shell. */
const NEEDED = [
  ...['node', 'busybox', 'mount', 'umount', 'unshare', 'nsenter', 'setpriv', 'setsid', 'flock', 'script'],
  ...['env', 'chroot', 'cp', 'mv', 'rm', 'mkdir', 'mknod', 'chown', 'stat', 'sync', 'xargs', 'tar'],
]

const START = `[ -e "$0" ] || exit ${NO_CODE}
for program; do command -v "$program" >/dev/null || { echo "$program" >&2; lacks=1; }; done
[ -z "$lacks" ] || exit ${LACKS}
exec node "$0"`

/** How long an engine that was left may take to let go of its sandbox. */
const LEAVE_MS = 10_000
const STDERR_BYTES = 8_000

export class Link {
  readonly #stream: Duplex
  readonly #exec: Docker.Exec
  readonly #calls = new Calls()
  readonly #closed: Promise<void>
  #alive = true
  #stderr = ''

  private constructor(docker: Docker, exec: Docker.Exec, stream: Duplex) {
    this.#exec = exec
    this.#stream = stream
    const decoder = new Decoder((answer) => this.#calls.take(answer as Answer))
    const out = (chunk: Buffer): void => {
      try {
        decoder.push(chunk)
      } catch (error) {
        stream.destroy(error as Error)
      }
    }
    const err = (chunk: Buffer): void => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_BYTES)
    }
    docker.modem.demuxStream(stream, writable(out), writable(err))
    this.#closed = new Promise((resolve) => {
      const lost = (cause?: Error): void => {
        this.#alive = false
        this.#calls.fail(new LinkLost(this.#stderr.trim() || 'the engine in the container ended', { cause }))
        stream.destroy()
        resolve()
      }
      stream.once('end', lost).once('close', lost).once('error', lost)
    })
  }

  /**
   * Starts the engine in a running container.
   * @throws EngineUnavailableError where the image lacks something; dockerode's errors
   */
  static async open(docker: Docker, container: Docker.Container): Promise<Link> {
    const { program, archive } = engineBundle()
    for (let attempt = 0; ; attempt++) {
      const exec = await container.exec({
        Cmd: ['sh', '-c', START, program, ...NEEDED],
        User: '0:0',
        WorkingDir: '/',
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
      })
      const link = new Link(docker, exec, await exec.start({ hijack: true, stdin: true }))
      try {
        await link.call('hello')
        return link
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        const code = await link.#exitCode()
        if (code === LACKS) throw lacking(link.#stderr.split('\n').filter(Boolean))
        if (code !== NO_CODE || attempt > 0) {
          throw new EngineUnavailableError(
            `The engine within the container did not start (exit code ${code}): ${link.#stderr.trim() || 'no word'}`,
            { nextStep: 'Use the product’s own image, or another one with a whole Linux system in it.' },
          )
        }
        await container.putArchive(archive(), { path: '/' })
      }
    }
  }

  get alive(): boolean {
    return this.#alive
  }

  /** @throws what the engine threw, as the class it was; LinkLost */
  call<Name extends keyof InsideCalls>(
    name: Name,
    ...args: Parameters<InsideCalls[Name]>
  ): Promise<Awaited<ReturnType<InsideCalls[Name]>>> {
    return this.#calls.call(name, args, (request) => {
      if (!this.#alive) throw new LinkLost('the engine in the container ended')
      this.#stream.write(encode(request))
    })
  }

  /** Lets go: the engine ends once it has let go of its sandbox, which goes on. */
  async close(): Promise<void> {
    if (!this.#alive) return
    this.#stream.end()
    await Promise.race([this.#closed, sleep(LEAVE_MS, undefined, { ref: false })])
    this.#stream.destroy()
  }

  async #exitCode(): Promise<number | null> {
    // What the engine says of an exec follows its streams.
    for (let attempt = 0; attempt < 50; attempt++) {
      const { Running, ExitCode } = await this.#exec.inspect()
      if (!Running) return ExitCode
      await sleep(20)
    }
    return null
  }
}

/** All that is written to by the client that takes docker's stream apart. */
export const writable = (write: (chunk: Buffer) => void): NodeJS.WritableStream =>
  ({ write }) as unknown as NodeJS.WritableStream

const lacking = (programs: readonly string[]): EngineUnavailableError =>
  new EngineUnavailableError(`The image lacks what sandboxes need: ${programs.join(', ')}.`, {
    nextStep: 'Install them in it (Debian: busybox-static, nodejs, util-linux, tar), or use the product’s own image.',
    data: { lacks: [...programs] },
  })
