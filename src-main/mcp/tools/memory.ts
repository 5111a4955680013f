/** The agent's conversation, kept beside the files and taken back with them. */
import { z } from 'zod'
import { InvalidOptionError } from '../../contract/index.ts'
import { defineTool, type Tool } from '../tool.ts'
import { formatField, messagesArguments, messagesField, messagesOf, spokenArguments } from './shapes.ts'

const sync = defineTool({
  name: 'sync_agent_memory',
  title: 'Hand over the conversation',
  description:
    'Makes this list the current conversation of the session. Checkpoints hold it, and a rewind gives it back as it was. ' +
    'Hand over the whole history, not only what is new.',
  input: {
    ...messagesArguments,
    revision: z
      .number()
      .int()
      .optional()
      .describe('of the history that yours goes on from; refused when it has changed since'),
  },
  output: {
    status: z.literal('synced'),
    message_count: z.number(),
    format: formatField,
    conversation: z.string(),
    revision: z.number(),
  },
  effect: 'destroys',
  idempotent: true,
  async run({ host, session, epoch }, { messages, messages_json, format, conversation, revision }) {
    const list = messagesOf({ messages, messages_json })
    if (list === null)
      throw new InvalidOptionError('No messages were given.', { nextStep: 'Pass messages or messages_json.' })
    const kept = await host.messages.sync({
      session,
      epoch,
      messages: list,
      format,
      conversation,
      revision: revision ?? null,
    })
    return {
      data: {
        status: 'synced' as const,
        message_count: kept.count,
        format: kept.format,
        conversation: kept.conversation,
        revision: kept.revision,
      },
    }
  },
})

const get = defineTool({
  name: 'get_agent_memory',
  title: 'The conversation to go on with',
  description:
    'The current conversation of the session, or the one that a checkpoint holds. After a rewind it ends in a message that says so.',
  input: { ...spokenArguments, at: z.string().min(1).default('now').describe('label or id of a checkpoint') },
  output: {
    messages: messagesField,
    format: formatField,
    conversation: z.string(),
    message_count: z.number(),
    revision: z.number(),
    notes: z.array(z.string()).describe('what a conversion into the format asked for could not express'),
    conversations: z.array(z.string()).describe('the conversations that there are'),
    problems: z.array(z.string()).describe('why a strict provider would refuse this history'),
  },
  effect: 'reads',
  async run({ host, session }, { at, format, conversation }) {
    const found = await host.messages.get({ session, at, format, conversation })
    const all = await host.messages.list({ session, at })
    return {
      data: {
        messages: found.messages,
        format: found.format,
        conversation,
        message_count: found.messages.length,
        revision: found.revision,
        notes: found.notes,
        conversations: all.map((one) => one.conversation),
        problems: found.problems,
      },
    }
  },
})

export const memoryTools: readonly Tool[] = [sync, get]
