/**
 * Text of foreign origin (agents, file systems, programs), made safe to look at: what nobody would see, what would turn
 * the reading direction around and what would steer a terminal is written out. A file named `exe\u202Egpj.sh` must look
 * like a picture neither in the window nor in a terminal. Imports nothing, so that everybody can afford it.
 */

/** Controls, line and paragraph separators, and all that is drawn as nothing, but for what picks a glyph's variant. */
const HIDDEN = /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--\p{Variation_Selector}]/gv

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

function written(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  return NAMED[char] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`)
}

/** For text of many lines: line breaks and tabs stay; the rest appears as `\r`, `\xNN` or `\u{NNNN}`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : written(char)))

/** For names and labels: one line, everything written out. */
export const visibleName = (text: string): string => text.replace(HIDDEN, written)

/** `1.4 MB` */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log10(n) / 3))
  return `${power === 0 ? n : (n / 1000 ** power).toFixed(1)} ${units[power]}`
}

/** A word as a shell takes it, with quotes where it needs them: for commands to copy. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
