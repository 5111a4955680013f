/** What a program printed, as the text it meant: without what was meant for a terminal. */

const ESC = '\u001b'
const ST = `(?:${ESC}\\\\|\u0007|\u009c)`

/** Each alternative ends at the next escape at the latest, so that matching stays linear whatever was printed. */
const terminalCodes = new RegExp(
  [
    // Strings: OSC (titles, links), DCS, SOS, PM, APC.
    `(?:${ESC}[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^${ESC}\u0007\u0090\u0098\u009c-\u009f]*${ST}`,
    // CSI: colours, cursor moves.
    `(?:${ESC}\\[|\u009b)[0-?]*[ -/]*[@-~]`,
    // Character sets and other short ones.
    `${ESC}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)

/**
 * @returns the text without ANSI and OSC codes, a byte order mark before it and carriage returns before newlines; null
 * where the bytes are no text
 */
export function cleanText(bytes: Uint8Array): string | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
  if (text.includes('\0')) return null
  return text
    .replace(terminalCodes, '')

    .replaceAll('\r\n', '\n')
}
