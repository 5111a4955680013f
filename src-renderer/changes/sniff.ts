/** What a file is, by what it begins with: a name says what somebody called it. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/svg+xml'

export type Content = { kind: 'image'; type: ImageType } | { kind: 'database' } | { kind: 'log' } | { kind: 'other' }

/** So many bytes tell it. */
export const HEAD_BYTES = 64

export function contentOf(head: Uint8Array): Content {
  const text = Array.from(head.subarray(0, 16), (byte) => String.fromCharCode(byte)).join('')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return { kind: 'image', type: 'image/png' }
  if (text.startsWith('\xff\xd8\xff')) return { kind: 'image', type: 'image/jpeg' }
  if (/^GIF8[79]a/.test(text)) return { kind: 'image', type: 'image/gif' }
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return { kind: 'image', type: 'image/webp' }
  if (text.startsWith('SQLite format 3\0')) return { kind: 'database' }
  // A write-ahead log of SQLite.
  if (text.startsWith('\x37\x7f\x06\x82') || text.startsWith('\x37\x7f\x06\x83')) return { kind: 'log' }
  return { kind: 'other' }
}

/** Both sides as one: what is an image on one side and something else on the other is neither. */
export function contentOfBoth(before: Uint8Array | null, after: Uint8Array | null): Content {
  const [was, is] = [before, after].map((head) => (head && head.length > 0 ? contentOf(head) : null))
  if (!was || !is) return was ?? is ?? { kind: 'other' }
  return was.kind === is.kind ? is : { kind: 'other' }
}

/** What may stand before the root element, each from where the one before it ended. A comment ends at its first end. */
const PROLOGUE = [/\s+/y, /<\?[^>]*>/y, /<!--(?:(?!-->)[\s\S])*-->/y, /<!DOCTYPE[^>[]*(?:\[[^\]]*\])?[^>]*>/iy]

/** A root that begins later is not looked for. */
const PROLOGUE_LENGTH = 4096

/** The root element is the first thing but for what may stand before it. Linear in the text, whatever stands there. */
export function isSvg(text: string): boolean {
  const head = text.slice(text.startsWith('\ufeff') ? 1 : 0, PROLOGUE_LENGTH)
  let at = 0
  for (let before = -1; before !== at; ) {
    before = at
    for (const part of PROLOGUE) {
      part.lastIndex = at
      if (part.test(head)) at = part.lastIndex
    }
  }
  return /^<svg[\s>]/i.test(head.slice(at, at + 5))
}
