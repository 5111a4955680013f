/**
 * What a client sent, judged: a list of messages of one format, that JSON can hold. `auto` goes by what the messages hold.
 * A conversation keeps the format that it has while everything new fits it; otherwise the whole list decides, and where it
 * fits several, their order does. So the same history on the same conversation is always taken for the same.
 */
import { InvalidMessagesError, type Message, type MessageFormat, type StoredFormat } from '../contract/index.ts'
import type { Format } from './format.ts'
import { formatOf, formats } from './formats/index.ts'

/** Levels of lists and objects in one message; more could not be written as JSON. */
export const MAX_DEPTH = 1_000

export interface Judged {
  /** As they came, the same objects. */
  messages: readonly Message[]
  format: StoredFormat
}

export interface Judging {
  wanted?: MessageFormat
  /** The format of the conversation so far; null where it is new. */
  before?: StoredFormat | null
  /** How many messages at the beginning are the conversation's own, and need no judging again. */
  known?: number
}

/** @throws InvalidMessagesError naming the index and what is allowed */
export function judgeMessages(input: unknown, { wanted = 'auto', before = null, known = 0 }: Judging = {}): Judged {
  if (!Array.isArray(input)) throw refusal('The messages are not a list.', wanted, {})
  const messages: readonly Message[] = input
  for (let index = known; index < messages.length; index++) {
    const problem = jsonProblem(messages[index])
    if (problem !== null) throw refusal(`messages[${index}] ${problem}.`, wanted, { index })
  }
  if (wanted === 'auto') return { messages, format: detect(messages, before, known) }
  const format = formatOf(wanted === 'dict' ? 'openai' : wanted)
  const from = before === format.name ? known : 0
  for (let index = from; index < messages.length; index++) {
    const problem = format.refuse(messages[index] ?? {})
    if (problem !== null) throw refusal(`messages[${index}] ${problem}.`, wanted, { index })
  }
  return { messages, format: format.name }
}

/** @throws InvalidMessagesError where no format takes all of them */
function detect(messages: readonly Message[], before: StoredFormat | null, known: number): StoredFormat {
  const current = before === null ? null : formatOf(before)
  if (current && messages.slice(known).every((message) => current.fits(message))) return current.name
  const ordered = current ? [current, ...formats.filter((format) => format !== current)] : formats
  // What a format's schema does not name yet (a new kind of part) is still taken, where the roles are its own.
  const found =
    formats.find((format) => messages.every((message) => format.fits(message))) ??
    ordered.find((format) => messages.every((message) => format.refuse(message) === null))
  if (found) return found.name
  throw unfit(messages)
}

function unfit(messages: readonly Message[]): InvalidMessagesError {
  let possible: readonly Format[] = formats
  for (const [index, message] of messages.entries()) {
    const left = possible.filter((format) => format.refuse(message) === null)
    if (left.length > 0) {
      possible = left
      continue
    }
    const [first] = formats
    const everywhere = formats.every((format) => format.refuse(message) !== null)
    const what = everywhere
      ? first?.refuse(message)
      : `does not fit what stands before it, which is of ${possible.map(({ title }) => title).join(' or ')}`
    return refusal(`messages[${index}] ${what}.`, 'auto', { index })
  }
  throw new Error('a history that fits a format was refused')
}

const list = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function refusal(message: string, wanted: MessageFormat, data: { index?: number }): InvalidMessagesError {
  const format = formatOf(wanted === 'auto' || wanted === 'dict' ? 'openai' : wanted)
  const rule = `a list of messages, in ${format.title} each an object whose role (or type) is ${list(format.allowed)}`
  const others =
    wanted === 'auto' ? `; name the format where it is another: ${list(formats.map(({ name }) => name))}` : ''
  return new InvalidMessagesError(message, {
    nextStep: `Give ${rule}${others}. Nothing was changed.`,
    data: { ...data, format: wanted, allowed: format.allowed },
  })
}

/** Why it cannot be kept and come back equal; null where it can. Deep nesting must not end in a stack that overflows. */
function jsonProblem(message: unknown): string | null {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'is not a message'
  const open: { value: unknown; depth: number }[] = [{ value: message, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next
    switch (typeof value) {
      case 'bigint':
      case 'function':
      case 'symbol':
        return `holds a ${typeof value}, which JSON cannot`
      case 'number':
        if (!Number.isFinite(value)) return `holds ${value}, which JSON cannot`
        break
      case 'object':
        if (value === null) break
        if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
        for (const inner of Array.isArray(value) ? value : Object.values(value))
          if (inner !== null && typeof inner !== 'string') open.push({ value: inner, depth: depth + 1 })
    }
  }
  return null
}
