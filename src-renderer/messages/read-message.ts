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
  const parts = [...contentParts(message), ...callsBeside(message)]
  return { role: text(message.role) ?? text(message.type) ?? 'message', parts }
}

function contentParts(message: Message): Part[] {
  const { content } = message
  if (message.role === 'tool' && !Array.isArray(content))
    return [
      {
        kind: 'result',
        id: text(message.tool_call_id),
        text: text(content) ?? json(content),
        failed: message.status === 'error',
      },
    ]
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (Array.isArray(content)) return content.map(partOf)
  return content === null || content === undefined ? [] : [{ kind: 'other', type: 'content', json: json(content) }]
}

/** A part of a content list: Anthropic's blocks, OpenAI's and Vercel's parts. */
function partOf(part: unknown): Part {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isObject(part)) return { kind: 'other', type: typeof part, json: json(part) }
  const type = text(part.type) ?? 'part'
  switch (type) {
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
function callsBeside(message: Message): Part[] {
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
