/** A history in another format's writing. */
import type { Message, StoredFormat } from '../contract/index.ts'
import { isCueText } from './cue.ts'
import type { Converted } from './format.ts'
import { formatOf } from './formats/index.ts'

/**
 * @returns the history with everything that the other format can express, and notes of what it cannot. Within one format
 *   the messages are the same objects.
 */
export function convertMessages(
  messages: readonly Message[],
  { from, to }: { from: StoredFormat; to: StoredFormat },
): Converted<Message> {
  if (from === to) return { messages: [...messages], notes: [] }
  const [source, target] = [formatOf(from), formatOf(to)]
  const cue = cueIn(messages, from)
  const read = source.read(source.withoutCues(messages))
  const written = target.write(read.messages)
  return {
    // The cue stands where the other format takes it, not where its words would have come to stand.
    messages: cue === null ? written.messages : target.withCue(written.messages, cue),
    notes: [...new Set([...read.notes, ...written.notes])],
  }
}

/** The words of the newest cue. */
function cueIn(messages: readonly Message[], format: StoredFormat): string | null {
  const source = formatOf(format)
  const holder = messages.findLast(source.isCue)
  if (!holder) return null
  const parts = source.read([holder]).messages.flatMap((spoken) => spoken.parts)
  const words = parts.findLast((part) => part.kind === 'text' && isCueText(part.text))
  return words?.kind === 'text' ? words.text : null
}
