/** `rewind messages`: the agent's conversations, now or as a checkpoint holds them. */
import { InvalidOptionError } from '../../contract/errors.ts'
import { MAIN } from '../../contract/format-names.ts'
import type { Conversation, ConversationSummary, Message } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { formatOption, messageFormat, readMessages } from '../messages-file.ts'
import { count } from '../output.ts'

interface Options {
  set?: string
  at?: string
  format?: string
  conversation?: string
}

export const defineMessages: Define = (program, action) => {
  program
    .command('messages')
    .description("the agent's conversation")
    .option('--set <file>', 'replace it by a JSON list (- for stdin)')
    .option('--at <point>', 'as it was at a checkpoint')
    .option('--format <name>', `${formatOption}; without --set it is converted on the way out`)
    .option('--conversation <key>', "a sub-agent's instead of the main one")
    .action(
      action<Options>(async (cli, _operands, options) => {
        if (options.set !== undefined && options.at !== undefined)
          throw new InvalidOptionError('--set and --at do not go together: the past is not written to.')
        const format = messageFormat(options.format)
        const conversation = options.conversation ?? MAIN
        if (options.set !== undefined) {
          const messages = await readMessages(options.set)
          const { rpc, session } = await cli.begin('acts')
          const kept = await rpc.messages.sync({ session, messages, format, conversation })
          const { count: messageCount, ...rest } = kept
          cli.out.result({ ...rest, messageCount }, `${count(messageCount, 'message')} kept (${kept.format})`)
          return
        }
        const at = options.at ?? 'now'
        const { rpc, session } = await cli.begin('looks')
        const conversations = await rpc.messages.list({ session, at })
        if (!conversations.some((one) => one.conversation === conversation))
          throw new InvalidOptionError(`There is no conversation ${conversation} here.`, {
            nextStep: `There are ${conversations.map((one) => one.conversation).join(', ')}.`,
          })
        const found = await rpc.messages.get({ session, at, format, conversation })
        cli.out.result({ ...found, messageCount: found.messages.length, conversations }, asText(found, conversations))
      }),
    )
}

function asText(
  { conversation, messages, problems, notes, cue }: Conversation,
  conversations: readonly ConversationSummary[],
): string {
  const others = conversations
    .filter((one) => one.conversation !== conversation)
    .map((one) => `also: ${visibleName(one.conversation)} (${count(one.count, 'message')}, ${one.format})`)
  if (messages.length === 0) return ['No messages.', ...others].join('\n')
  return [
    ...messages.map((message, at) => `${at === cue ? '* ' : '  '}${describeMessage(message)}`),
    ...problems.map((problem) => `not valid: ${visibleName(problem)}`),
    ...notes.map((note) => `not carried over: ${visibleName(note)}`),
    ...others,
  ].join('\n')
}

/** One line for a message, whatever its provider's format: who, what was said, which tools are called. */
export function describeMessage(message: Message): string {
  const fields = fieldsOf(message)
  const said = textOf(fields.content ?? fields.parts ?? fields.output ?? fields.summary)
  const beside = Array.isArray(fields.tool_calls) ? fields.tool_calls.map(nameOf) : []
  const calls = typeof fields.call_id === 'string' && 'name' in fields ? [nameOf(fields)] : beside
  const called = calls.length > 0 ? `[calls ${calls.join(', ')}]` : ''
  return `${visibleName(whoSays(message))}: ${visibleName([said, called].filter((part) => part !== '').join(' '))}`
}

/** LangChain keeps what was said one level deeper. */
function fieldsOf(message: Message): Message {
  const { kwargs, data } = message
  const inner = message.lc === 1 ? kwargs : 'content' in message ? undefined : data
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Message) : message
}

function whoSays({ role, type, lc, id }: Message): string {
  if (typeof role === 'string') return role
  if (lc === 1 && Array.isArray(id)) return String(id.at(-1))
  return typeof type === 'string' ? type : 'message'
}

const nameOf = (call: unknown): string => {
  const { name, function: named } = (call ?? {}) as { name?: unknown; function?: { name?: unknown } }
  const found = named?.name ?? name
  return typeof found === 'string' ? found : 'a tool'
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content.replaceAll(/\s*\n\s*/g, ' ')
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .map((part: { type?: unknown; text?: unknown } | null) =>
      typeof part?.text === 'string' ? part.text : `[${part?.type ?? 'part'}]`,
    )
    .join(' ')
    .replaceAll(/\s*\n\s*/g, ' ')
}
