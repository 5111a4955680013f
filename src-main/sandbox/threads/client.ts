/**
 * Work that would stall the host, done in a thread of its own: the store and every client share the main one. A thread
 * is started with its first call, keeps the process alive only while it is called, and is replaced where it dies.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { EngineUnavailableError } from '../../contract/errors.ts'
import { Calls } from '../calls/index.ts'
import type { Said } from './protocol.ts'

export class ThreadClient {
  readonly #name: string
  readonly #importer: ImportMeta
  readonly #notice: (value: unknown) => void
  readonly #calls = new Calls()
  #worker: Worker | null = null

  /**
   * @param name of the module that serves it, beside the caller's
   * @param importer the caller's `import.meta`
   * @param notice takes what the thread says unasked
   */
  constructor(name: string, importer: ImportMeta, notice: (value: unknown) => void = () => {}) {
    this.#name = name
    this.#importer = importer
    this.#notice = notice
  }

  /** Whether it was called before and is still there. */
  get running(): boolean {
    return this.#worker !== null
  }

  /** @throws what the method threw, as the class it was; EngineUnavailableError where the thread dies */
  call<T>(method: string, ...args: unknown[]): Promise<T> {
    const worker = this.#started()
    worker.ref()
    return this.#calls.call<T>(method, args, (request) => worker.postMessage(request))
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(entry(this.#name, this.#importer))
    this.#worker = worker
    let failure: unknown = null
    worker.on('message', (said: Said) => this.#take(said))
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => {
      this.#worker = null
      const error = new EngineUnavailableError(`A thread of the host has ended: ${this.#name}.`, {
        cause: failure,
        nextStep: 'Try again: it is started anew.',
      })
      this.#calls.fail(error)
    })
    return worker
  }

  #take(said: Said): void {
    if (!('id' in said)) {
      this.#notice(said.notice)
      return
    }
    this.#calls.take(said)
    if (this.#calls.idle) this.#worker?.unref()
  }
}

/** In the sources it lies beside its caller; in the built product at the top, wherever its caller went. */
function entry(name: string, { url, dirname: folder }: ImportMeta): URL {
  if (url.endsWith('.ts')) return new URL(`./${name}.ts`, url)
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, `${name}.js`)
    if (existsSync(path) || dirname(at) === at) return pathToFileURL(path)
  }
}
