/** Conversations as they are handed over: what is in them is for the host to judge. */
import { InvalidMessagesError } from '../contract/errors.ts'
import type { Message as Sent } from '../contract/index.ts'
import { anything } from './checks.ts'
import type { Message } from './types.ts'

/** Whether it is one is said by {@link asMessages}, by an error of its own. */
export const messageList = anything

/** @throws InvalidMessagesError for what is not a list of objects */
export function asMessages(messages: readonly Message[]): Sent[] {
  const list: unknown = messages
  if (!Array.isArray(list))
    throw new InvalidMessagesError(
      `The messages are ${typeof list === 'object' ? 'an object' : typeof list}, not a list.`,
      {
        nextStep: 'For example: [{ role: "user", content: "Hello" }]',
      },
    )
  const wrong = list.findIndex((message) => typeof message !== 'object' || message === null || Array.isArray(message))
  if (wrong >= 0)
    throw new InvalidMessagesError(`Message ${wrong} is no object.`, {
      nextStep: 'For example: [{ role: "user", content: "Hello" }]',
    })
  return list as Sent[]
}
