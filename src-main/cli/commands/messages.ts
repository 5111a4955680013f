/** `rewind messages`: the agent's conversation, now or as a checkpoint holds it. */
import { InvalidOptionError } from '../../contract/errors.ts'
import type { Conversation, Message } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { readMessages } from '../messages-file.ts'
import { count } from '../output.ts'

export const defineMessages: Define = (program, action) => {
  program
    .command('messages')
    .description("the agent's conversation")
    .option('--set <file>', 'replace it by a JSON list (- for stdin)')
    .option('--at <point>', 'as it was at a checkpoint')
    .action(
      action<{ set?: string; at?: string }>(async (cli, _operands, options) => {
        if (options.set !== undefined && options.at !== undefined)
          throw new InvalidOptionError('--set and --at do not go together: the past is not written to.')
        const messages = options.set === undefined ? null : await readMessages(options.set)
        const { rpc, session } = await cli.begin(messages ? 'acts' : 'looks')
        const conversation = messages
          ? await rpc.messages.sync({ session, messages })
          : await rpc.messages.get({ session, at: options.at ?? 'now' })
        const { length } = conversation.messages
        cli.out.result(
          { ...conversation, messageCount: length },
          messages ? `${count(length, 'message')} kept` : asText(conversation),
        )
      }),
    )
}

function asText({ messages, problems, cue }: Conversation): string {
  if (messages.length === 0) return 'No messages.'
  const lines = messages.map((message, at) => `${at === cue ? '* ' : '  '}${describeMessage(message)}`)
  return [...lines, ...problems.map((problem) => `not valid: ${visibleName(problem)}`)].join('\n')
}

/** One line for a message, whatever its provider's format: who, what was said, which tools are called. */
export function describeMessage(message: Message): string {
  const said = textOf(message.content)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(nameOf) : []
  const called = calls.length > 0 ? `[calls ${calls.join(', ')}]` : ''
  return `${visibleName(message.role)}: ${visibleName([said, called].filter((part) => part !== '').join(' '))}`
}

const nameOf = (call: unknown): string => {
  const name = (call as { function?: { name?: unknown } } | null)?.function?.name
  return typeof name === 'string' ? name : 'a tool'
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content.replaceAll(/\s*\n\s*/g, ' ')
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .map((part: { type?: unknown; text?: unknown }) =>
      typeof part?.text === 'string' ? part.text : `[${part?.type ?? 'part'}]`,
    )
    .join(' ')
    .replaceAll(/\s*\n\s*/g, ' ')
}
