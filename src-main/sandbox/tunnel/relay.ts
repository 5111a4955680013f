/** The relay of one sandbox: where its program is, and one of it at a time. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { EngineUnavailableError } from '../../contract/errors.ts'
import { type Tunnel, TunnelLost } from './tunnel.ts'

/** In the sources it lies beside this module; in the built product at the top, wherever this went. */
export function relayProgram(): string {
  if (import.meta.url.endsWith('.ts')) return join(import.meta.dirname, 'port-relay.ts')
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const path = join(at, 'port-relay.js')
    if (existsSync(path) || dirname(at) === at) return path
  }
}

export class Relay {
  readonly #start: (words: readonly string[]) => Promise<Tunnel>
  #current: { words: string; tunnel: Promise<Tunnel> } | null = null
  #closed = false

  /** @param start runs the words of a relay */
  constructor(start: (words: readonly string[]) => Promise<Tunnel>) {
    this.#start = start
  }

  /**
   * @param words of the relay that leads into the sandbox's network as it is now: one that leads elsewhere is left
   * @param signal of whoever no longer wants the connection; once it is there it is theirs
   * @throws NotConnected, EngineUnavailableError, the signal's reason
   */
  async connect(words: readonly string[], port: number, signal?: AbortSignal): Promise<Duplex> {
    for (let attempt = 0; ; attempt++) {
      const tunnel = await this.#tunnel(words)
      try {
        return await tunnel.connect(port, signal)
      } catch (error) {
        if (!(error instanceof TunnelLost)) throw error
        if (attempt > 0 || this.#closed)
          throw new EngineUnavailableError(error.message, {
            nextStep: 'Try again; if it happens again, run `rewind doctor`.',
            cause: error,
          })
      }
    }
  }

  /** Breaks off every connection. */
  close(): void {
    this.#closed = true
    this.#leave()
  }

  /** Nobody waits for one that is still starting, which may hang: it is closed once it has. */
  #leave(): void {
    void this.#current?.tunnel.then(
      (tunnel) => tunnel.close(),
      () => {},
    )
    this.#current = null
  }

  async #tunnel(words: readonly string[]): Promise<Tunnel> {
    const key = words.join('\0')
    const { words: known, tunnel } = this.#current ?? {}
    if (tunnel && known === key && (await tunnel.catch(() => null))?.alive) return tunnel
    if (this.#current?.tunnel !== tunnel) return this.#tunnel(words)
    this.#leave()
    if (this.#closed) throw new EngineUnavailableError('The sandbox has been let go of.')
    const started = this.#start(words)
    this.#current = { words: key, tunnel: started }
    return started
  }
}
