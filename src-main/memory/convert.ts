/** A history in another format's writing. */
import type { Message, StoredFormat } from '../contract/index.ts'
import { isCueText } from './cue.ts'
import type { Converted, Format } from './format.ts'
import { formatOf } from './formats/index.ts'
import { type Part, type Spoken, said } from './spoken.ts'

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
  const read = source.read(messages)
  const { before, cue, after } = aroundCue(read.messages, (at) => source.isCue(messages[at] ?? {}))
  const written = target.write(cue === null ? before : woven(before, cue, after, target))
  return {
    // At the end the cue stands where the other format takes it, which may be before a turn that waits for its results.
    messages: cue !== null && after.length === 0 ? target.withCue(written.messages, cue) : written.messages,
    notes: [...new Set([...read.notes, ...written.notes])],
  }
}

interface Around {
  /** All, where there is no cue. */
  before: Spoken[]
  /** The words of the newest. */
  cue: string | null
  after: Spoken[]
}

/** What stands before and after the newest cue; earlier ones, which it replaces, are left out. */
function aroundCue(spoken: readonly Spoken[], holdsCue: (at: number) => boolean): Around {
  const isCue = (part: Part): part is Part & { kind: 'text' } => part.kind === 'text' && isCueText(part.text)
  const around: Around = { before: [], cue: null, after: [] }
  for (const one of spoken) {
    if (!holdsCue(one.at)) {
      around.after.push(one)
      continue
    }
    let rest: Part[] = []
    const put = () => {
      if (rest.length > 0) around.after.push({ ...one, parts: rest })
      rest = []
    }
    for (const part of one.parts) {
      if (!isCue(part)) {
        rest.push(part)
        continue
      }
      put()
      around.before.push(...around.after.splice(0))
      around.cue = part.text
    }
    put()
  }
  if (around.cue === null) around.before.push(...around.after.splice(0))
  return around
}

/** The cue where it stood, unless calls before it are answered after it: then behind those answers. */
function woven(before: readonly Spoken[], cue: string, after: readonly Spoken[], target: Format): Spoken[] {
  if (after.length === 0) return [...before]
  const waiting = new Set<string>()
  const follow = ({ parts }: Spoken) => {
    for (const part of parts) {
      if (part.kind === 'call') waiting.add(part.id)
      else if (part.kind === 'result') waiting.delete(part.id)
    }
  }
  before.forEach(follow)
  let place = 0
  for (const [index, { parts }] of after.entries()) {
    if (waiting.size === 0) break
    for (const part of parts) {
      // An id that is used again is from here on another call's.
      if (part.kind === 'call') waiting.delete(part.id)
      else if (part.kind === 'result' && waiting.delete(part.id)) place = index + 1
    }
  }
  const at = after[0]?.at ?? 0
  const words: Spoken = { at, role: target.cueRole, parts: [said(cue)] }
  return [...before, ...after.slice(0, place), words, ...after.slice(place)]
}
