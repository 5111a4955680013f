/** What a key press is to a program on a terminal (xterm's sequences: invisible-island.net/xterm/ctlseqs). */

const ESC = '\u001b'
const BACKSPACE = '\u007f'

/** Final letters of `CSI letter`; with modifiers `CSI 1 ; M letter`. */
const LETTERS: Record<string, string> = {
  ArrowUp: 'A',
  ArrowDown: 'B',
  ArrowRight: 'C',
  ArrowLeft: 'D',
  Home: 'H',
  End: 'F',
  F1: 'P',
  F2: 'Q',
  F3: 'R',
  F4: 'S',
}

/** Numbers of `CSI number ~`. */
const NUMBERS: Record<string, number> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
}

export type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>

/**
 * @param applicationKeys whether the program asked for that kind of cursor keys
 * @returns what is typed by it; null where the press is no matter of the terminal's
 */
export function typedBy(press: Press, applicationKeys: boolean): string | null {
  const { key, ctrlKey, altKey, shiftKey, metaKey } = press
  if (metaKey) return null
  const modifiers = 1 + (shiftKey ? 1 : 0) + (altKey ? 2 : 0) + (ctrlKey ? 4 : 0)
  const letter = LETTERS[key]
  if (letter !== undefined) {
    if (modifiers > 1) return `${ESC}[1;${modifiers}${letter}`
    return /^F\d/.test(key) || applicationKeys ? `${ESC}O${letter}` : `${ESC}[${letter}`
  }
  const number = NUMBERS[key]
  if (number !== undefined) return `${ESC}[${number}${modifiers > 1 ? `;${modifiers}` : ''}~`
  const alt = altKey ? ESC : ''
  switch (key) {
    case 'Enter':
      return `${alt}\r`
    case 'Backspace':
      return alt + (ctrlKey ? '\b' : BACKSPACE)
    case 'Tab':
      return shiftKey ? `${ESC}[Z` : '\t'
    case 'Escape':
      return alt + ESC
  }
  if ([...key].length !== 1) return null
  if (!ctrlKey) return alt + key
  const control = controlOf(key)
  return control === null ? null : alt + control
}

/** The control character of a key: Ctrl-A is 1, Ctrl-@ and Ctrl-Space 0, Ctrl-? is DEL. */
function controlOf(key: string): string | null {
  if (key === ' ') return '\0'
  if (key === '?') return BACKSPACE
  const code = key.toUpperCase().charCodeAt(0)
  return code >= 64 && code < 96 ? String.fromCharCode(code - 64) : null
}

/** Pasted text: lines end as by the key, and a program that asked for it is told where it begins and ends. */
export function pasted(text: string, bracketed: boolean): string {
  // What would end the brackets from within is left out.
  const typed = text.replaceAll(/\r?\n/g, '\r').replaceAll(`${ESC}[201~`, '')
  return bracketed ? `${ESC}[200~${typed}${ESC}[201~` : typed
}
