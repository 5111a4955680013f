/** Conversations: judging, repairing and resuming them, in each provider's format. Pure functions over messages. */
import type { Message } from '../contract/index.ts'
import type { Repaired } from './format.ts'
import { openai } from './formats/openai.ts'

export { type CueFacts, resumeCue } from './cue.ts'
export type { Format, Repaired } from './format.ts'
export { type RewoundHistory, rewindHistory } from './rewind.ts'

/** @returns the messages as they came. @throws InvalidMessagesError naming the index and what is allowed */
export const parseMessages = (input: unknown): Message[] => openai.parse(input)

export const repairHistory = (messages: readonly Message[]): Repaired => openai.repair(messages)

/** What a strict provider would refuse, in words; empty where it would take the history. */
export const validateHistory = (messages: readonly Message[]): string[] => openai.validate(messages)

export const isCue = (message: Message): boolean => openai.isCue(message)

/** The history with `cue` as its only cue. */
export const withCue = (messages: readonly Message[], cue: string): Message[] => openai.withCue(messages, cue)

/** Where the newest cue stands; null without one. */
export function cueIndex(messages: readonly Message[]): number | null {
  const index = messages.findLastIndex(openai.isCue)
  return index === -1 ? null : index
}
