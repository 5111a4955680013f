/** What a rewind took out of a conversation, found from the timeline and the two histories. */
import type { Branch, Message, Timeline } from '../../src-main/contract/index.ts'
import { branchesOf, currentLine } from '../../src-main/contract/timeline.ts'
import { NOW } from '../timeline/selection-store.ts'

/**
 * The rewind that matters for what is looked at: for now the last one whose branch hangs from the current line; for a
 * point the last one that went back to it.
 * @returns id of the point that keeps what was left
 */
export function cutBy(timeline: Timeline, moment: string): { tip: string; branch: Branch<unknown>['letter'] } | null {
  const { points, head } = timeline
  const line = new Set(currentLine(points, head).map(({ id }) => id))
  const hanging = branchesOf(points, head).filter(({ from }) => (moment === NOW ? line.has(from) : from === moment))
  const last = hanging
    .flatMap((branch) => {
      const tip = branch.points.at(-1)
      return tip ? [{ tip, branch: branch.letter }] : []
    })
    .toSorted((a, b) => a.tip.seq - b.tip.seq)
    .at(-1)
  return last ? { tip: last.tip.id, branch: last.branch } : null
}

/** Messages of the history that was left which the present one no longer holds. */
export function cutMessages(left: readonly Message[], present: readonly Message[]): Message[] {
  const held = new Map<string, number>()
  for (const message of present) {
    const key = keyOf(message)
    held.set(key, (held.get(key) ?? 0) + 1)
  }
  return left.filter((message) => {
    const key = keyOf(message)
    const count = held.get(key) ?? 0
    if (count > 0) held.set(key, count - 1)
    return count === 0
  })
}

/**
 * Where a provider takes the cue in a person's message alone, the message is still the one that it was; one text alone may
 * have become a list for it.
 */
function keyOf(message: Message): string {
  if (message.role !== 'user' || !Array.isArray(message.content)) return JSON.stringify(message)
  const spoken = message.content.filter((part: unknown) => !textOf(part)?.startsWith(cueMark))
  const only = spoken.length === 1 ? textOf(spoken[0]) : null
  return JSON.stringify({ ...message, content: only ?? spoken })
}

const cueMark = '[REWIND] '
const textOf = (part: unknown): string | null => {
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown }
  return type === 'text' && typeof text === 'string' ? text : null
}
