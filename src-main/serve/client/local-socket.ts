/**
 * A WebSocket client for a socket on this machine, and for nothing else: no TLS, no compression, no proxies. The
 * general one brings all of Node's HTTP and TLS along, which takes longer to load than `rewind status` may last.
 */
import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { InvalidOptionError } from '../../contract/errors.ts'
import { MAX_MESSAGE_BYTES } from '../message-limit.ts'
import { doorFor } from './doors.ts'

const CONTINUATION = 0x0
const TEXT = 0x1
const BINARY = 0x2
const CLOSE = 0x8
const PING = 0x9
const PONG = 0xa

interface Events {
  /** Text arrives as its UTF-8 bytes. */
  message: [data: Buffer, isBinary: boolean]
  close: []
  error: [error: Error]
}

export class LocalSocket extends EventEmitter<Events> {
  readonly #socket: Socket
  readonly #incoming = new Incoming()
  #message: { opcode: number; parts: Buffer[] } | null = null

  /** Opens a connection, a person's where no other door is named. Rejects with the system's error where nobody listens. */
  static open(path: string, door: string = doorFor(null)): Promise<LocalSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(path)
      const failed = (error: Error) => {
        socket.destroy()
        reject(error)
      }
      const ended = () => failed(Object.assign(new Error('the host hung up'), { code: 'ECONNRESET' }))
      let answer = Buffer.alloc(0)
      const read = (chunk: Buffer) => {
        answer = Buffer.concat([answer, chunk])
        const end = answer.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!answer.subarray(0, 13).equals(Buffer.from('HTTP/1.1 101 ')))
          return failed(new Error(`it answered ${answer.subarray(0, answer.indexOf('\r\n')).toString('latin1')}`))
        socket.off('data', read).off('error', failed).off('end', ended)
        resolve(new LocalSocket(socket, answer.subarray(end + 4)))
      }
      socket.on('data', read).once('error', failed).once('end', ended)
      // The key guards against caches on the way, and there is none.
      socket.write(
        `GET ${door} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cmV3aW5kLWxvY2FsLWxpbg==\r\n\r\n',
      )
    })
  }

  private constructor(socket: Socket, head: Buffer) {
    super()
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => {
      // Without a listener an error would end the process; the close that follows says all that matters.
      if (this.listenerCount('error') > 0) this.emit('error', error)
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => this.emit('close'))
    // After the caller has had the chance to listen.
    if (head.length > 0) queueMicrotask(() => this.#take(head))
  }

  /** @throws InvalidOptionError for a message that the host would hang up on */
  send(data: string | Uint8Array): void {
    const payload = typeof data === 'string' ? Buffer.from(data) : data
    if (payload.length > MAX_MESSAGE_BYTES)
      throw new InvalidOptionError(
        `This is too large to be sent: more than ${Math.floor(MAX_MESSAGE_BYTES / 1e6)} MB in one call.`,
        { nextStep: 'Hand it over in pieces, or put it into the workspace before the session begins.' },
      )
    this.#write(typeof data === 'string' ? TEXT : BINARY, payload)
  }

  /** Takes its leave and hangs up. */
  close(): void {
    if (this.#socket.writable) this.#write(CLOSE, Buffer.from([0x03, 0xe8]))
    this.#socket.end()
    // The other side's farewell is not waited for.
    this.#socket.destroySoon()
  }

  /** Whether it keeps the process alive while nothing else does. */
  keepAlive(on: boolean): void {
    if (on) this.#socket.ref()
    else this.#socket.unref()
  }

  terminate(): void {
    this.#socket.destroy()
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (!this.#socket.writable) return
    this.#socket.cork()
    this.#socket.write(header(opcode, payload.length))
    this.#socket.write(payload)
    this.#socket.uncork()
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#incoming.push(chunk)) this.#handle(frame)
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }

  #handle({ opcode, last, payload }: Frame): void {
    if (opcode === PING) this.#write(PONG, payload)
    if (opcode === CLOSE) this.close()
    if (opcode === PING || opcode === CLOSE || opcode === PONG) return
    if (opcode !== CONTINUATION) this.#message = { opcode, parts: [] }
    const message = this.#message
    if (!message) throw new Error('a message began in its middle')
    message.parts.push(payload)
    if (!last) return
    this.#message = null
    const [first = payload] = message.parts
    this.emit('message', message.parts.length === 1 ? first : Buffer.concat(message.parts), message.opcode === BINARY)
  }
}

/** Frame header of a client: the mask bit is asked for by the protocol, and a key of zeros leaves the bytes alone. */
function header(opcode: number, length: number): Buffer {
  const sized = length < 126 ? Buffer.alloc(6) : length < 65_536 ? Buffer.alloc(8) : Buffer.alloc(14)
  sized[0] = 0x80 | opcode
  if (length < 126) sized[1] = 0x80 | length
  else if (length < 65_536) {
    sized[1] = 0x80 | 126
    sized.writeUInt16BE(length, 2)
  } else {
    sized[1] = 0x80 | 127
    sized.writeBigUInt64BE(BigInt(length), 2)
  }
  return sized
}

interface Frame {
  opcode: number
  last: boolean
  payload: Buffer
}

/** Cuts what arrives into frames; a long one is put together once, when all of it is there. */
class Incoming {
  #chunks: Buffer[] = []
  #held = 0
  /** Bytes to wait for before it is worth looking again. */
  #wanted = 2

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    const frames: Frame[] = []
    while (this.#held >= this.#wanted) {
      const frame = this.#next()
      if (frame) frames.push(frame)
    }
    return frames
  }

  #next(): Frame | null {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    const [first = 0, second = 0] = all
    const short = second & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (all.length < start) return this.#wait(start)
    const length = short < 126 ? short : short === 126 ? all.readUInt16BE(2) : Number(all.readBigUInt64BE(2))
    if (length > MAX_MESSAGE_BYTES) throw new Error(`a message of ${length} bytes is more than is taken`)
    if (all.length < start + length) return this.#wait(start + length)
    const rest = all.subarray(start + length)
    this.#chunks = [rest]
    this.#held = rest.length
    this.#wanted = 2
    return { opcode: first & 0x0f, last: (first & 0x80) !== 0, payload: all.subarray(start, start + length) }
  }

  #wait(bytes: number): null {
    this.#wanted = bytes
    return null
  }
}
