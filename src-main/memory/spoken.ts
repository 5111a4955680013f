/**
 * What is said in a conversation, apart from how a provider writes it: what conversions go through. A part that a format
 * cannot write is left out and named in a note.
 */

/** An image, a sound or another file: by address, or its bytes in base64. */
export interface Media {
  kind: 'media'
  what: 'image' | 'audio' | 'file'
  url?: string
  data?: string
  mediaType?: string
  name?: string
}

/** Reasoning as its provider signed it; only that provider (or a format that keeps such fields) can be shown it again. */
export interface Thought {
  kind: 'thought'
  by: 'anthropic' | 'openai'
  text: string
  /** Anthropic's signature, or OpenAI's encrypted content. */
  seal?: string
  /** OpenAI's id of the item. */
  id?: string
  /** Anthropic's redacted thinking: nothing but the sealed data. */
  redacted?: boolean
}

export interface Said {
  kind: 'text'
  text: string
  /** The model's refusal. */
  refusal?: boolean
}

export interface Called {
  kind: 'call'
  id: string
  name: string
  /** The arguments as a value, or the text itself where a tool takes free text. */
  input: unknown
  /** The arguments as they were written, where that was as text: no number in them is another when they are text again. */
  source?: string
  /** It takes free text. */
  custom?: boolean
}

export interface Answered {
  kind: 'result'
  id: string
  /** Of the tool, where the result says. */
  name?: string
  output: (Said | Media)[]
  failed: boolean
}

export type Part = Said | Media | Thought | Called | Answered

export interface Spoken {
  /** Index of the (first) message that it comes from. */
  at: number
  role: 'system' | 'developer' | 'user' | 'assistant'
  parts: Part[]
  /** Of a participant. */
  name?: string
}

type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export const said = (value: string): Said => ({ kind: 'text', text: value })

/** @returns the parts of content that is text or a list. @param read null for a part that cannot be carried over */
export function partsOf(content: unknown, read: (part: Fields) => Part | Part[] | null): (Part | null)[] {
  if (typeof content === 'string') return content === '' ? [] : [said(content)]
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) => {
    if (typeof part === 'string') return [said(part)]
    return isObject(part) ? read(part) : null
  })
}

/** Arguments as OpenAI writes them, a text, made a value; text that is no JSON object stays what it is. */
function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  if (value.trim() === '') return {}
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Both, of arguments that may be a text. */
export const readArguments = (value: unknown): Pick<Called, 'input' | 'source'> => ({
  input: argumentsOf(value),
  ...(typeof value === 'string' && value.trim() !== '' ? { source: value } : {}),
})

export const argumentsText = ({ input, source }: Called): string =>
  source ?? (typeof input === 'string' ? input : JSON.stringify(input ?? {}))

/** Arguments for a format that takes nothing but objects. */
export const argumentsObject = (input: unknown): Fields => (isObject(input) ? input : { input })

/** The media of a `data:` address, or of any other. */
export function mediaAt(what: Media['what'], url: string, more: Partial<Media> = {}): Media {
  const inline = /^data:([^;,]*)((?:;[^;,]*)*);base64,(.*)$/is.exec(url)
  if (!inline) return { kind: 'media', what, url, ...more }
  const [, type = '', parameters = '', data = ''] = inline
  // Of text they say how it is to be read; of anything else a provider does not know its type with them.
  const mediaType = type.startsWith('text/') ? `${type}${parameters}` : type
  return { kind: 'media', what, data, ...(mediaType === '' ? {} : { mediaType }), ...more }
}

export const addressOf = ({ url, data, mediaType }: Media, otherwise: string): string =>
  url ?? `data:${mediaType ?? otherwise};base64,${data ?? ''}`

/** What was left out, in words: collected on the way, told once for each message and thing. */
export class Notes {
  readonly #notes = new Set<string>()

  get all(): string[] {
    return [...this.#notes]
  }

  lost(at: number, what: string): void {
    this.#notes.add(`messages[${at}]: ${what} cannot be expressed and was left out.`)
  }

  say(at: number, what: string): void {
    this.#notes.add(`messages[${at}]: ${what}.`)
  }

  /** Says of arguments that were a text and become a value where their numbers are others then. */
  rounded(at: number, { name, input, source }: Called): void {
    if (source === undefined || typeof input === 'string' || !/\d{16}/.test(source)) return
    const bare = source.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, '""')
    const integers = bare.match(/(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g) ?? []
    if (integers.some((digits) => String(Number(digits)) !== digits))
      this.say(at, `the arguments of ${name} hold numbers that are too long to be expressed, and were rounded`)
  }

  /** Names the fields of an object that nobody has read. */
  unread(at: number, fields: object, known: readonly string[]): void {
    const rest = Object.keys(fields).filter((key) => !known.includes(key))
    if (rest.length > 0) this.lost(at, rest.length === 1 ? `the field ${rest[0]}` : `the fields ${rest.join(', ')}`)
  }

  /** The parts that could be read; the others are named. */
  kept(at: number, parts: readonly (Part | null)[], what = 'a part of the content'): Part[] {
    const kept = parts.filter((part) => part !== null)
    if (kept.length < parts.length) this.lost(at, what)
    return kept
  }
}

/** The tool's name for each call of a conversation, by the nearest call of that id before a result. */
export class CallNames {
  readonly #names = new Map<string, string>()

  note(parts: readonly Part[]): void {
    for (const part of parts) if (part.kind === 'call') this.#names.set(part.id, part.name)
  }

  of({ id, name }: Answered): string {
    return name ?? this.#names.get(id) ?? 'tool'
  }
}

/** Text alone, for a format that has no place for more. */
export function onlyText(parts: readonly Part[], at: number, notes: Notes): string {
  const texts: string[] = []
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text)
    else notes.lost(at, describePart(part))
  }
  return texts.join('\n')
}

export function describePart(part: Part): string {
  switch (part.kind) {
    case 'media':
      return part.what === 'image' ? 'an image' : part.what === 'audio' ? 'a sound' : 'a file'
    case 'thought':
      return 'reasoning'
    case 'call':
      return `the call of ${part.name}`
    case 'result':
      return `the result of ${part.id}`
    case 'text':
      return 'text'
  }
}

/** Why a message is refused, to be read after its place. */
export const unknown = (what: string, value: unknown, title: string): string =>
  `has the ${what} ${JSON.stringify(value)}, which ${title} does not know`
