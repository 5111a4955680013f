/**
 * Messages as lines on a pair of streams. The SDK's own transport puts together and searches all that it holds with each
 * piece that arrives, so a message of 50 MB takes it minutes; here a piece is looked at once.
 */
import type { Readable, Writable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/server'

const NEWLINE = 0x0a

export class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #input: Readable
  readonly #output: Writable
  readonly #limit: number
  #parts: Buffer[] = []
  #bytes = 0
  #closed = false

  /** @param limit bytes of one message; what is longer ends the connection */
  constructor(input: Readable, output: Writable, limit: number) {
    this.#input = input
    this.#output = output
    this.#limit = limit
  }

  async start(): Promise<void> {
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#input.once('end', () => void this.close()).once('close', () => void this.close())
    this.#input.on('error', (error) => this.onerror?.(error))
    // The reader is gone: there is nobody to tell.
    this.#output.on('error', () => void this.close())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed || !this.#output.writable) return
    if (!this.#output.write(serializeMessage(message)))
      await new Promise<void>((resolve) => {
        const go = () => {
          this.#output.off('drain', go).off('close', go).off('error', go)
          resolve()
        }
        this.#output.once('drain', go).once('close', go).once('error', go)
      })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#input.pause()
    this.#parts = []
    this.onclose?.()
  }

  #take(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !this.#closed; at = chunk.indexOf(NEWLINE, from)) {
      this.#parts.push(chunk.subarray(from, at))
      const line = Buffer.concat(this.#parts).toString('utf8').trim()
      this.#parts = []
      this.#bytes = 0
      from = at + 1
      if (line !== '') this.#deliver(line)
    }
    this.#parts.push(chunk.subarray(from))
    this.#bytes += chunk.length - from
    if (this.#bytes <= this.#limit) return
    this.onerror?.(new Error(`a message of more than ${this.#limit} bytes`))
    void this.close()
  }

  #deliver(line: string): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch (error) {
      this.onerror?.(error as Error)
      return
    }
    this.onmessage?.(message)
  }
}
