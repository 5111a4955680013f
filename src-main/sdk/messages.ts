/** Conversations: how they are named and written, and one format in another's words. */
import { messageFormats, storedFormats } from '../contract/format-names.ts'
import { convertMessages as convert, judgeMessages } from '../memory/index.ts'
import { anything, assertOptions, assertValue, type Check, oneOf, text } from './checks.ts'
import type { Message } from './types.ts'

/** The ways in which histories are written: `'dict'` is OpenAI's chat format, and `'auto'` goes by the messages. */
export type MessageFormat = 'auto' | 'openai' | 'dict' | 'openai-responses' | 'anthropic' | 'langchain' | 'vercel'

/** Which conversation is meant, and how it is written; both may be left out. */
export interface ConversationOptions {
  /**
   * How the messages are written. Given out, they are converted where they are kept in another format; `'auto'` gives
   * them as they are kept. Default `'auto'`.
   */
  format?: MessageFormat | undefined
  /** The key of a sub-agent's conversation. Default `'main'`. */
  conversation?: string | undefined
}

/** @internal */
export const conversationChecks: Record<'format' | 'conversation', Check> = {
  format: oneOf(...messageFormats),
  conversation: text,
}

/**
 * Whether it is a list of messages is for the host to judge, which says so by an error of its own.
 * @internal
 */
export const messageList = anything

/**
 * As the contract takes it.
 * @internal
 */
export const spoken = ({ format, conversation }: ConversationOptions) => ({ format, conversation })

/**
 * A history in another format's words, for adapters of frameworks. Within one format the messages are the same objects.
 * @param options.from how it is written. Default `'auto'`
 * @param options.to how it is to be written
 * @returns the messages, and notes of what the other format cannot express
 * @throws InvalidMessagesError naming the index and what is allowed, InvalidOptionError
 */
export function convertMessages(
  messages: readonly Message[],
  options: { from?: MessageFormat | undefined; to: Exclude<MessageFormat, 'auto'> },
): { messages: Message[]; notes: string[] } {
  assertOptions('convertMessages()', options, { from: oneOf(...messageFormats), to: oneOf('dict', ...storedFormats) })
  const { from = 'auto', to } = options
  assertValue('to', to, oneOf('dict', ...storedFormats))
  const judged = judgeMessages(messages, { wanted: from })
  return convert(judged.messages, { from: judged.format, to: to === 'dict' ? 'openai' : to })
}
