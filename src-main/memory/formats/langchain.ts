/**
 * LangChain's messages, in every form in which they are written down: the serialized constructor (`lc: 1`), the stored
 * form (`{ type, data }`), plain fields with a `type`, and plain fields with a `role`. A message that is added takes the
 * form of its neighbour.
 */
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
  argumentsObject,
  type Called,
  CallNames,
  describePart,
  isObject,
  type Media,
  mediaAt,
  Notes,
  type Part,
  partsOf,
  readArguments,
  type Said,
  type Spoken,
  said,
  text,
  unknown,
} from '../spoken.ts'

type Fields = Record<string, unknown>
type Type = 'human' | 'ai' | 'system' | 'developer' | 'tool' | 'function' | 'chat' | 'remove'

const types: Readonly<Record<string, Type>> = {
  human: 'human',
  ai: 'ai',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'function',
  chat: 'chat',
  generic: 'chat',
  remove: 'remove',
}
const roles: Readonly<Record<string, Type>> = {
  user: 'human',
  human: 'human',
  assistant: 'ai',
  ai: 'ai',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'function',
}
const classes: Readonly<Record<string, Type>> = {
  HumanMessage: 'human',
  AIMessage: 'ai',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  FunctionMessage: 'function',
  ChatMessage: 'chat',
  RemoveMessage: 'remove',
}

type Form = 'constructor' | 'data' | 'type' | 'role'

interface Seen {
  form: Form
  /** What the message calls itself. */
  called: unknown
  type: Type | undefined
  fields: Fields
}

const lookUp = (table: Readonly<Record<string, Type>>, name: unknown): Type | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined
/** Parts of a stream that were put together are messages too. */
const withoutChunk = (name: unknown): unknown => (typeof name === 'string' ? name.replace(/Chunk$/, '') : name)

function see(message: Message): Seen {
  const { lc, type, id, kwargs, data, role } = message
  if (lc === 1 && type === 'constructor' && Array.isArray(id) && isObject(kwargs)) {
    const called: unknown = id.at(-1)
    return { form: 'constructor', called, type: lookUp(classes, withoutChunk(called)), fields: kwargs }
  }
  const typed = lookUp(types, type) ?? lookUp(classes, withoutChunk(type)) ?? lookUp(roles, type)
  if (typed && isObject(data) && !('content' in message))
    return { form: 'data', called: type, type: typed, fields: data }
  if (typed || role === undefined) return { form: 'type', called: type, type: typed, fields: message }
  return { form: 'role', called: role, type: lookUp(roles, role), fields: message }
}

/** A message in the form of another one. */
function alike(model: Message | undefined, type: 'tool' | 'function' | 'system', fields: Fields): Message {
  const form = model === undefined ? 'type' : see(model).form
  switch (form) {
    case 'constructor': {
      const path = Array.isArray(model?.id) ? model.id.slice(0, -1) : []
      const name = { tool: 'ToolMessage', function: 'FunctionMessage', system: 'SystemMessage' }[type]
      return { lc: 1, type: 'constructor', id: [...path, name], kwargs: fields }
    }
    case 'data':
      return { type, data: fields }
    case 'type':
      return { type, ...fields }
    case 'role':
      return { role: type, ...fields }
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function callOf(value: unknown): Call {
  const call = isObject(value) ? value : {}
  const named = isObject(call.function) ? call.function : call
  const id = text(call.id)
  return {
    key: `tool:${id}`,
    title: text(named.name) ? `${text(named.name)} (call ${id})` : `call ${id}`,
    source: value,
  }
}

const isCallPart = (part: unknown): part is Fields =>
  isObject(part) && (part.type === 'tool_use' || part.type === 'tool_call') && text(part.id) !== ''

function callsOf({ type, fields }: Seen): Call[] {
  if (type !== 'ai') return []
  const calls = listOf(fields.tool_calls)
  // The provider sees them as calls too, and they have to be answered.
  const invalid = listOf(fields.invalid_tool_calls).filter((call) => isObject(call) && typeof call.id === 'string')
  const raw = isObject(fields.additional_kwargs) ? fields.additional_kwargs : {}
  const found = calls.length + invalid.length > 0 ? [...calls, ...invalid] : listOf(raw.tool_calls)
  const older = isObject(raw.function_call) ? [raw.function_call] : []
  const named = new Set(found.map((call) => (isObject(call) ? text(call.id) : '')))
  // A part of the content mostly says again what tool_calls say; where it does not, it is the call.
  const others = listOf(fields.content).filter((part) => isCallPart(part) && !named.has(text(part.id)))
  return [
    ...[...found, ...others].map(callOf),
    ...older.map((call) => ({ key: `function:${text(call.name)}`, title: text(call.name), source: call })),
  ]
}

function pieceOf(message: Message, at: number): Piece {
  const seen = see(message)
  const piece = other(at, message)
  if (seen.type === 'ai') return { ...piece, kind: 'turn', calls: callsOf(seen) }
  if (seen.type === 'tool') return { ...piece, kind: 'result', key: `tool:${text(seen.fields.tool_call_id)}` }
  return seen.type === 'function' ? { ...piece, kind: 'result', key: `function:${text(seen.fields.name)}` } : piece
}

const shape: Shape = {
  results: 'at once',
  pieces: (messages) => messages.map(pieceOf),
  cancelled({ key }, turn) {
    const separator = key.indexOf(':')
    const [kind, named] = [key.slice(0, separator), key.slice(separator + 1)]
    return kind === 'tool'
      ? alike(turn.messages[0], 'tool', { content: cancelledText, tool_call_id: named, status: 'error' })
      : alike(turn.messages[0], 'function', { content: cancelledText, name: named })
  },
  join: joinWhole,
}

const ownParts = new Set([
  'text',
  'image_url',
  'image',
  'audio',
  'video',
  'file',
  'text-plain',
  'tool_use',
  'tool_call',
  'thinking',
  'redacted_thinking',
  'reasoning',
  'non_standard',
])

export const langchain: Format = {
  name: 'langchain',
  title: "LangChain's format",
  allowed: [...new Set([...Object.keys(types), ...Object.keys(roles)])],
  refuse(message) {
    const { form, called, type } = see(message)
    if (type) return null
    if (called === undefined) return 'has neither a type nor a role'
    return unknown(form === 'role' ? 'role' : form === 'constructor' ? 'class' : 'type', called, langchain.title)
  },
  fits(message) {
    const { form, type, fields } = see(message)
    if (!type || 'parts' in message) return false
    if (form === 'constructor' || form === 'data') return true
    const { content } = fields
    if (form === 'type' && content === undefined) return type === 'remove'
    if (!Array.isArray(content)) return true
    return content.every((part) => typeof part === 'string' || (isObject(part) && ownParts.has(text(part.type))))
  },
  repair: (messages) => repairPieces(messages, shape),
  validate(messages) {
    const problems = pieceProblems(messages, shape)
    for (const [index, message] of messages.entries()) {
      const seen = see(message)
      const { content } = seen.fields
      if ((content === undefined || content === null) && seen.type !== 'remove' && callsOf(seen).length === 0)
        problems.push({ index, problem: `has no content, which ${seen.type ?? 'a message'} needs` })
      for (const { key, title } of callsOf(seen))
        if (key === 'tool:') problems.push({ index, problem: `makes a call without an id, ${title.trim()}` })
    }
    return told(problems)
  },
  isCue(message) {
    const { type, fields } = see(message)
    return type === 'system' && isCueText(text(fields.content))
  },
  cueRole: 'system',
  withCue(messages, words) {
    const rest = langchain.withoutCues(messages)
    const place = lastPlace(rest, shape)
    return [...rest.slice(0, place), alike(rest.at(-1), 'system', { content: words }), ...rest.slice(place)]
  },
  withoutCues: (messages) => messages.filter((message) => !langchain.isCue(message)),
  read(messages) {
    const notes = new Notes()
    const spoken = [...messages.entries()].flatMap(([at, message]) => readMessage(see(message), at, notes))
    return { messages: spoken, notes: notes.all }
  },
  write(spoken) {
    const notes = new Notes()
    const names = new CallNames()
    const made = spoken.flatMap((one) => {
      names.note(one.parts)
      return writeMessage(one, names, notes)
    })
    return { messages: made, notes: notes.all }
  },
}

/** What LangChain itself keeps beside what was said. */
const bookkeeping = ['lc', 'type', 'role', 'content', 'id', 'name', 'response_metadata', 'usage_metadata', 'example']

function readMessage(seen: Seen, at: number, notes: Notes): Spoken[] {
  const { type, fields } = seen
  const calls = type === 'ai' ? ['tool_calls', 'invalid_tool_calls', 'tool_call_chunks'] : []
  const results = type === 'tool' ? ['tool_call_id', 'status'] : []
  const raw = isObject(fields.additional_kwargs) ? fields.additional_kwargs : {}
  notes.unread(at, fields, [...bookkeeping, 'additional_kwargs', ...calls, ...results])
  notes.unread(at, raw, ['tool_calls', 'function_call', '__openai_role__'])
  // What the assistant calls is read with its calls.
  const parts = notes.kept(
    at,
    partsOf(fields.content, (part) => (type === 'ai' && isCallPart(part) ? [] : readPart(part))),
  )
  const name = typeof fields.name === 'string' ? { name: fields.name } : {}
  switch (type) {
    case 'ai':
      return [{ at, role: 'assistant', parts: [...parts, ...callsOf(seen).map(readCall)], ...name }]
    case 'tool':
    case 'function': {
      const output = parts.filter((part): part is Said | Media => part.kind === 'text' || part.kind === 'media')
      const id = text(type === 'tool' ? fields.tool_call_id : fields.name)
      return [{ at, role: 'user', parts: [{ kind: 'result', id, ...name, output, failed: fields.status === 'error' }] }]
    }
    case 'remove':
      notes.lost(at, 'a message that removes another')
      return []
    case 'system':
    case 'developer':
      return [{ at, role: raw.__openai_role__ === 'developer' ? 'developer' : type, parts, ...name }]
    case 'chat': {
      const role = lookUp(roles, fields.role)
      const speaker = role === 'ai' ? 'assistant' : role === 'system' || role === 'developer' ? role : 'user'
      return [{ at, role: speaker, parts, ...name }]
    }
    default:
      return [{ at, role: 'user', parts, ...name }]
  }
}

function readCall({ key, source }: Call): Called {
  const call = isObject(source) ? source : {}
  const named = isObject(call.function) ? call.function : call
  return {
    kind: 'call',
    id: key.slice(key.indexOf(':') + 1),
    name: text(named.name) || 'tool',
    ...readArguments(named.args ?? named.arguments ?? named.input),
  }
}

function readPart(part: Fields): Part | Part[] | null {
  switch (part.type) {
    case 'text':
      return said(text(part.text))
    case 'image_url':
      return mediaAt('image', isObject(part.image_url) ? text(part.image_url.url) : text(part.image_url))
    case 'image':
    case 'audio':
    case 'file':
      return readMedia(part.type, part)
    case 'thinking':
      return {
        kind: 'thought',
        by: 'anthropic',
        text: text(part.thinking),
        ...(typeof part.signature === 'string' ? { seal: part.signature } : {}),
      }
    case 'redacted_thinking':
      return { kind: 'thought', by: 'anthropic', text: '', seal: text(part.data), redacted: true }
    case 'reasoning': {
      const summary = listOf(part.summary).map((one) => (isObject(one) ? text(one.text) : ''))
      return {
        kind: 'thought',
        by: 'openai',
        text: summary.length > 0 ? summary.join('\n') : text(part.reasoning),
        ...(typeof part.encrypted_content === 'string' ? { seal: part.encrypted_content } : {}),
        ...(typeof part.id === 'string' ? { id: part.id } : {}),
      }
    }
    default:
      return null
  }
}

function readMedia(what: Media['what'], part: Fields): Media | null {
  const mediaType = text(part.mime_type ?? part.mimeType)
  const known = mediaType === '' ? {} : { mediaType }
  if (typeof part.url === 'string') return mediaAt(what, part.url, known)
  const data = part.base64 ?? part.data
  return typeof data === 'string' ? { kind: 'media', what, data, ...known } : null
}

function writeMessage({ at, role, parts, name }: Spoken, names: CallNames, notes: Notes): Message[] {
  const results = parts
    .filter((part) => part.kind === 'result')
    .map(
      (part): Message => ({
        type: 'tool',
        content: contentOf(part.output, at, notes),
        tool_call_id: part.id,
        name: names.of(part),
        status: part.failed ? 'error' : 'success',
      }),
    )
  const rest = parts.filter((part) => part.kind !== 'result')
  if (results.length > 0 && rest.length === 0) return results
  const named = name === undefined ? {} : { name }
  const content = contentOf(rest, at, notes)
  switch (role) {
    case 'assistant': {
      const made = rest.filter((part) => part.kind === 'call')
      for (const call of made) notes.rounded(at, call)
      const calls = made.map(writeCall)
      return [...results, { type: 'ai', content, ...named, ...(calls.length > 0 ? { tool_calls: calls } : {}) }]
    }
    case 'developer':
      return [...results, { type: 'system', content, ...named, additional_kwargs: { __openai_role__: 'developer' } }]
    case 'system':
      return [...results, { type: 'system', content, ...named }]
    case 'user':
      return [...results, { type: 'human', content, ...named }]
  }
}

const writeCall = ({ id, name, input }: Called) => ({ type: 'tool_call', id, name, args: argumentsObject(input) })

function contentOf(parts: readonly Part[], at: number, notes: Notes): unknown {
  const spoken = parts.filter(({ kind }) => kind !== 'call')
  const [only] = spoken
  if (!only) return ''
  if (spoken.length === 1 && only.kind === 'text') return only.text
  return spoken.flatMap((part) => {
    const written = writePart(part)
    if (!written) notes.lost(at, describePart(part))
    return written ? [written] : []
  })
}

function writePart(part: Part): Fields | null {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'media':
      return part.what === 'image'
        ? { type: 'image_url', image_url: { url: addressOf(part, 'image/png') } }
        : {
            type: part.what,
            ...(part.url === undefined ? { data: part.data } : { url: part.url }),
            ...(part.mediaType === undefined ? {} : { mime_type: part.mediaType }),
          }
    case 'thought':
      return part.by === 'anthropic' ? writeSigned(part) : writeReasoning(part)
    default:
      return null
  }
}

const writeSigned = ({ text: thinking, seal, redacted }: Extract<Part, { kind: 'thought' }>): Fields =>
  redacted
    ? { type: 'redacted_thinking', data: seal }
    : { type: 'thinking', thinking, ...(seal === undefined ? {} : { signature: seal }) }

const writeReasoning = ({ text: summary, seal, id }: Extract<Part, { kind: 'thought' }>): Fields => ({
  type: 'reasoning',
  ...(id === undefined ? {} : { id }),
  summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
  ...(seal === undefined ? {} : { encrypted_content: seal }),
})
