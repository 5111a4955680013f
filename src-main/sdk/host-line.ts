/**
 * One session's way to the host. It is opened by the first call and stays while the session is in use; afterwards each
 * call opens and closes its own.
 */
import { HostUnavailableError } from '../contract/errors.ts'
import { fromRpcError, isFromHost } from '../contract/wire.ts'
import { connectHost, type HostClient, type Rpc, version } from '../serve/client/index.ts'
import { dataFolder } from '../serve/home.ts'
import { type EmbeddedHost, embedHost } from './embed.ts'

export class HostLine {
  readonly #embed: boolean
  #client: Promise<HostClient> | null = null
  #embedded: EmbeddedHost | null = null
  #held = false
  #calls = 0

  /** @param embed whether the host runs in this process */
  constructor(embed: boolean) {
    this.#embed = embed
  }

  /** Stays open until it is let go. */
  hold(): void {
    this.#held = true
  }

  /** Closes once no call is under way. Resolves when a host in this process has given the data folder free. */
  async letGo(): Promise<void> {
    this.#held = false
    await this.#settle()
  }

  /** @throws the contract's error classes; HostRunningError where another process owns what is to be embedded */
  async call<T>(work: (rpc: Rpc) => Promise<T>): Promise<T> {
    this.#calls++
    try {
      const client = await this.#opened()
      client.inUse(true)
      return await work(client.rpc)
    } catch (error) {
      // A client that has given up stays so: the next call begins anew.
      if (error instanceof HostUnavailableError || (await this.#client)?.lost) await this.#hangUp()
      throw isFromHost(error) ? fromRpcError(error) : error
    } finally {
      this.#calls--
      await this.#settle()
    }
  }

  #opened(): Promise<HostClient> {
    this.#client ??= this.#open()
    return this.#client
  }

  async #open(): Promise<HostClient> {
    try {
      const home = dataFolder()
      if (this.#embed) this.#embedded ??= await embedHost(home)
      return await connectHost({ home, start: true, version })
    } catch (error) {
      this.#client = null
      throw error
    }
  }

  /** Between two calls a session keeps no program alive that has nothing left to do, and no host. */
  async #settle(): Promise<void> {
    if (this.#calls > 0) return
    if (this.#held) {
      ;(await this.#client)?.inUse(this.#calls > 0)
      return
    }
    await this.#hangUp()
    const embedded = this.#embedded
    this.#embedded = null
    await embedded?.release()
  }

  async #hangUp(): Promise<void> {
    const client = this.#client
    this.#client = null
    ;(await client)?.close()
  }
}
