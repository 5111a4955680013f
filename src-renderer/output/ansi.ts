/** Terminal output as runs of text with a look: colours and weight kept, every other control sequence left out. */
export interface Run {
  text: string
  /** 0-7, or null for the plain ink. */
  colour: number | null
  bold: boolean
  dim: boolean
}

const ESC = '\u001b'
const BEL = '\u0007'
const END = `(?:${BEL}|${ESC}\\\\)?`
/** CSI sequences (their parameters and last letter captured), OSC and other strings, and two-character escapes. */
const SEQUENCE = new RegExp(
  `${ESC}(?:\\[([0-?]*)[ -/]*([@-~])|\\][^${BEL}${ESC}]*${END}|[PX^_][^${ESC}]*${END}|[ -/]*[0-~])`,
  'g',
)

export function runsOf(output: string): Run[] {
  const runs: Run[] = []
  let look: Omit<Run, 'text'> = { colour: null, bold: false, dim: false }
  const push = (text: string) => {
    if (text) runs.push({ ...look, text })
  }
  const text = overwritten(output)
  let at = 0
  for (const match of text.matchAll(SEQUENCE)) {
    push(text.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') look = styled(look, match[1] ?? '')
  }
  push(text.slice(at))
  return runs
}

/** A carriage return writes the line anew: of a progress bar only the last state is kept. */
function overwritten(output: string): string {
  return output
    .replaceAll('\r\n', '\n')
    .replace(/[^\n]*\r(?=[^\n])/g, '')
    .replaceAll('\r', '')
}

function styled(look: Omit<Run, 'text'>, parameters: string): Omit<Run, 'text'> {
  const codes = parameters.split(/[;:]/).map(Number)
  let next = { ...look }
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 0) next = { colour: null, bold: false, dim: false }
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 39) next.colour = null
    else if (code >= 30 && code <= 37) next.colour = code - 30
    else if (code >= 90 && code <= 97) next.colour = code - 90
    else if (code === 38 || code === 48) {
      // Colours of the large palettes have no place in two calm themes: skipped with their parameters.
      at += codes[at + 1] === 5 ? 2 : 4
      if (code === 38) next.colour = null
    }
  }
  return next
}
