/**
 * What is put into an agent's settings and taken out again, as functions from text to text. Comments, order and
 * indentation of what stands there stay as they are; what an agent could not read is refused, never repaired.
 */
import { isDeepStrictEqual } from 'node:util'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { parse as parseToml, TomlError } from 'smol-toml'
import { InvalidPathError } from '../../contract/errors.ts'
import { removeIn, setIn } from './json-text.ts'

/** One file of an agent's, with what Rewind has in it. */
export interface Edit {
  path: string
  /**
   * @param text what the file holds; null where there is none
   * @throws InvalidPathError for a file that cannot be read as what it is, or where the place is taken
   */
  put(text: string | null): string
  /** Takes out what {@link put} puts in, whatever else was changed since. @returns null where nothing else is left */
  take(text: string): string | null
  /** What stands in such a file that says nothing. */
  empty: string
}

/** A place in a JSON file: a value by name, or an item of a list. */
export type JsonEntry =
  | { at: readonly string[]; value: unknown; isOurs: (value: unknown) => boolean }
  | { list: readonly string[]; item: unknown; isOurs: (item: unknown) => boolean }

/** JSON with comments and trailing commas: it is up to its agent whether it bears with those. */
export function jsonEdit(path: string, entries: readonly JsonEntry[]): Edit {
  return {
    path,
    empty: '{}\n',
    put: (text) => keepingMark(text ?? '', (bare) => entries.reduce((now, entry) => putInto(path, now, entry), bare)),
    take: (text) => {
      const left = keepingMark(text, (bare) => entries.reduce((now, entry) => takeFrom(path, now, entry), bare))
      if (left === text) return text
      return isDeepStrictEqual(read(path, left), {}) && !/\/[/*]/.test(left) ? null : left
    },
  }
}

function putInto(path: string, text: string, entry: JsonEntry): string {
  const whole = read(path, text)
  if ('at' in entry) {
    const there = valueAt(path, whole, entry.at)
    if (isDeepStrictEqual(there, entry.value)) return text
    if (there !== undefined && !entry.isOurs(there))
      throw new InvalidPathError(`${path} has something else as ${entry.at.join('.')} already.`, {
        nextStep: 'Give that another name, or take it out; then run this again.',
      })
    return setIn(text, entry.at, entry.value)
  }
  const list = listAt(path, whole, entry.list)
  const own = list.findIndex(entry.isOurs)
  if (isDeepStrictEqual(list[own], entry.item)) return text
  return setIn(text, [...entry.list, own < 0 ? list.length : own], entry.item)
}

function takeFrom(path: string, text: string, entry: JsonEntry): string {
  const whole = read(path, text)
  if ('at' in entry) {
    const there = valueAt(path, whole, entry.at)
    return there === undefined || !entry.isOurs(there)
      ? text
      : withoutEmpty(path, removeIn(text, entry.at), entry.at.slice(0, -1))
  }
  const own = listAt(path, whole, entry.list).findIndex(entry.isOurs)
  return own < 0 ? text : withoutEmpty(path, removeIn(text, [...entry.list, own]), entry.list)
}

/** Removes what is empty now, from `at` upwards. */
function withoutEmpty(path: string, text: string, at: readonly string[]): string {
  if (at.length === 0) return text
  const value = valueAt(path, read(path, text), at)
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return text
  return withoutEmpty(path, removeIn(text, at), at.slice(0, -1))
}

/** @returns an empty object for an empty file */
function read(path: string, text: string): object {
  if (text.trim().replace('\ufeff', '') === '') return {}
  const faults: ParseError[] = []
  const value: unknown = parse(text.replace('\ufeff', ''), faults, { allowTrailingComma: true })
  const [first] = faults
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length
    throw broken(path, `JSON (line ${line}: ${printParseErrorCode(first.error)})`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw broken(path, 'a JSON object')
  return value
}

function valueAt(path: string, whole: object, at: readonly string[]): unknown {
  let value: unknown = whole
  for (const [depth, name] of at.entries()) {
    if (value === undefined) return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw broken(path, `an object at ${at.slice(0, depth).join('.')}`)
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

function listAt(path: string, whole: object, at: readonly string[]): unknown[] {
  const value = valueAt(path, whole, at) ?? []
  if (!Array.isArray(value)) throw broken(path, `a list at ${at.join('.')}`)
  return value
}

/** A byte order mark is no JSON, but some editors write it. */
function keepingMark(text: string, work: (bare: string) => string): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  return mark + work(text.slice(mark.length))
}

const BEGIN = '# >>> rewind setup: this block is replaced by the next `rewind setup`, and taken out by --undo'
const END = '# <<< rewind setup'
const BLOCK = /(\r?\n)?# >>> rewind setup[^\n]*\n[\s\S]*?# <<< rewind setup[^\n]*(\r?\n|$)/

/**
 * A block of our own at the end of a TOML file: its tables stand for themselves wherever they are.
 * @param taken tables of the block that may be nowhere else in the file, each as the names that lead to it
 */
export function tomlEdit(path: string, block: string, taken: readonly (readonly string[])[]): Edit {
  const without = (text: string): string => text.replace(BLOCK, '')
  return {
    path,
    empty: '',
    put: (text) => {
      const others = without(text ?? '')
      const known = readToml(path, others)
      for (const at of taken)
        if (valueAt(path, known, at) !== undefined)
          throw new InvalidPathError(`${path} has a table [${at.join('.')}] of its own already.`, {
            nextStep: 'Take that out, or give it another name; then run this again.',
          })
      const gap = others === '' || others.endsWith('\n') ? '' : '\n'
      const lead = others.trim() === '' ? '' : '\n'
      const whole = `${others}${gap}${lead}${BEGIN}\n${block.trim()}\n${END}\n`
      // What stands there may close a place to ours, such as a table written in one line.
      readToml(path, whole)
      return whole
    },
    take: (text) => {
      const left = without(text)
      if (left === text) return text
      return left.trim() === '' ? null : left
    },
  }
}

function readToml(path: string, text: string): object {
  try {
    return parseToml(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw broken(
      path,
      `TOML (line ${error.line}: ${error.message.split('\n')[0]?.replace('Invalid TOML document: ', '')})`,
    )
  }
}

/** A file that is ours as a whole. */
export function ownFile(path: string, content: string, isOurs: (text: string) => boolean): Edit {
  return {
    path,
    empty: '',
    put: (text) => {
      if (text !== null && !isOurs(text))
        throw new InvalidPathError(`${path} is there already, and not Rewind's.`, {
          nextStep: 'Move it away; then run this again.',
        })
      return content
    },
    take: (text) => (isOurs(text) ? null : text),
  }
}

const broken = (path: string, what: string): InvalidPathError =>
  new InvalidPathError(`${path} is not ${what}; nothing was changed.`, {
    nextStep: 'Mend it, or move it away; then run this again.',
  })
