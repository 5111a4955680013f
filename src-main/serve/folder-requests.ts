/**
 * Folders that agents ask for and nobody has allowed yet: whoever sits at a window is asked, once for each folder. Where
 * no window is open when an agent asks, nobody is there to be asked; once asked, a question waits until it is answered,
 * allowed by other ways, or taken back.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { CancelledError, type FolderRequest, InvalidOptionError } from '../contract/index.ts'
import type { AllowedFolders } from './allowed-folders.ts'

export type Answered = 'allowed' | 'refused' | 'nobody'

/** Questions that may wait at once: an agent is not to fill a person's screen. */
const MOST = 8

interface Waiting {
  request: FolderRequest
  answered: PromiseWithResolvers<Answered>
  /** How many calls wait for the answer. */
  askers: number
}

export class FolderRequests {
  readonly #allowed: AllowedFolders
  readonly #waiting = new Map<string, Waiting>()
  readonly #refused = new Set<string>()
  readonly #listeners = new Set<() => void>()

  constructor(allowed: AllowedFolders) {
    this.#allowed = allowed
    allowed.onChange = () => this.#look()
  }

  /**
   * @param path absolute
   * @param client how the agent's program calls itself
   * @throws CancelledError once the signal aborts
   */
  async ask(path: string, client: string, signal?: AbortSignal): Promise<Answered> {
    if (this.#refused.has(path)) return 'refused'
    const waiting = this.#waiting.get(path) ?? this.#begin(path, client)
    if (!waiting) return 'nobody'
    waiting.askers++
    const { promise: gone, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(new CancelledError('The question was taken back.'))
    signal?.addEventListener('abort', onAbort)
    try {
      if (signal?.aborted) onAbort()
      return await Promise.race([waiting.answered.promise, gone])
    } finally {
      signal?.removeEventListener('abort', onAbort)
      waiting.askers--
      if (waiting.askers === 0) this.#settle(path, 'nobody')
    }
  }

  /** @throws InvalidOptionError for one that does not wait (any more) */
  answer(id: string, allow: boolean): void {
    const found = [...this.#waiting.values()].find(({ request }) => request.id === id)
    if (!found)
      throw new InvalidOptionError('This question was answered or taken back already.', {
        nextStep: '`rewind allow` lists the folders that are allowed.',
      })
    const { path } = found.request
    if (!allow) this.#refused.add(path)
    // One that is yet to be made is allowed once it is there.
    else if (existsSync(path)) this.#allowed.add(path)
    this.#settle(path, allow ? 'allowed' : 'refused')
  }

  /** Those that wait, now and after each change. Whoever listens is there to be asked. */
  async *follow(signal?: AbortSignal): AsyncGenerator<FolderRequest[]> {
    let changed = Promise.withResolvers<void>()
    const wake = () => changed.resolve()
    this.#listeners.add(wake)
    signal?.addEventListener('abort', wake)
    try {
      while (!signal?.aborted) {
        yield [...this.#waiting.values()].map(({ request }) => request)
        await changed.promise
        changed = Promise.withResolvers()
      }
    } finally {
      this.#listeners.delete(wake)
      signal?.removeEventListener('abort', wake)
    }
  }

  /** The host goes: nobody will be asked any more. */
  close(): void {
    for (const path of [...this.#waiting.keys()]) this.#settle(path, 'nobody')
  }

  #begin(path: string, client: string): Waiting | null {
    if (this.#listeners.size === 0 || this.#waiting.size >= MOST) return null
    const request = { id: randomUUID(), path, client, at: new Date() }
    const waiting = { request, answered: Promise.withResolvers<Answered>(), askers: 0 }
    this.#waiting.set(path, waiting)
    this.#tell()
    return waiting
  }

  #settle(path: string, answer: Answered): void {
    const waiting = this.#waiting.get(path)
    if (!waiting) return
    this.#waiting.delete(path)
    waiting.answered.resolve(answer)
    this.#tell()
  }

  /** A person may have allowed a folder by other ways. */
  #look(): void {
    for (const path of this.#refused) if (this.#allowed.admits(path)) this.#refused.delete(path)
    for (const path of [...this.#waiting.keys()]) if (this.#allowed.admits(path)) this.#settle(path, 'allowed')
  }

  #tell(): void {
    for (const wake of this.#listeners) wake()
  }
}
