/** A command's output as text, a part at a time: whole characters only, and where the next part begins. */
import { Buffer } from 'node:buffer'
import type { AgentHost } from './host.ts'

/** Bytes of one stream in one answer: what a model reads without drowning. */
export const WINDOW = 30_000

export interface OutputWindow {
  text: string
  /** Byte of the stream at which the text begins, and the one after its end. */
  from: number
  next: number
  /** Nothing comes after `next`. */
  ended: boolean
}

interface Stream {
  session: string
  id: string
  stream: 'stdout' | 'stderr'
}

/** @param from a byte; one within a character gives the character after it */
export async function readWindow(host: AgentHost, of: Stream, from: number): Promise<OutputWindow> {
  const part = await host.commands.output({ ...of, offset: from, limit: WINDOW })
  const bytes = Buffer.from(part.bytes, 'base64')
  const start = from === 0 ? 0 : leading(bytes)
  const end = part.ended ? bytes.length : bytes.length - unfinished(bytes)
  return { text: bytes.toString('utf8', start, end), from: from + start, next: from + end, ended: part.ended }
}

/** Bytes at the front that belong to a character which began before. */
function leading(bytes: Buffer): number {
  let count = 0
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++
  return count
}

/** Bytes at the end of a character that is not all there yet. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}
