/** The history that an agent goes on with after a rollback. */
import type { Message, Repair } from '../contract/index.ts'
import { type CueFacts, resumeCue } from './cue.ts'
import type { Format } from './format.ts'
import { openai } from './formats/openai.ts'

export interface RewoundHistory {
  /** Sound for its provider, ending in the cue. */
  messages: Message[]
  repairs: Repair[]
  /** Index of the cue in `messages`. */
  cue: number
}

/**
 * Repairs what a point held and puts the resume cue where it belongs.
 * @param input.snapshot the history as the point holds it
 */
export function rewindHistory(
  { snapshot, ...facts }: CueFacts & { snapshot: readonly Message[] },
  format: Format = openai,
): RewoundHistory {
  // Earlier cues go first: one that stands between a call and its result must not count as a message between them.
  const { messages, repairs } = format.repair(format.withoutCues(snapshot))
  const resumed = format.withCue(messages, resumeCue(facts))
  return { messages: resumed, repairs, cue: resumed.findIndex(format.isCue) }
}
