/** Schemas and conversions that several tools share. Names are snake_case, durations seconds, as agents know them. */
import { z } from 'zod'
import {
  type AutoRollback,
  ConversationKey,
  InvalidOptionError,
  MAIN,
  type Message,
  MessageFormat,
  StoredFormat,
} from '../../contract/index.ts'

export const commandLine = z
  .union([z.string().min(1), z.array(z.string()).min(1)])
  .describe('a line for sh -c, or a program with its arguments as a list')

export const countsField = z.object({ added: z.number(), modified: z.number(), deleted: z.number() })

/** A message as its provider writes it: judged by the host, and handed on as it came. */
const message = z.unknown().meta({ type: 'object' })

const format = MessageFormat.default('auto').describe('how the messages are written; dict is the same as openai')
const conversation = ConversationKey.default(MAIN).describe(
  "main, or a name of your own for a sub-agent's conversation",
)

/** Whose messages are meant, and how they are written. */
export const spokenArguments = { format, conversation }

export const messagesArguments = {
  messages: z.array(message).optional().describe('the conversation so far, as your provider writes it'),
  messages_json: z.string().optional().describe('the same as JSON text'),
  ...spokenArguments,
}

/**
 * @returns null where neither was given
 * @throws InvalidOptionError for both at once, or for text that is no JSON
 */
export function messagesOf(given: {
  messages?: unknown[] | undefined
  messages_json?: string | undefined
}): Message[] | null {
  // The host judges them: it knows the formats, and names the index of what it refuses.
  return (oneOf('messages', given.messages, given.messages_json) as Message[] | undefined) ?? null
}

/**
 * The value of an argument that may also come as JSON text.
 * @throws InvalidOptionError for both at once, or for text that is no JSON
 */
export function oneOf(name: string, value: unknown, text: string | undefined): unknown {
  if (text === undefined) return value
  if (value !== undefined)
    throw new InvalidOptionError(`Give ${name} or ${name}_json, not both.`, { nextStep: `Leave one of them out.` })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidOptionError(`${name}_json is not JSON: ${(error as Error).message}.`, {
      nextStep: `Pass ${name} itself, or its JSON text.`,
    })
  }
}

const messageList = z.array(message)
export const messagesField = messageList.describe('the history to go on with')
export const formatField = StoredFormat.describe('how the messages are written')

export const autoRollbackField = z
  .object({
    event: z.enum(['exception', 'test_failure']),
    to: z.string(),
    checkpoint: z.string(),
    status: z.enum(['rolled_back', 'skipped_noop']),
    messages: messageList,
    format: formatField,
    message_count: z.number(),
  })
  .nullable()
  .describe('the automatic rollback that this set off: file changes since its checkpoint are gone')

export const autoRollbackOf = (done: AutoRollback | null): z.input<typeof autoRollbackField> =>
  done && {
    event: done.event,
    to: done.to,
    checkpoint: done.checkpoint,
    status: done.status,
    messages: done.messages,
    format: done.format,
    message_count: done.messages.length,
  }
