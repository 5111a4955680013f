/**
 * Ports of one session's sandbox: what listens inside and where this machine reaches it, and those that a person opened,
 * which are written down for the next host.
 */
import type { Duplex } from 'node:stream'
import {
  type Activity,
  InvalidOptionError,
  isLive,
  type ListeningPort,
  type OpenedPort,
  onLoopback,
} from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { SessionContext } from './context.ts'
import type { Inputs } from './inputs.ts'
import { OpenPorts } from './open-ports.ts'

export class Ports {
  readonly #context: SessionContext
  readonly #open: OpenPorts

  constructor(context: SessionContext) {
    this.#context = context
    this.#open = new OpenPorts(
      (port, signal) => this.#reach(port, signal),
      () => context.row.status === 'paused',
    )
  }

  /** @param ports that processes of the sandbox listen on */
  shown(ports: readonly ListeningPort[]): Pick<Activity, 'ports' | 'opened'> {
    const listens = new Set(ports.filter(({ address }) => onLoopback(address)).map(({ port }) => port))
    return {
      ports: ports.map((one) => ({ ...one, url: this.#urlOf(one) })),
      opened: this.opened().map((one) => ({ ...one, listening: listens.has(one.port) })),
    }
  }

  opened(): OpenedPort[] {
    return this.#open.list()
  }

  /**
   * @throws InvalidOptionError where this machine's port is taken, or it is open at another one; or it would be reached
   *   there as it is, and nothing of the sandbox listens
   */
  async open({ port, at }: Inputs['ports']['open']): Promise<OpenedPort & { shared: boolean }> {
    const sandbox = await this.#context.live()
    if (this.#sharesNetwork && (at === null || at === port)) {
      const { address } = await this.#listener(sandbox, port)
      return { port, at: port, url: sharedUrl(address, port), shared: true }
    }
    const opened = await this.#open.open(port, at)
    // It may be closed again by now.
    if (this.#open.at(port)?.at === opened.at) this.#keep(port, opened.at)
    return { ...opened, shared: false }
  }

  async close({ port }: Inputs['ports']['close']): Promise<{ closed: boolean }> {
    const closed = await this.#open.close(port)
    // It may be open again by now.
    if (this.#open.at(port) === null) this.#keep(port, null)
    return { closed }
  }

  /** Has those that were open at an earlier host open again. What cannot be is told in the notes. */
  async reopen(): Promise<void> {
    const context = this.#context
    for (const { port, at } of context.row.openPorts) {
      const failed = await this.#open.open(port, at).then(
        () => null,
        (error: Error) => error,
      )
      // It may be found ended meanwhile.
      if (failed === null || !isLive(context.row)) continue
      const note = `Port ${port} is no longer open to this machine: ${failed.message} \`rewind ports --open ${port}\` opens it again.`
      this.#keep(port, null)
      context.updateRow({ notes: [...context.row.notes, note] })
      context.raiseSummary()
    }
  }

  /** Closes all of them, and opens no other; what is written down of them stays. */
  end(): void {
    this.#open.end()
  }

  /** In the local engine a sandbox with a network has this machine's. */
  get #sharesNetwork(): boolean {
    const { engine, network } = this.#context.row
    return engine === 'local' && network
  }

  #urlOf({ address, port }: ListeningPort): string | null {
    const opened = onLoopback(address) && this.#open.at(port)
    if (opened) return opened.url
    return this.#sharesNetwork ? sharedUrl(address, port) : null
  }

  async #reach(port: number, signal: AbortSignal): Promise<Duplex> {
    const sandbox = await this.#context.live()
    // This machine's loopback is its own: what others listen on there is not the sandbox's.
    if (this.#sharesNetwork) await this.#listener(sandbox, port)
    return sandbox.connect(port, signal)
  }

  /** @throws InvalidOptionError where nothing in the sandbox listens on its loopback there */
  async #listener(sandbox: Sandbox, port: number): Promise<ListeningPort> {
    const { ports } = await this.#context.gate.shared(() => sandbox.activity())
    const found = ports.find((one) => one.port === port && onLoopback(one.address))
    if (found) return found
    throw new InvalidOptionError(`Nothing in the sandbox listens on port ${port}.`, {
      nextStep:
        'Start its server first: the sandbox has this machine’s network, and what listens there is reached as it is.',
      data: { port },
    })
  }

  /** For the next host. @param at null where it is not open */
  #keep(port: number, at: number | null): void {
    const { openPorts } = this.#context.row
    const others = openPorts.filter((one) => one.port !== port)
    const now = at === null ? others : [...others, { port, at }]
    if (JSON.stringify(now) !== JSON.stringify(openPorts)) this.#context.updateRow({ openPorts: now })
  }
}

/** Whatever it speaks: what is looked at by a person is http, nearly always. */
function sharedUrl(address: string, port: number): string {
  const everywhere = address === '0.0.0.0' || address === '::' || address.startsWith('127.')
  return `http://${everywhere ? 'localhost' : address.includes(':') ? `[${address}]` : address}:${port}/`
}
