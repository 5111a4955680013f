/**
 * Messages over one stream of bytes. A frame is two lengths (32 bits, big-endian), then JSON of the first length, then
 * bytes of the second: what the message has of those stands in the JSON as a place among them.
 */

/** In place of bytes: from and to, within the frame's. */
interface Place {
  $bytes: [from: number, to: number]
}

/** In place of a Map. */
interface Entries {
  $map: [unknown, unknown][]
}

const HEAD_BYTES = 8
/** Larger than any answer: a file of 128 MiB, which is the most that is read. What is larger is no frame of ours. */
const LONGEST = 192 << 20

/** @param message JSON values, bytes, dates and Maps; `undefined` within an object is left out */
export function encode(message: unknown): Buffer {
  const parts: Uint8Array[] = []
  let length = 0
  const plain = (value: unknown): unknown => {
    if (value instanceof Uint8Array) {
      parts.push(value)
      length += value.length
      return { $bytes: [length - value.length, length] } satisfies Place
    }
    if (value instanceof Date) return { $date: value.getTime() }
    if (value instanceof Map)
      return { $map: [...value].map(([key, one]) => [plain(key), plain(one)]) } satisfies Entries
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
  }
  const json = Buffer.from(JSON.stringify(plain(message)))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(json.length, 0)
  head.writeUInt32BE(length, 4)
  return Buffer.concat([head, json, ...parts])
}

/** Takes a stream apart. */
export class Decoder {
  readonly #take: (message: unknown) => void
  #chunks: Uint8Array[] = []
  #held = 0
  /** Bytes that the next step needs. */
  #wanted = HEAD_BYTES

  /** @param take is given each message */
  constructor(take: (message: unknown) => void) {
    this.#take = take
  }

  /** @throws Error where the stream holds something else than frames */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    while (this.#held >= this.#wanted) {
      const bytes = Buffer.concat(this.#chunks)
      const json = bytes.readUInt32BE(0)
      const end = HEAD_BYTES + json + bytes.readUInt32BE(4)
      if (end > LONGEST) throw new Error('The stream holds something else than frames.')
      this.#wanted = end
      this.#chunks = [bytes]
      if (bytes.length < end) return
      this.#chunks = [bytes.subarray(end)]
      this.#held = bytes.length - end
      this.#wanted = HEAD_BYTES
      this.#take(decode(bytes.subarray(HEAD_BYTES, HEAD_BYTES + json), bytes.subarray(HEAD_BYTES + json, end)))
    }
  }
}

function decode(json: Buffer, bytes: Buffer): unknown {
  return JSON.parse(json.toString('utf8'), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('$bytes' in value) return bytes.subarray(...(value as Place).$bytes)
    if ('$date' in value) return new Date((value as { $date: number }).$date)
    if ('$map' in value) return new Map((value as Entries).$map)
    return value
  })
}
