/**
 * OpenAI's Responses format: a flat list of items. What a model puts out between two inputs is one turn, whatever items
 * it consists of: its calls, its words, and the reasoning that belongs to them.
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
  PieceList,
  pieceProblems,
  repairPieces,
  type Shape,
  told,
} from '../pieces.ts'
import {
  type Answered,
  addressOf,
  argumentsText,
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

const roles: readonly unknown[] = ['system', 'developer', 'user', 'assistant']

/** Each kind of call with the kind of item that answers it. */
const answerOf: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  computer_call: 'computer_call_output',
  local_shell_call: 'local_shell_call_output',
  shell_call: 'shell_call_output',
  apply_patch_call: 'apply_patch_call_output',
  tool_search_call: 'tool_search_output',
  mcp_approval_request: 'mcp_approval_response',
}
const callOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(answerOf).map(([call, answer]) => [answer, call]),
)
/** What a model puts out that nobody has to answer. */
const otherOutput = [
  'reasoning',
  'file_search_call',
  'web_search_call',
  'image_generation_call',
  'code_interpreter_call',
  'mcp_list_tools',
  'mcp_call',
]
const kinds = ['message', ...Object.entries(answerOf).flat(), ...otherOutput, 'item_reference', 'compaction']
const output = new Set([...Object.keys(answerOf), ...otherOutput])

/** Without a type it is a message. */
const kindOf = ({ type, role }: Message): unknown => (type === undefined && role !== undefined ? 'message' : type)
const isOutput = (item: Message): boolean =>
  kindOf(item) === 'message' ? item.role === 'assistant' : output.has(text(item.type))

function callIn(item: Message): Call[] {
  const kind = text(item.type)
  if (answerOf[kind] === undefined) return []
  const { call_id, id, name } = item
  // The server's own searches are answered by the server, without an id.
  if (kind === 'tool_search_call' && typeof call_id !== 'string') return []
  const named = text(kind === 'mcp_approval_request' ? id : (call_id ?? id))
  return [
    {
      key: `${kind}:${named}`,
      ...(kind === 'local_shell_call' && typeof id === 'string' ? { alias: `${kind}:${id}` } : {}),
      title: typeof name === 'string' ? `${name} (call ${named})` : `call ${named}`,
      source: item,
    },
  ]
}

function answeredBy(item: Message): string | null {
  const kind = callOf[text(item.type)]
  if (kind === undefined) return null
  if (kind === 'mcp_approval_request') return `${kind}:${text(item.approval_request_id)}`
  if (kind === 'tool_search_call' && typeof item.call_id !== 'string') return null
  return `${kind}:${text(item.call_id ?? item.id)}`
}

function pieces(messages: readonly Message[]): Piece[] {
  const made = new PieceList()
  for (const [at, item] of messages.entries()) {
    const key = answeredBy(item)
    if (key !== null) made.add({ ...other(at, item), kind: 'result', key })
    else if (!isOutput(item)) made.add(other(at, item))
    else made.addToTurn({ ...other(at, item), kind: 'turn', calls: callIn(item) })
  }
  return made.pieces
}

/** One grey pixel: a computer's call can be answered by nothing but a picture. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

const shape: Shape = {
  results: 'later',
  pieces,
  cancelled({ key }) {
    const separator = key.indexOf(':')
    const [kind, id] = [key.slice(0, separator), key.slice(separator + 1)]
    const type = answerOf[kind] ?? ''
    switch (kind) {
      case 'computer_call':
        return { type, call_id: id, output: { type: 'computer_screenshot', image_url: PIXEL }, status: 'incomplete' }
      case 'shell_call':
        return {
          type,
          call_id: id,
          output: [{ stdout: '', stderr: cancelledText, outcome: { type: 'exit', exit_code: 1 } }],
        }
      case 'apply_patch_call':
        return { type, call_id: id, status: 'failed', output: cancelledText }
      case 'local_shell_call':
        return { type, id, call_id: id, output: cancelledText }
      case 'tool_search_call':
        return { type, call_id: id, execution: 'client', tools: [] }
      case 'mcp_approval_request':
        return { type, approval_request_id: id, approve: false, reason: cancelledText }
      default:
        return { type, call_id: id, output: cancelledText }
    }
  },
  join: joinWhole,
  settled(turn) {
    const end = turn.messages.findLastIndex(({ type }) => type !== 'reasoning') + 1
    if (end === turn.messages.length) return turn
    return end === 0 ? null : { ...turn, messages: turn.messages.slice(0, end) }
  },
  unseenFrom(messages) {
    const reference = messages.findIndex(({ type }) => type === 'item_reference')
    return reference === -1 ? Number.POSITIVE_INFINITY : reference
  },
}

const ownParts = new Set([
  'input_text',
  'input_image',
  'input_file',
  'input_audio',
  'output_text',
  'refusal',
  'summary_text',
  'reasoning_text',
])

export const openaiResponses: Format = {
  name: 'openai-responses',
  title: "OpenAI's Responses format",
  allowed: [...roles.map(String), ...kinds.slice(1)],
  refuse(item) {
    const kind = kindOf(item)
    if (kind === undefined) return 'has neither a type nor a role'
    if (kind === 'message') {
      if (item.role === undefined) return 'has no role'
      return roles.includes(item.role) ? null : unknown('role', item.role, openaiResponses.title)
    }
    return kinds.some((known) => known === kind) ? null : unknown('type', kind, openaiResponses.title)
  },
  fits(item) {
    if (openaiResponses.refuse(item) !== null) return false
    if (kindOf(item) !== 'message') return true
    if ('tool_calls' in item || 'parts' in item) return false
    const { content } = item
    if (typeof content === 'string') return true
    return Array.isArray(content) && content.every((part) => isObject(part) && ownParts.has(text(part.type)))
  },
  repair: (messages) => repairPieces(messages, shape),
  validate(messages) {
    const problems = pieceProblems(messages, shape)
    for (const [index, item] of messages.entries()) {
      if (kindOf(item) === 'message' && (item.content === undefined || item.content === null))
        problems.push({ index, problem: 'has no content, which a message needs' })
      for (const { key } of callIn(item))
        if (key.endsWith(':')) problems.push({ index, problem: `is a ${text(item.type)} without an id` })
    }
    return told(problems)
  },
  isCue(item) {
    if (kindOf(item) !== 'message' || item.role !== 'developer') return false
    const [first, ...more] = partsOf(item.content, readPart)
    return more.length === 0 && first?.kind === 'text' && isCueText(first.text)
  },
  cueRole: 'developer',
  withCue(messages, words) {
    const rest = openaiResponses.withoutCues(messages)
    const place = lastPlace(rest, shape)
    const cue = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: words }] }
    return [...rest.slice(0, place), cue, ...rest.slice(place)]
  },
  withoutCues: (messages) => messages.filter((item) => !openaiResponses.isCue(item)),
  read(messages) {
    const notes = new Notes()
    const spoken: Spoken[] = []
    for (const [at, item] of messages.entries()) {
      const said = readItem(item, at, notes)
      const before = spoken.at(-1)
      // Items of one turn are one message elsewhere.
      if (said.role === 'assistant' && before?.role === 'assistant' && isOutput(messages[at - 1] ?? {}))
        before.parts.push(...said.parts)
      else if (said.parts.length > 0 || kindOf(item) === 'message') spoken.push(said)
    }
    return { messages: spoken, notes: notes.all }
  },
  write(spoken) {
    const notes = new Notes()
    const custom = new Set<string>()
    return { messages: spoken.flatMap((one) => writeItems(one, custom, notes)), notes: notes.all }
  },
}

function readItem(item: Message, at: number, notes: Notes): Spoken {
  const kind = text(kindOf(item))
  switch (kind) {
    case 'message': {
      notes.unread(at, item, ['type', 'role', 'content', 'id', 'status'])
      const role = item.role === 'assistant' || item.role === 'system' || item.role === 'developer' ? item.role : 'user'
      return { at, role, parts: notes.kept(at, partsOf(item.content, readPart)) }
    }
    case 'reasoning': {
      const summary = notes.kept(at, partsOf(item.summary, readPart))
      const seal = typeof item.encrypted_content === 'string' ? { seal: item.encrypted_content } : {}
      const id = typeof item.id === 'string' ? { id: item.id } : {}
      const thought = {
        kind: 'thought' as const,
        by: 'openai' as const,
        text: onlyText(summary, at, notes),
        ...seal,
        ...id,
      }
      return { at, role: 'assistant', parts: [thought] }
    }
    case 'function_call': {
      notes.unread(at, item, ['type', 'call_id', 'id', 'name', 'arguments', 'status'])
      return {
        at,
        role: 'assistant',
        parts: [
          {
            kind: 'call',
            id: text(item.call_id),
            name: text(item.name) || 'tool',
            ...readArguments(item.arguments),
          },
        ],
      }
    }
    case 'custom_tool_call': {
      notes.unread(at, item, ['type', 'call_id', 'id', 'name', 'input', 'status'])
      const [id, name] = [text(item.call_id), text(item.name) || 'tool']
      return { at, role: 'assistant', parts: [{ kind: 'call', id, name, input: text(item.input), custom: true }] }
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      notes.unread(at, item, ['type', 'call_id', 'id', 'output', 'status'])
      const found = notes.kept(at, partsOf(item.output, readPart)) as (Said | Media)[]
      return { at, role: 'user', parts: [{ kind: 'result', id: text(item.call_id), output: found, failed: false }] }
    }
    default:
      notes.lost(at, `an item of the type ${kind}`)
      return { at, role: isOutput(item) ? 'assistant' : 'user', parts: [] }
  }
}

function readPart(part: Record<string, unknown>): Part | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'text':
      return said(text(part.text))
    case 'refusal':
      return { ...said(text(part.refusal)), refusal: true }
    case 'input_image':
      return typeof part.image_url === 'string' ? mediaAt('image', part.image_url) : null
    case 'input_file': {
      const name = typeof part.filename === 'string' ? { name: part.filename } : {}
      const address = part.file_data ?? part.file_url
      return typeof address === 'string' ? mediaAt('file', address, name) : null
    }
    default:
      return null
  }
}

/** @param custom ids of calls that take free text, whose answers are of another kind */
function writeItems({ at, role, parts, name }: Spoken, custom: Set<string>, notes: Notes): Message[] {
  if (name !== undefined) notes.lost(at, 'the field name')
  const items: Message[] = []
  const content: Part[] = []
  const speak = () => {
    const held = content.splice(0).map((part) => contentPart(part, role, at, notes))
    const written = held.filter((part) => part !== null)
    if (written.length > 0) items.push({ type: 'message', role, content: written })
  }
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'media') {
      content.push(part)
      continue
    }
    speak()
    if (part.kind === 'result') items.push(writeResult(part, custom, at, notes))
    else if (part.kind === 'call') {
      if (part.custom) custom.add(part.id)
      else custom.delete(part.id)
      items.push(
        part.custom
          ? { type: 'custom_tool_call', call_id: part.id, name: part.name, input: text(part.input) }
          : { type: 'function_call', call_id: part.id, name: part.name, arguments: argumentsText(part) },
      )
    } else if (part.by === 'openai')
      items.push({
        type: 'reasoning',
        ...(part.id === undefined ? {} : { id: part.id }),
        summary: part.text === '' ? [] : [{ type: 'summary_text', text: part.text }],
        ...(part.seal === undefined ? {} : { encrypted_content: part.seal }),
      })
    else notes.lost(at, describePart(part))
  }
  speak()
  const silent = parts.length === 0 && role !== 'assistant'
  return silent ? [{ type: 'message', role, content: [] }] : items
}

function writeResult(part: Answered, custom: Set<string>, at: number, notes: Notes): Message {
  if (part.failed) notes.say(at, 'that a result is of a failed call cannot be expressed')
  const plain = part.output.every(({ kind }) => kind === 'text')
  const written = part.output.map((one) => contentPart(one, 'user', at, notes)).filter((one) => one !== null)
  return {
    type: custom.has(part.id) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: part.id,
    output: plain ? onlyText(part.output, at, notes) : written,
  }
}

function contentPart(part: Part, role: Spoken['role'], at: number, notes: Notes): Record<string, unknown> | null {
  if (part.kind === 'text') {
    if (part.refusal) return { type: 'refusal', refusal: part.text }
    return role === 'assistant'
      ? { type: 'output_text', text: part.text, annotations: [] }
      : { type: 'input_text', text: part.text }
  }
  if (part.kind === 'media' && role !== 'assistant') {
    if (part.what === 'image') return { type: 'input_image', image_url: addressOf(part, 'image/png'), detail: 'auto' }
    if (part.what === 'file')
      return part.url === undefined
        ? {
            type: 'input_file',
            filename: part.name ?? 'file',
            file_data: addressOf(part, 'application/octet-stream'),
          }
        : { type: 'input_file', file_url: part.url }
  }
  notes.lost(at, describePart(part))
  return null
}
