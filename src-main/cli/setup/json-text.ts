/** Changes to JSON (with comments) as text: what they do not concern stays as it was written, to the byte. */
import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'

type Path = readonly (string | number)[]

/**
 * Sets the value at a path; what is missing on the way there is made.
 * @param text valid JSON, or nothing but white space
 */
export function setIn(text: string, at: Path, value: unknown): string {
  const style = styleOf(text)
  const begun = text.trim() === '' ? `{}${style.eol}` : text
  const root = parseTree(begun, [], { allowTrailingComma: true })
  if (!root) throw new Error('text was to be valid JSON')
  for (let depth = at.length; ; depth--) {
    const node = findNodeAtLocation(root, [...at.slice(0, depth)])
    if (!node) continue
    const missing = at.slice(depth)
    if (missing.length > 0) return insert(begun, node, missing[0] ?? '', nest(missing.slice(1), value), style)
    const written = write(value, indentOf(begun, node.offset), style)
    return begun.slice(0, node.offset) + written + begun.slice(node.offset + node.length)
  }
}

/** Removes what is at a path, with its comma. */
export const removeIn = (text: string, at: Path): string => applyEdits(text, modify(text, [...at], undefined, {}))

/** `{ a: [value] }` for the path a, 0. */
const nest = (at: Path, value: unknown): unknown =>
  at.reduceRight<unknown>((inner, name) => (typeof name === 'number' ? [inner] : { [name]: inner }), value)

interface Style {
  eol: string
  /** One step. */
  indent: string
}

const styleOf = (text: string): Style => ({
  eol: text.includes('\r\n') ? '\r\n' : '\n',
  indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
})

/** Adds a member at the end of an object or a list, as its last one is written: on the same line or one of its own. */
function insert(text: string, container: Node, name: string | number, value: unknown, style: Style): string {
  const end = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const key = typeof name === 'string' ? `${JSON.stringify(name)}: ` : ''
  if (!last) {
    const outer = indentOf(text, container.offset)
    const line = style.eol + outer + style.indent + key + write(value, outer + style.indent, style) + style.eol + outer
    // Comments may be all that it holds.
    return text.slice(0, end).trimEnd() + line + text.slice(end)
  }
  const after = last.offset + last.length
  if (!text.slice(container.offset, end).includes('\n'))
    return `${text.slice(0, after)}, ${key}${JSON.stringify(value)}${text.slice(after)}`
  const indent = indentOf(text, last.offset)
  const line = style.eol + indent + key + write(value, indent, style)
  // A comment at the end of the line belongs to what stands there.
  const rest = /^([ \t]*,)?([ \t]*(\/\/[^\r\n]*|\/\*[^*\r\n]*\*\/[ \t]*)?)(?=\r?\n)/.exec(text.slice(after, end))
  if (!rest) return `${text.slice(0, after)},${line}${text.slice(after)}`
  const [whole, comma, comment = ''] = rest
  // One comma more at the end where there was one.
  return `${text.slice(0, after)},${comment}${line}${comma ? ',' : ''}${text.slice(after + whole.length)}`
}

const write = (value: unknown, indent: string, { eol, indent: step }: Style): string =>
  JSON.stringify(value, null, step).replaceAll('\n', eol + indent)

/** White space at the beginning of the line that holds an offset. */
function indentOf(text: string, offset: number): string {
  const begin = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(begin, offset))?.[0] ?? ''
}
