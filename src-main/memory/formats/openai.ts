/** OpenAI's chat format (Chat Completions), with the older `function_call` beside `tool_calls`. */
import { z } from 'zod'
import type { Message } from '../../contract/index.ts'
import { isCueText } from '../cue.ts'
import type { Format } from '../format.ts'
import {
  type Call,
  cancelledText,
  joinWhole,
  lastPlace,
  other,
  type Piece,
  pieceProblems,
  repairPieces,
  type Shape,
  told,
} from '../pieces.ts'
import {
  addressOf,
  argumentsText,
  type Called,
  describePart,
  isObject,
  type Media,
  mediaAt,
  Notes,
  onlyText,
  type Part,
  partsOf,
  readArguments,
  type Said,
  type Spoken,
  said,
  text,
  unknown,
} from '../spoken.ts'

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const
const Role = z.enum(roles)

const Named = z.object({ name: z.string() })
const ToolCall = z.object({
  id: z.string().catch(''),
  function: Named.optional().catch(undefined),
  custom: Named.optional().catch(undefined),
})

const toolKey = (id: unknown): string => `tool:${text(id)}`
const functionKey = (name: unknown): string => `function:${text(name)}`

function toolCall(value: unknown): Call {
  const { id, function: named, custom } = ToolCall.catch({ id: '' }).parse(value)
  const name = (named ?? custom)?.name
  return { key: toolKey(id), title: name ? `${name} (call ${id})` : `call ${id}`, source: value }
}

function callsOf({ role, tool_calls, function_call }: Message): Call[] {
  if (role !== 'assistant') return []
  const called = Named.safeParse(function_call)
  const older = called.success
    ? [{ key: functionKey(called.data.name), title: called.data.name, source: function_call }]
    : []
  return [...(Array.isArray(tool_calls) ? tool_calls.map(toolCall) : []), ...older]
}

function answers({ role, tool_call_id, name }: Message): string | null {
  if (role === 'tool') return toolKey(tool_call_id)
  return role === 'function' ? functionKey(name) : null
}

function pieceOf(message: Message, at: number): Piece {
  const key = answers(message)
  if (key !== null) return { ...other(at, message), kind: 'result', key }
  return message.role === 'assistant'
    ? { ...other(at, message), kind: 'turn', calls: callsOf(message) }
    : other(at, message)
}

const shape: Shape = {
  results: 'at once',
  pieces: (messages) => messages.map(pieceOf),
  cancelled({ key }) {
    const separator = key.indexOf(':')
    const [kind, named] = [key.slice(0, separator), key.slice(separator + 1)]
    return kind === 'tool'
      ? { role: 'tool', tool_call_id: named, content: cancelledText }
      : { role: 'function', name: named, content: cancelledText }
  },
  join: joinWhole,
}

const isMissing = (value: unknown): boolean => value === undefined || value === null

function messageProblem(message: Message): string | null {
  const { role, content, refusal, audio, tool_calls } = message
  if (Array.isArray(tool_calls) && tool_calls.length === 0)
    return 'has an empty list of calls, which may only be left out'
  if (!isMissing(content)) return null
  if (role !== 'assistant')
    return role === 'function' && content === null ? null : `has no content, which ${text(role)} needs`
  const says = callsOf(message).length > 0 || !isMissing(refusal) || !isMissing(audio)
  return says ? null : 'has neither content nor calls'
}

const ownParts = new Set(['text', 'image_url', 'input_audio', 'file', 'refusal'])

/** A call as this format writes it; one of which nothing but the id is known passes too. */
const isOwnCall = (call: unknown): boolean =>
  isObject(call) && (isObject(call.function) || isObject(call.custom) || !('name' in call || 'args' in call))

export const openai: Format = {
  name: 'openai',
  title: "OpenAI's chat format",
  allowed: roles,
  refuse({ role }) {
    if (role === undefined) return 'has no role'
    return Role.safeParse(role).success ? null : unknown('role', role, openai.title)
  },
  fits(message) {
    const { content, tool_calls, parts } = message
    if (openai.refuse(message) !== null || Array.isArray(parts) || message.type !== undefined) return false
    if (Array.isArray(tool_calls) && !tool_calls.every(isOwnCall)) return false
    if (!Array.isArray(content)) return true
    return content.every((part) => isObject(part) && ownParts.has(text(part.type)))
  },
  repair: (messages) => repairPieces(messages, shape),
  validate(messages) {
    const problems = pieceProblems(messages, shape)
    for (const [index, message] of messages.entries()) {
      const problem = messageProblem(message)
      if (problem) problems.push({ index, problem })
      for (const { key, title } of callsOf(message))
        if (key === toolKey('')) problems.push({ index, problem: `makes a call without an id, ${title.trim()}` })
    }
    return told(problems)
  },
  isCue: ({ role, content }) => role === 'system' && isCueText(text(content)),
  cueRole: 'system',
  withCue(messages, words) {
    const rest = openai.withoutCues(messages)
    const place = lastPlace(rest, shape)
    return [...rest.slice(0, place), { role: 'system', content: words }, ...rest.slice(place)]
  },
  withoutCues: (messages) => messages.filter((message) => !openai.isCue(message)),
  read(messages) {
    const notes = new Notes()
    const spoken = [...messages.entries()].map(([at, message]) => readMessage(message, at, notes))
    return { messages: spoken, notes: notes.all }
  },
  write(spoken) {
    const notes = new Notes()
    return { messages: spoken.flatMap((one) => writeMessage(one, notes)), notes: notes.all }
  },
}

function readMessage(message: Message, at: number, notes: Notes): Spoken {
  const { role, content, name } = message
  const key = answers(message)
  if (key !== null) {
    notes.unread(at, message, ['role', 'content', 'tool_call_id', 'name'])
    // The API takes text alone here; servers that speak its format take images too.
    const output = notes
      .kept(at, partsOf(content, readPart))
      .filter((part): part is Said | Media => part.kind === 'text' || part.kind === 'media')
    const id = role === 'tool' ? text(message.tool_call_id) : text(name)
    const named = typeof name === 'string' ? { name } : {}
    return { at, role: 'user', parts: [{ kind: 'result', id, ...named, output, failed: false }] }
  }
  const known = ['role', 'content', 'name', ...(role === 'assistant' ? ['tool_calls', 'function_call', 'refusal'] : [])]
  notes.unread(at, withoutNulls(message), known)
  const parts = notes.kept(at, partsOf(content, readPart))
  if (typeof message.refusal === 'string') parts.push({ ...said(message.refusal), refusal: true })
  parts.push(...callsOf(message).map(readCall))
  const speaker = role === 'system' || role === 'developer' || role === 'assistant' ? role : 'user'
  return { at, role: speaker, parts, ...(typeof name === 'string' ? { name } : {}) }
}

/** What a model answers is full of fields that are null: nothing is lost with them. */
const withoutNulls = (message: Message): Message =>
  Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))

function readCall({ key, source }: Call): Called {
  const id = key.slice(key.indexOf(':') + 1)
  if (!isObject(source)) return { kind: 'call', id, name: 'tool', input: {} }
  if (isObject(source.custom))
    return { kind: 'call', id, name: text(source.custom.name), input: text(source.custom.input), custom: true }
  const called = isObject(source.function) ? source.function : source
  return { kind: 'call', id, name: text(called.name) || 'tool', ...readArguments(called.arguments) }
}

function readPart(part: Record<string, unknown>): Part | null {
  switch (part.type) {
    case 'text':
      return said(text(part.text))
    case 'refusal':
      return { ...said(text(part.refusal)), refusal: true }
    case 'image_url':
      return mediaAt('image', isObject(part.image_url) ? text(part.image_url.url) : text(part.image_url))
    case 'input_audio': {
      const sound = isObject(part.input_audio) ? part.input_audio : {}
      return { kind: 'media', what: 'audio', data: text(sound.data), mediaType: `audio/${text(sound.format)}` }
    }
    case 'file': {
      const file = isObject(part.file) ? part.file : {}
      const name = typeof file.filename === 'string' ? { name: file.filename } : {}
      return typeof file.file_data === 'string' ? mediaAt('file', file.file_data, name) : null
    }
    default:
      return null
  }
}

function writeMessage({ at, role, parts, name }: Spoken, notes: Notes): Message[] {
  const results = parts
    .filter((part) => part.kind === 'result')
    .map((part) => ({ role: 'tool', tool_call_id: part.id, content: onlyText(part.output, at, notes) }))
  if (parts.some((part) => part.kind === 'result' && part.failed))
    notes.say(at, 'that a result is of a failed call cannot be expressed')
  const rest = parts.filter((part) => part.kind !== 'result')
  if (results.length > 0 && rest.length === 0) return results
  const named = name === undefined ? {} : { name }
  if (role !== 'assistant') return [...results, { role, content: contentOf(rest, at, notes), ...named }]

  for (const part of rest) if (part.kind === 'thought' || part.kind === 'media') notes.lost(at, describePart(part))
  const texts = rest.filter((part): part is Said => part.kind === 'text')
  const words = texts.filter(({ refusal }) => !refusal).map((part) => part.text)
  const refusal = texts.filter((part) => part.refusal).map((part) => part.text)
  const calls = rest.filter((part) => part.kind === 'call').map(writeCall)
  if (words.length + refusal.length + calls.length === 0) return results
  return [
    ...results,
    {
      role,
      content: words.length === 0 ? (calls.length > 0 || refusal.length > 0 ? null : '') : words.join('\n'),
      ...(refusal.length > 0 ? { refusal: refusal.join('\n') } : {}),
      ...named,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ]
}

const writeCall = (call: Called) => {
  const { id, name, input, custom } = call
  return custom
    ? { id, type: 'custom', custom: { name, input: text(input) } }
    : { id, type: 'function', function: { name, arguments: argumentsText(call) } }
}

function contentOf(parts: readonly Part[], at: number, notes: Notes): unknown {
  if (parts.every((part) => part.kind === 'text')) {
    if (parts.length <= 1) return parts[0]?.text ?? ''
    return parts.map((part) => ({ type: 'text', text: part.text }))
  }
  return parts.flatMap((part) => {
    if (part.kind === 'text') return [{ type: 'text', text: part.text }]
    const written = part.kind === 'media' ? writeMedia(part) : null
    if (!written) notes.lost(at, describePart(part))
    return written ? [written] : []
  })
}

function writeMedia(media: Media): Record<string, unknown> | null {
  if (media.what === 'image') return { type: 'image_url', image_url: { url: addressOf(media, 'image/png') } }
  if (media.data === undefined) return null
  if (media.what === 'audio')
    return {
      type: 'input_audio',
      input_audio: { data: media.data, format: (media.mediaType ?? 'audio/wav').replace(/^audio\//, '') },
    }
  return {
    type: 'file',
    file: { filename: media.name ?? 'file', file_data: addressOf(media, 'application/octet-stream') },
  }
}
