/** The agent's conversation, kept beside the files and taken back with them. */
import { z } from 'zod'
import { InvalidOptionError } from '../../contract/index.ts'
import { defineTool, type Tool } from '../tool.ts'
import { messagesArguments, messagesField, messagesOf } from './shapes.ts'

const format = z
  .enum(['auto', 'openai', 'dict'])
  .default('auto')
  .describe('how the messages are written; openai and dict are the same')

const sync = defineTool({
  name: 'sync_agent_memory',
  title: 'Hand over the conversation',
  description:
    'Makes this list the current conversation of the session. Checkpoints hold it, and a rewind gives it back as it was. ' +
    'Hand over the whole history, not only what is new.',
  input: {
    ...messagesArguments,
    format,
    revision: z
      .number()
      .int()
      .optional()
      .describe('of the history that yours goes on from; refused when it has changed since'),
  },
  output: { status: z.literal('synced'), message_count: z.number(), revision: z.number() },
  effect: 'destroys',
  idempotent: true,
  async run({ host, session, epoch }, { messages, messages_json, revision }) {
    const list = messagesOf({ messages, messages_json })
    if (list === null)
      throw new InvalidOptionError('No messages were given.', { nextStep: 'Pass messages or messages_json.' })
    const kept = await host.messages.sync({ session, epoch, messages: list, revision: revision ?? null })
    return { data: { status: 'synced' as const, message_count: kept.messages.length, revision: kept.revision } }
  },
})

const get = defineTool({
  name: 'get_agent_memory',
  title: 'The conversation to go on with',
  description:
    'The current conversation of the session, or the one that a checkpoint holds. After a rewind it ends in a message that says so.',
  input: { format, at: z.string().min(1).default('now').describe('label or id of a checkpoint') },
  output: {
    messages: messagesField,
    message_count: z.number(),
    revision: z.number(),
    problems: z.array(z.string()).describe('why a strict provider would refuse this history'),
  },
  effect: 'reads',
  async run({ host, session }, { at }) {
    const { messages, revision, problems } = await host.messages.get({ session, at })
    return { data: { messages, message_count: messages.length, revision, problems } }
  },
})

export const memoryTools: readonly Tool[] = [sync, get]
