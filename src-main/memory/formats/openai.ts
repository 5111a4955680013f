/** OpenAI's chat format (Chat Completions), with the older `function_call` beside `tool_calls`. */
import { z } from 'zod'
import { InvalidMessagesError, type Message } from '../../contract/index.ts'
import { cueMark } from '../cue.ts'
import type { Format } from '../format.ts'
import { type Call, lastPlace, repairTurns, type TurnShape, turnProblems } from '../turns.ts'

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const
const Role = z.enum(roles)

export const cancelledContent = 'Cancelled by the rollback: this call has no result.'

const Named = z.object({ name: z.string() })
const ToolCall = z.object({
  id: z.string().catch(''),
  function: Named.optional().catch(undefined),
  custom: Named.optional().catch(undefined),
})

const toolKey = (id: unknown): string => `tool:${typeof id === 'string' ? id : ''}`
const functionKey = (name: unknown): string => `function:${typeof name === 'string' ? name : ''}`

function toolCall(value: unknown): Call {
  const { id, function: named, custom } = ToolCall.catch({ id: '' }).parse(value)
  const name = (named ?? custom)?.name
  return { key: toolKey(id), title: name ? `${name} (call ${id})` : `call ${id}` }
}

const shape: TurnShape = {
  callsOf({ role, tool_calls, function_call }) {
    if (role !== 'assistant') return []
    const called = Named.safeParse(function_call)
    const older = called.success ? [{ key: functionKey(called.data.name), title: called.data.name }] : []
    return [...(Array.isArray(tool_calls) ? tool_calls.map(toolCall) : []), ...older]
  },
  answers({ role, tool_call_id, name }) {
    if (role === 'tool') return toolKey(tool_call_id)
    return role === 'function' ? functionKey(name) : null
  },
  cancelled({ key }) {
    const separator = key.indexOf(':')
    const [kind, named] = [key.slice(0, separator), key.slice(separator + 1)]
    return kind === 'tool'
      ? { role: 'tool', tool_call_id: named, content: cancelledContent }
      : { role: 'function', name: named, content: cancelledContent }
  },
}

const isMissing = (value: unknown): boolean => value === undefined || value === null

function contentProblem(message: Message): string | null {
  const { role, content, refusal, audio } = message
  if (!isMissing(content)) return null
  if (role !== 'assistant')
    return role === 'function' && content === null ? null : `has no content, which ${role} needs`
  const says = shape.callsOf(message).length > 0 || !isMissing(refusal) || !isMissing(audio)
  return says ? null : 'has neither content nor calls'
}

const refusal = (message: string, data: Record<string, unknown>) =>
  new InvalidMessagesError(message, {
    nextStep: `Give a list of messages, each an object whose role is ${roles.slice(0, -1).join(', ')} or ${roles.at(-1)}.`,
    data: { ...data, allowed: roles },
  })

export const openai: Format = {
  name: 'openai',
  parse(input) {
    if (!Array.isArray(input)) throw refusal('The messages are not a list.', {})
    for (const [index, message] of input.entries()) {
      if (typeof message !== 'object' || message === null || Array.isArray(message))
        throw refusal(`messages[${index}] is not a message.`, { index })
      const { role } = message as { role?: unknown }
      if (!Role.safeParse(role).success)
        throw refusal(
          role === undefined
            ? `messages[${index}] has no role.`
            : `messages[${index}] has the role ${JSON.stringify(role)}, which OpenAI's chat format does not know.`,
          { index, role },
        )
    }
    return input
  },
  repair: (messages) => repairTurns(messages, shape),
  validate(messages) {
    const problems = turnProblems(messages, shape)
    for (const [index, message] of messages.entries()) {
      const problem = contentProblem(message)
      if (problem) problems.push({ index, problem })
      for (const { key, title } of shape.callsOf(message))
        if (key === toolKey('')) problems.push({ index, problem: `makes a call without an id, ${title.trim()}` })
    }
    return problems.sort((a, b) => a.index - b.index).map(({ index, problem }) => `messages[${index}] ${problem}.`)
  },
  isCue: ({ role, content }) => role === 'system' && typeof content === 'string' && content.startsWith(cueMark),
  withCue(messages, text) {
    const rest = openai.withoutCues(messages)
    const place = lastPlace(rest, shape)
    return [...rest.slice(0, place), { role: 'system', content: text }, ...rest.slice(place)]
  },
  withoutCues: (messages) => messages.filter((message) => !openai.isCue(message)),
}
