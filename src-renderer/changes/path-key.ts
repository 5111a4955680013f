/** What tells paths apart: their bytes, as two names may read alike. */
import type { ChosenPath } from '../../src-main/contract/index.ts'

/**
 * The path with one character per byte: the same for both sides, and no other's, while two names may read alike. A folder's
 * begins those of all in it.
 */
export function keyOf({ path, rawPath }: ChosenPath): string {
  if (rawPath !== null) return atob(rawPath)
  if (PLAIN.test(path)) return path
  let key = ''
  for (const byte of utf8.encode(path)) key += String.fromCharCode(byte)
  return key
}

/** Nearly every path there is. */
const PLAIN = /^[ -~]*$/
const utf8 = new TextEncoder()
