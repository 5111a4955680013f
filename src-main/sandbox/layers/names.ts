/**
 * Names of files. Linux names are bytes, not text, so inside this folder a path is a *byte string*: one character
 * per byte (latin1). It compares and sorts as the bytes do and turns into a Buffer without loss. Text exists only
 * at the edges, here.
 */
import { InvalidPathError } from '../../contract/index.ts'

/** A path or name as one character per byte. */
export type ByteString = string

/** The kernel's limit for a path that is handed over in one piece. */
const PATH_BYTES = 4096

export const toByteString = (path: string | Uint8Array): ByteString =>
  (typeof path === 'string' ? Buffer.from(path) : Buffer.from(path.buffer, path.byteOffset, path.byteLength)).toString(
    'latin1',
  )

export const toBytes = (path: ByteString): Buffer => Buffer.from(path, 'latin1')

export const join = (folder: ByteString, name: ByteString): ByteString => (folder === '' ? name : `${folder}/${name}`)

/** How a path appears in a Change: readable, and with its bytes where it is not simply their text. */
export function showPath(path: ByteString): { path: string; rawPath: string | null } {
  if (PLAIN_ASCII.test(path)) return { path, rawPath: null }
  const bytes = toBytes(path)
  const readable = readableBytes(bytes)
  return { path: readable, rawPath: Buffer.from(readable).equals(bytes) ? null : bytes.toString('base64') }
}

/**
 * Bytes as text that can be printed: what is not UTF-8 appears as \xNN, controls as \n, \t, \xNN. So do the
 * characters that turn the direction of text, as they make a name look like another one.
 */
export function readableBytes(bytes: Uint8Array): string {
  const plain = decodeText(bytes)
  if (plain !== null && !UNPRINTABLE.test(plain)) return plain
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at)
    const character = length === 0 ? '' : utf8.decode(bytes.subarray(at, at + length))
    const step = Math.max(length, 1)
    text += length === 0 || UNPRINTABLE.test(character) ? escapeBytes(bytes.subarray(at, at + step)) : character
    at += step
  }
  return text
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Nearly every path there is; the rest is looked at byte by byte. */
const PLAIN_ASCII = /^[\x20-\x7e]*$/

// Controls (C0, DEL, C1), line and paragraph separators, marks and overrides of direction.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Length of the UTF-8 character that starts at `at`; 0 where none does. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  return length > 0 && decodeText(bytes.subarray(at, at + length)) !== null && at + length <= bytes.length ? length : 0
}

/** The bytes as text; null where they are not UTF-8 through and through. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return null
  }
}

function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    if (byte === 0x0a) return '\\n'
    if (byte === 0x09) return '\\t'
    return `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/**
 * The workspace path that a caller means, relative to the workspace.
 * @param workspaceInside the workspace as commands in the sandbox see it, absolute
 * @param path relative to the workspace, or absolute beneath it
 * @throws InvalidPathError for anything that does not name an entry beneath the workspace
 */
export function resolveInside(workspaceInside: string, path: string): string {
  const refuse = (why: string): never => {
    throw new InvalidPathError(`${JSON.stringify(shorten(path))} ${why}.`, {
      nextStep: `Give a path relative to the workspace, or an absolute one beneath ${workspaceInside}.`,
      data: { path: shorten(path), workspace: workspaceInside },
    })
  }
  if (path === '') return refuse('names no file: the path is empty')
  if (path.includes('\0')) return refuse('holds a NUL byte, which no path can')
  if (Buffer.byteLength(path) > PATH_BYTES) return refuse(`is longer than ${PATH_BYTES} bytes`)
  let relative = path
  if (path.startsWith('/')) {
    const beneath = beneathPrefix(workspaceInside, path)
    if (beneath === null) return refuse('lies outside the workspace')
    relative = beneath
  }
  const parts: string[] = []
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return refuse('leads out of the workspace')
  }
  if (parts.length === 0) return refuse('is the workspace folder itself')
  return parts.join('/')
}

/** What follows `prefix` in an absolute path, '' for the prefix itself; null where the path is not beneath it. */
export function beneathPrefix(prefix: string, path: string): string | null {
  const folder = prefix.replace(/\/+$/, '')
  const clean = path.replace(/\/{2,}/g, '/')
  if (clean === folder) return ''
  return clean.startsWith(`${folder}/`) ? clean.slice(folder.length + 1) : null
}

const shorten = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)
