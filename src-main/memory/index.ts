/** Conversations: judging, converting, repairing and resuming them, in each provider's format. Pure functions over messages. */
import type { Message, StoredFormat, Validity } from '../contract/index.ts'
import { convertMessages } from './convert.ts'
import type { Repaired } from './format.ts'
import { formatOf, formats } from './formats/index.ts'

export { convertMessages } from './convert.ts'
export { type CueFacts, resumeCue } from './cue.ts'
export type { Converted, Format, Repaired } from './format.ts'
export { formatOf } from './formats/index.ts'
export { type Judged, type Judging, judgeMessages, MAX_DEPTH } from './judge.ts'
export { cancelledText } from './pieces.ts'
export { type RewoundHistory, rewindHistory } from './rewind.ts'

export const repairHistory = (messages: readonly Message[], format: StoredFormat = 'openai'): Repaired =>
  formatOf(format).repair(messages)

/** What a strict provider would refuse, in words; empty where it would take the history. */
export const validateHistory = (messages: readonly Message[], format: StoredFormat = 'openai'): string[] =>
  formatOf(format).validate(messages)

/** For each provider whether it would take the history, converted where it is written for another. */
export const validityOf = (messages: readonly Message[], from: StoredFormat): Validity[] =>
  formats.map((format) => {
    const { messages: converted, notes } = convertMessages(messages, { from, to: format.name })
    return { format: format.name, problems: format.validate(converted), notes }
  })

export const isCue = (message: Message, format: StoredFormat = 'openai'): boolean => formatOf(format).isCue(message)

/** The history with `cue` as its only cue. */
export const withCue = (messages: readonly Message[], cue: string, format: StoredFormat = 'openai'): Message[] =>
  formatOf(format).withCue(messages, cue)

/** Where the newest cue stands; null without one. */
export function cueIndex(messages: readonly Message[], format: StoredFormat = 'openai'): number | null {
  const index = messages.findLastIndex(formatOf(format).isCue)
  return index === -1 ? null : index
}
