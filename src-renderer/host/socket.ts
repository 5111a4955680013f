/**
 * A WebSocket that comes back. It looks like one socket to oRPC's link: while the line is down it says CONNECTING,
 * so that a call made meanwhile waits for the next opening instead of failing.
 */
export type SocketState = 'connecting' | 'open' | 'lost' | 'refused'

const FIRST_RETRY_MS = 150
const LONGEST_RETRY_MS = 3000

interface SocketOptions {
  /** Called at each change of state; `refused` when the host answers but will not have this browser. */
  onState(state: SocketState): void
  /** Whether the host answers at all: tells a refused socket from a host that is away. */
  hostAnswers(): Promise<boolean>
  open: (url: string) => WebSocket
}

export class ReconnectingSocket extends EventTarget {
  #socket: WebSocket | null = null
  #retryMs = FIRST_RETRY_MS
  #opened = false
  readonly #url: string
  readonly #options: SocketOptions

  constructor(url: string, options: SocketOptions) {
    super()
    this.#url = url
    this.#options = options
    this.#connect()
  }

  get readyState(): 0 | 1 {
    return this.#socket?.readyState === 1 ? 1 : 0
  }

  send(data: Parameters<WebSocket['send']>[0]): void {
    this.#socket?.send(data)
  }

  #connect(): void {
    const socket = this.#options.open(this.#url)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    let opened = false
    socket.onopen = () => {
      opened = true
      this.#opened = true
      this.#retryMs = FIRST_RETRY_MS
      this.#options.onState('open')
      this.dispatchEvent(new Event('open'))
    }
    socket.onmessage = (event) => this.dispatchEvent(new MessageEvent('message', { data: event.data }))
    socket.onclose = () => void this.#closed(opened)
  }

  async #closed(wasOpen: boolean): Promise<void> {
    this.#socket = null
    // Only a line that was open has calls in flight to be ended; others go on waiting for the next opening.
    if (wasOpen) this.dispatchEvent(new Event('close'))
    const refused = !wasOpen && (await this.#options.hostAnswers().catch(() => false))
    this.#options.onState(refused ? 'refused' : this.#opened ? 'lost' : 'connecting')
    setTimeout(() => this.#connect(), refused ? LONGEST_RETRY_MS : this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS)
  }
}
