/**
 * Whether an answer fits into a message. One that does not would be lost on its way, in the host's encoder or at the
 * client's door, and its asker would wait for ever; so it is refused while it can still be answered with an error.
 */
import { InvalidOptionError } from '../contract/index.ts'
import { MAX_MESSAGE_BYTES } from './message-limit.ts'

/** A character takes at most so many bytes in JSON: control characters and lone surrogates are written as \uNNNN. */
const BYTES_PER_CHARACTER = 6
/** What stands around each value at most: a number, a date with the note that it is one, separators. */
const BYTES_PER_VALUE = 64
/** Room for the frame around the answer. */
const FRAME_BYTES = 1024

/** @throws InvalidOptionError where the answer cannot be sent */
export function assertSendable(answer: unknown, limit: number = MAX_MESSAGE_BYTES): void {
  const room = limit - FRAME_BYTES
  const { characters, values } = weigh(answer)
  if (characters * BYTES_PER_CHARACTER + values * BYTES_PER_VALUE <= room) return
  const bytes = characters > room ? characters : encodedBytes(answer)
  if (bytes === null || bytes > room)
    throw new InvalidOptionError(`The answer is too large to be sent: more than ${Math.floor(limit / 1e6)} MB.`, {
      nextStep: 'Ask for less at once, or look at it in the sandbox (`rewind exec`).',
      data: { limit },
    })
}

/** Characters in all strings and keys, and how many values there are. Streams weigh nothing: they come in pieces. */
function weigh(answer: unknown): { characters: number; values: number } {
  let characters = 0
  let values = 0
  const open = [answer]
  while (open.length > 0) {
    const value = open.pop()
    values++
    if (typeof value === 'string') characters += value.length
    else if (Array.isArray(value)) for (const inner of value) open.push(inner)
    else if (typeof value === 'object' && value !== null && !(Symbol.asyncIterator in value))
      for (const [key, inner] of Object.entries(value)) {
        characters += key.length
        open.push(inner)
      }
  }
  return { characters, values }
}

/** Bytes as JSON; null where it is more than a string can hold. */
function encodedBytes(answer: unknown): number | null {
  try {
    return Buffer.byteLength(JSON.stringify(answer))
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
