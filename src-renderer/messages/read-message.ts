/**
 * Reads a chat message of any of the known formats into parts that can be drawn. Nothing is lost: what is not
 * understood is kept as JSON, and the raw message is always one click away.
 */
import type { Message } from '../../src-main/contract/index.ts'

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'call'; id: string | null; name: string; fields: Field[] }
  | { kind: 'result'; id: string | null; text: string; failed: boolean }
  | { kind: 'other'; type: string; json: string }

/** One argument of a call; without a name where the arguments are not an object. */
export interface Field {
  name: string
  text: string
}

export interface Reading {
  role: string
  parts: Part[]
}

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'undefined'
/** Arguments arrive as an object or as JSON in a string; either way a person reads them one by one. */
function fieldsOf(value: unknown): Field[] {
  let parsed = value
  if (typeof value === 'string') {
    try {
      parsed = JSON.parse(value)
    } catch {
      return value === '' ? [] : [{ name: '', text: value }]
    }
  }
  if (parsed === undefined || parsed === null) return []
  if (!isObject(parsed)) return [{ name: '', text: json(parsed) }]
  return Object.entries(parsed).map(([name, field]) => ({ name, text: text(field) ?? JSON.stringify(field) }))
}

export function readMessage(message: Message): Reading {
  const fields = fieldsWithin(message)
  const item = itemParts(fields)
  if (item) return { role: String(message.type), parts: item }
  return { role: speakerOf(message), parts: [...contentParts(fields, speakerOf(message)), ...callsBeside(fields)] }
}

/** LangChain keeps what was said one level deeper: in its constructor's arguments, or in `data`. */
function fieldsWithin(message: Message): Json {
  if (message.lc === 1 && isObject(message.kwargs)) return message.kwargs
  return isObject(message.data) && !('content' in message) ? message.data : message
}

function speakerOf({ role, type, lc, id }: Message): string {
  if (typeof role === 'string') return role
  const name = lc === 1 && Array.isArray(id) ? text(id.at(-1)) : text(type)
  return name?.replace(/Message(?:Chunk)?$/, '').toLowerCase() || 'message'
}

/** The items of OpenAI's Responses format that are no messages. */
function itemParts(item: Json): Part[] | null {
  const type = text(item.type)
  if (type === null || type === 'message' || 'content' in item || 'role' in item) return null
  if (type === 'reasoning') {
    const said = Array.isArray(item.summary)
      ? item.summary.map((part) => (isObject(part) ? text(part.text) : null))
      : []
    return [{ kind: 'thinking', text: said.filter((one) => one !== null).join('\n') || '(sealed)' }]
  }
  const id = text(item.call_id) ?? text(item.id)
  if (type.endsWith('_output') || type === 'mcp_approval_response')
    return [{ kind: 'result', id, text: resultText(item.output), failed: item.status === 'failed' }]
  if (type.endsWith('_call') || type === 'mcp_approval_request') {
    const name = text(item.name) ?? type.replace(/_call$/, '')
    return [{ kind: 'call', id, name, fields: fieldsOf(item.arguments ?? item.input ?? item.action ?? item.operation) }]
  }
  return null
}

function contentParts(message: Json, role: string): Part[] {
  const content = message.content ?? message.parts
  if (role === 'tool' && !Array.isArray(content))
    return [
      {
        kind: 'result',
        id: text(message.tool_call_id),
        text: text(content) ?? json(content),
        failed: message.status === 'error',
      },
    ]
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (Array.isArray(content)) return content.flatMap(partOf)
  return content === null || content === undefined ? [] : [{ kind: 'other', type: 'content', json: json(content) }]
}

/** The AI SDK's user interface has a call and its result in one part. */
function uiToolParts(part: Json, type: string): Part[] {
  const id = text(part.toolCallId)
  const name = text(part.toolName) ?? type.replace(/^tool-/, '')
  const call: Part = { kind: 'call', id, name, fields: fieldsOf(part.input) }
  const answer = part.state === 'output-available' ? resultText(part.output) : text(part.errorText)
  return answer === null
    ? [call]
    : [call, { kind: 'result', id, text: answer, failed: part.state !== 'output-available' }]
}

/** A part of a content list: Anthropic's blocks, OpenAI's and Vercel's parts. */
function partOf(part: unknown): Part | Part[] {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isObject(part)) return { kind: 'other', type: typeof part, json: json(part) }
  const type = text(part.type) ?? 'part'
  if (typeof part.state === 'string' && (type === 'dynamic-tool' || type.startsWith('tool-')))
    return uiToolParts(part, type)
  switch (type) {
    case 'step-start':
      return []
    case 'text':
    case 'input_text':
    case 'output_text':
      return { kind: 'text', text: text(part.text) ?? '' }
    case 'thinking':
    case 'reasoning':
      return { kind: 'thinking', text: text(part.thinking) ?? text(part.text) ?? '' }
    case 'tool_use':
    case 'tool-call':
      return {
        kind: 'call',
        id: text(part.id) ?? text(part.toolCallId),
        name: text(part.name) ?? text(part.toolName) ?? 'tool',
        fields: fieldsOf(part.input ?? part.args),
      }
    case 'tool_result':
    case 'tool-result':
      return {
        kind: 'result',
        id: text(part.tool_use_id) ?? text(part.toolCallId),
        text: resultText(part.content ?? part.output ?? part.result),
        failed: part.is_error === true || part.isError === true,
      }
    default:
      return { kind: 'other', type, json: json(part) }
  }
}

function resultText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    const texts = value.map((part) => (isObject(part) ? text(part.text) : null))
    if (texts.every((part) => part !== null)) return texts.join('\n')
  }
  if (isObject(value) && typeof value.value === 'string') return value.value
  return value === undefined ? '' : json(value)
}

/** Calls that stand beside the content: OpenAI chat's and LangChain's `tool_calls`. */
function callsBeside(message: Json): Part[] {
  if (!Array.isArray(message.tool_calls)) return []
  return message.tool_calls.filter(isObject).map((call): Part => {
    const named = isObject(call.function) ? call.function : call
    return {
      kind: 'call',
      id: text(call.id),
      name: text(named.name) ?? 'tool',
      fields: fieldsOf(named.arguments ?? named.args),
    }
  })
}
