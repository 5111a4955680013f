/** Bytes of a file as text: exactly, or not at all. */
import { isAscii } from 'node:buffer'
import { InvalidOptionError } from '../contract/errors.ts'

/** How bytes are read as text; `'base64'` is the bytes themselves, written so. */
export type TextEncoding = 'utf-8' | 'utf8' | 'utf-16le' | 'latin1' | 'ascii' | 'base64'

/** @internal */
export const encodings: readonly TextEncoding[] = ['utf-8', 'utf8', 'utf-16le', 'latin1', 'ascii', 'base64']

/**
 * A byte order mark is kept: written back, the text gives the same bytes.
 * @throws InvalidOptionError where the bytes are no such text
 * @internal
 */
export function textOf(bytes: Buffer, encoding: TextEncoding, path: string): string {
  if (encoding === 'base64' || encoding === 'latin1') return bytes.toString(encoding)
  try {
    if (encoding === 'ascii' && !isAscii(bytes)) throw new TypeError('a byte above 127')
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new InvalidOptionError(`${path} is not ${encoding} text.`, {
      nextStep: 'Read it without an encoding, as bytes.',
      cause: error,
    })
  }
}
