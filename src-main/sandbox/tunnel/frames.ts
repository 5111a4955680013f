/**
 * Many connections over one stream of bytes. A frame is its kind (8 bits), the connection's number and the length of what
 * it brings (32 bits each, big-endian), then that. Each end of a connection says how much more it takes of the other's.
 */

/** What a frame is about; `opened` and `refused` are the relay's answers to `open`. */
export const KINDS = ['open', 'opened', 'refused', 'data', 'end', 'cut', 'credit'] as const
export type Kind = (typeof KINDS)[number]

export interface Frame {
  kind: Kind
  id: number
  bytes: Buffer
}

const HEAD_BYTES = 9
/** Of `data`; all else is shorter. */
export const LONGEST = 32 << 10

export function encode(kind: Kind, id: number, bytes: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes.length)
  frame.writeUInt8(KINDS.indexOf(kind), 0)
  frame.writeUInt32BE(id, 1)
  frame.writeUInt32BE(bytes.length, 5)
  frame.set(bytes, HEAD_BYTES)
  return frame
}

/** A number that a frame brings: a port, or bytes of credit. */
export function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value, 0)
  return bytes
}

/** @throws Error where it brings none */
export const numberOf = ({ bytes }: Frame): number => {
  if (bytes.length !== 4) throw strange()
  return bytes.readUInt32BE(0)
}

/** Takes a stream apart, in pieces of whatever length. */
export class Decoder {
  readonly #take: (frame: Frame) => void
  #rest: Buffer = Buffer.alloc(0)

  constructor(take: (frame: Frame) => void) {
    this.#take = take
  }

  /** @throws Error where the stream holds something else than frames */
  push(chunk: Uint8Array): void {
    // A frame is shorter than most pieces: what is copied here is the end of one and the beginning of the next.
    const bytes =
      this.#rest.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= HEAD_BYTES) {
      const kind = KINDS[bytes.readUInt8(at)]
      const length = bytes.readUInt32BE(at + 5)
      if (kind === undefined || length > LONGEST) throw strange()
      const end = at + HEAD_BYTES + length
      if (end > bytes.length) break
      this.#take({ kind, id: bytes.readUInt32BE(at + 1), bytes: bytes.subarray(at + HEAD_BYTES, end) })
      at = end
    }
    this.#rest = bytes.subarray(at)
  }
}

export const strange = (): Error => new Error('The stream holds something else than frames of ours.')
