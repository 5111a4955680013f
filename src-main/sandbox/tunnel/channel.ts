/**
 * One connection of many on a stream: read and written as a socket, ended on each side by itself. Neither side sends more
 * than the other has room for, so that one that nobody reads holds up no other.
 */
import { Duplex } from 'node:stream'
import { type Frame, type Kind, LONGEST, numberBytes, numberOf, strange } from './frames.ts'

/** What may be under way in one direction, in bytes as they are counted. */
const WINDOW = 256 << 10
/** What a frame counts at least: one that brings a byte costs its memory and a call at the other end all the same. */
const LEAST = 256
/** Room is told of in portions. */
const PORTION = WINDOW / 4

export type SendFrame = (kind: Kind, bytes?: Uint8Array) => void

/** It was broken off by the other end, or with the whole stream: what came before may not be all. */
export class CutOff extends Error {
  readonly code = 'ECONNRESET'
}

const costOf = ({ length }: Uint8Array): number => Math.max(length, LEAST)

export class Channel extends Duplex {
  readonly #send: SendFrame
  readonly #forget: () => void
  /** What the other end takes. */
  #room = WINDOW
  /** What it was not told yet that we took, and what it may have sent. */
  #taken = 0
  #expected = WINDOW
  #unsent: { bytes: Uint8Array; done: () => void } | null = null
  #endSent = false
  #endSeen = false
  #isCut = false

  /** @param forget called once nothing more is said of it */
  constructor(send: SendFrame, forget: () => void) {
    // What nobody reads makes no room: up to this many bytes it would, a frame for each.
    super({ readableHighWaterMark: LEAST })
    this.#send = send
    this.#forget = forget
  }

  /** @throws Error where the other end does not keep to what was agreed */
  hear(frame: Frame): void {
    const { kind, bytes } = frame
    if (kind === 'credit') {
      this.#room += numberOf(frame)
      if (this.#room > WINDOW) throw strange()
      this.#go()
    } else if (kind === 'data') {
      this.#expected -= costOf(bytes)
      if (this.#expected < 0 || this.#endSeen) throw strange()
      this.#taken += costOf(bytes)
      if (this.push(bytes)) this.#tellRoom()
    } else if (kind === 'end') {
      this.#endSeen = true
      this.push(null)
    } else this.cut()
  }

  /** The other end is gone. */
  cut(): void {
    this.#isCut = true
    this.destroy(new CutOff('The connection was broken off.'))
  }

  override _read(): void {
    this.#tellRoom()
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#unsent = { bytes: chunk, done }
    this.#go()
  }

  override _final(done: () => void): void {
    this.#endSent = true
    this.#send('end')
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#unsent = null
    if (!this.#isCut && !(this.#endSent && this.#endSeen)) this.#send('cut')
    this.#forget()
    done(error)
  }

  #go(): void {
    while (this.#unsent !== null && this.#room >= LEAST) {
      const { bytes, done } = this.#unsent
      const part = bytes.subarray(0, Math.min(this.#room, LONGEST))
      this.#room -= costOf(part)
      this.#send('data', part)
      const all = part.length === bytes.length
      this.#unsent = all ? null : { bytes: bytes.subarray(part.length), done }
      if (all) done()
    }
  }

  #tellRoom(): void {
    if (this.#taken < PORTION || this.#endSeen) return
    this.#send('credit', numberBytes(this.#taken))
    this.#expected += this.#taken
    this.#taken = 0
  }
}
