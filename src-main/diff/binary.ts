/**
 * A file's bytes within a patch, as `git apply` takes them: both sides whole (git's own deltas only make it shorter),
 * compressed, in git's base 85, under the ids that tell git whether it has the right file before it.
 */
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** The bytes of both sides; null where there is no file. */
export interface Contents {
  before: Uint8Array | null
  after: Uint8Array | null
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
/** Bytes in one line: as many as its first letter can count (A to Z, then a to z). */
export const BASE85_LINE_BYTES = 52
const NO_FILE = '0'.repeat(40)

/** @returns the lines that follow a patch's header, ending in an empty one */
export function binarySection({ before, after }: Contents): string {
  return `index ${blobId(before)}..${blobId(after)}\nGIT binary patch\n${literal(after)}${literal(before)}`
}

/** What git calls these bytes. */
function blobId(bytes: Uint8Array | null): string {
  if (bytes === null) return NO_FILE
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

function literal(content: Uint8Array | null): string {
  const bytes = content ?? new Uint8Array()
  const packed = deflateSync(bytes)
  const lines = [`literal ${bytes.length}\n`]
  for (let at = 0; at < packed.length; at += BASE85_LINE_BYTES)
    lines.push(base85Line(packed.subarray(at, at + BASE85_LINE_BYTES)))
  return `${lines.join('')}\n`
}

/** At most {@link BASE85_LINE_BYTES} as one line of a patch, with its end. */
export function base85Line(bytes: Buffer): string {
  const count = String.fromCharCode(bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26)
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4)
  bytes.copy(padded)
  let digits = ''
  for (let at = 0; at < padded.length; at += 4) digits += fiveDigits(padded.readUInt32BE(at))
  return `${count}${digits}\n`
}

function fiveDigits(word: number): string {
  let digits = ''
  for (let rest = word, n = 0; n < 5; n++, rest = Math.floor(rest / 85)) digits = DIGITS.charAt(rest % 85) + digits
  return digits
}
