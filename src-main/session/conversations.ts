/** The session's conversations as clients hand them over and take them out, in whatever format. */
import {
  type Conversation,
  type ConversationSummary,
  MAIN,
  type Message,
  type MessageFormat,
  type RollbackResult,
  SessionRewoundError,
  type StoredFormat,
  type Synced,
  type Validity,
} from '../contract/index.ts'
import { convertMessages, cueIndex, judgeMessages, validateHistory, validityOf } from '../memory/index.ts'
import type { Pinned } from '../store/index.ts'
import type { SessionContext } from './context.ts'
import { resolvePoint } from './moments.ts'

/** A history on its way in. */
export interface Given {
  messages: unknown
  conversation?: string | undefined
  format?: MessageFormat | undefined
}

export class Conversations {
  readonly #context: SessionContext

  constructor(context: SessionContext) {
    this.#context = context
  }

  /**
   * Judges a history and stores its messages; no conversation is changed by it.
   * @throws InvalidMessagesError naming the index and what is allowed
   */
  store({ messages: given, conversation = MAIN, format: wanted = 'auto' }: Given): Pinned {
    const { store, id } = this.#context
    const head = store.messages.head(id, conversation)
    const known = Array.isArray(given) ? store.messages.common(given, head.node) : 0
    const before = head.revision > 0 ? head.format : null
    const { messages, format } = judgeMessages(given, { wanted, before, known })
    return { conversation, node: store.messages.save(messages, head.node, known), format }
  }

  /** Replaces a conversation. @throws InvalidMessagesError (nothing is changed) */
  sync(given: Given): Synced {
    const context = this.#context
    return context.transaction(() => {
      const pinned = this.store(given)
      const revision = context.setConversation(pinned)
      const { conversation, format, node } = pinned
      return { session: context.id, conversation, format, count: context.store.messages.count(node), revision }
    })
  }

  /**
   * @throws SessionRewoundError with the history to use, where a rewind began a later epoch or the conversation was changed
   *   (by a rewind, by another client) since `revision`
   */
  assertFresh(conversation: string, epoch: number | undefined, revision: number | null): void {
    const context = this.#context
    const head = context.store.messages.head(context.id, conversation)
    const { row } = context
    const rewound = epoch !== undefined && epoch < row.epoch
    if (!rewound && (revision === null || revision === head.revision)) return
    throw new SessionRewoundError(
      rewound
        ? `Session ${row.name} was rewound since you last looked; nothing was done.`
        : 'The conversation was changed since you read it.',
      {
        nextStep: 'Go on from the history in this error.',
        data: {
          session: context.id,
          epoch: row.epoch,
          conversation,
          revision: head.revision,
          format: head.format,
          messages: context.store.messages.load(head.node),
        },
      },
    )
  }

  get(at: string, conversation: string, wanted: MessageFormat): Conversation {
    const context = this.#context
    const { store, id } = context
    const { point, pinned } = this.#at(at, conversation)
    const kept = store.messages.load(pinned.node)
    const format = storedFormat(wanted, pinned.format)
    const { messages, notes } = convertMessages(kept, { from: pinned.format, to: format })
    return {
      session: id,
      conversation,
      point,
      format,
      messages,
      revision: store.messages.head(id, conversation).revision,
      cue: cueIndex(messages, format),
      problems: validateHistory(messages, format),
      notes,
    }
  }

  list(at: string): ConversationSummary[] {
    const context = this.#context
    const { store, id } = context
    return this.#held(at).conversations.map(({ conversation, node, format }) => ({
      conversation,
      format,
      count: store.messages.count(node),
      revision: store.messages.head(id, conversation).revision,
    }))
  }

  validity(at: string, conversation: string): Validity[] {
    const { pinned } = this.#at(at, conversation)
    return validityOf(this.#context.store.messages.load(pinned.node), pinned.format)
  }

  #at(at: string, conversation: string): { point: string | null; pinned: Pinned } {
    const { point, conversations } = this.#held(at)
    return { point, pinned: this.#context.pinned(conversations, conversation) }
  }

  #held(at: string): { point: string | null; conversations: readonly Pinned[] } {
    const context = this.#context
    if (at === 'now') return { point: null, conversations: context.conversations }
    const { id } = resolvePoint(at, context.points, context.row.head)
    return { point: id, conversations: context.store.points.held(context.id, id).conversations }
  }
}

const storedFormat = (wanted: MessageFormat, kept: StoredFormat): StoredFormat => {
  if (wanted === 'auto') return kept
  return wanted === 'dict' ? 'openai' : wanted
}

/** What a rollback answers, with the main history written as the caller wants it. */
export function writtenAs(result: RollbackResult, wanted: MessageFormat): RollbackResult {
  const to = storedFormat(wanted, result.format)
  if (to === result.format) return result
  const { messages, notes }: { messages: Message[]; notes: string[] } = convertMessages(result.messages, {
    from: result.format,
    to,
  })
  return { ...result, messages, format: to, notes }
}
