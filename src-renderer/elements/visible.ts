/**
 * Text from agents and file systems, made safe to look at: what would be invisible, or would turn the reading
 * direction around, is written out. A file named `exe\u202Egpj.sh` must not look like a picture.
 */

// Controls, soft hyphen, zero-width and bidirectional marks, line separators, byte-order mark, tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this is for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu

/** As the host writes them in paths. */
const NAMED: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\u001b': '\\x1b', '\u0000': '\\0' }

const written = (char: string): string =>
  NAMED[char] ?? `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** For text of many lines: line breaks and tabs stay. */
export const visible = (text: string): string => text.replace(HIDDEN, written)

/** For names and labels: one line, everything written out. */
export const visibleName = (text: string): string => visible(text).replace(/[\n\t]/g, (char) => NAMED[char] ?? char)

/** @returns at most `limit` characters, never half of a surrogate pair, and how many were left out. */
export function clip(text: string, limit: number): { text: string; left: number } {
  if (text.length <= limit) return { text, left: 0 }
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit
  return { text: text.slice(0, end), left: text.length - end }
}
