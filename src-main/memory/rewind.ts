/** The history that an agent goes on with after a rollback. */
import type { Message, Repair, StoredFormat } from '../contract/index.ts'
import { type CueFacts, resumeCue } from './cue.ts'
import { formatOf } from './formats/index.ts'

export interface RewoundHistory {
  /** Sound for its provider, ending in the cue. */
  messages: Message[]
  repairs: Repair[]
  /** Index of the message in `messages` that is the cue, or holds it. */
  cue: number
}

/**
 * Repairs what a point held and puts the resume cue where it belongs.
 * @param input.snapshot the history as the point holds it
 */
export function rewindHistory(
  { snapshot, ...facts }: CueFacts & { snapshot: readonly Message[] },
  name: StoredFormat = 'openai',
): RewoundHistory {
  const format = formatOf(name)
  // Earlier cues go first: one that stands between a call and its result must not count as a message between them.
  const { messages, repairs } = format.repair(format.withoutCues(snapshot))
  const resumed = format.withCue(messages, resumeCue(facts))
  return { messages: resumed, repairs, cue: resumed.findLastIndex(format.isCue) }
}
