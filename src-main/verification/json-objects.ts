/**
 * The JSON objects that stand in a text among other output. Only outermost ones count: what is nested in a further
 * object, an array, or even in braces that are no JSON, was not printed as a verdict. One pass, so that a flood of
 * braces costs no more than other text.
 */

const closes: Record<string, string> = { '}': '{', ']': '[' }

/** Index after the string that begins at `start`. One that is not closed on its line takes the line's rest with it. */
function afterString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index]
    if (character === '\\') index++
    else if (character === '"') return index + 1
    else if (character === '\n') return index
  }
  return text.length
}

/** Outermost pairs of brackets as [start, end). Brackets that are never closed hold nothing. */
function outermostBrackets(text: string): [number, number][] {
  const open: { at: number; bracket: string }[] = []
  const waiting: Record<string, number> = { '{': 0, '[': 0 }
  const found: [number, number][] = []
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ''
    const opener = closes[character]
    if (character === '"' && open.length > 0) index = afterString(text, index) - 1
    else if (character === '{' || character === '[') {
      open.push({ at: index, bracket: character })
      waiting[character] = (waiting[character] ?? 0) + 1
    } else if (opener && waiting[opener]) {
      // Those above it were never closed: they are text.
      for (let top = open.pop(); top; top = open.pop()) {
        waiting[top.bracket] = (waiting[top.bracket] ?? 1) - 1
        if (top.bracket !== opener) continue
        while ((found.at(-1)?.[0] ?? -1) > top.at) found.pop()
        found.push([top.at, index + 1])
        break
      }
    }
  }
  return found
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the value that the text is; undefined where it is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @returns the outermost objects of the text that are valid JSON and have the field, in order */
export const jsonObjectsWith = (field: string, text: string): Record<string, unknown>[] =>
  outermostBrackets(text)
    .map(([start, end]) => text.slice(start, end))
    // Most braces of a log hold something else: parsing them all is what would take long.
    .filter((object) => object.includes(field))
    .map(parseJson)
    .filter(isObject)
    .filter((object) => Object.hasOwn(object, field))
