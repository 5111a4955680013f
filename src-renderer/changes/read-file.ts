/** A file as it was at a moment, read in parts: no part is larger than a message should be. */
import type { Change } from '../../src-main/contract/index.ts'
import type { Rpc } from '../host/link.ts'

export interface FileRef extends Pick<Change, 'path' | 'rawPath'> {
  session: string
  /** A point, or now. */
  at: string
}

const PART_BYTES = 4 << 20

/** One part after another, from the beginning to the end. */
export async function* partsOf(
  rpc: Rpc,
  file: FileRef,
  signal: AbortSignal,
  limit = PART_BYTES,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let offset: number | null = 0; offset !== null; ) {
    const part: { bytes: string; next: number | null } = await rpc.files.bytes({ ...file, offset, limit }, { signal })
    yield decoded(part.bytes)
    offset = part.next
  }
}

/** At most one part of it. */
export async function partOf(
  rpc: Rpc,
  file: FileRef,
  { offset, limit }: { offset: number; limit: number },
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { bytes } = await rpc.files.bytes({ ...file, offset, limit }, { signal })
  return decoded(bytes)
}

/** So small that the window feels none of the parts. */
const SMALL_PART_BYTES = 1 << 18

/** All of it in one piece, in parts so small that nobody waits for one. */
export async function bytesOf(rpc: Rpc, file: FileRef, signal: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of partsOf(rpc, file, signal, SMALL_PART_BYTES)) parts.push(part)
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** All of it, for a file that is known to be small. */
export async function wholeOf(rpc: Rpc, file: FileRef, signal: AbortSignal): Promise<Blob> {
  const parts: BlobPart[] = []
  for await (const part of partsOf(rpc, file, signal)) parts.push(part)
  return new Blob(parts)
}

export function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}
