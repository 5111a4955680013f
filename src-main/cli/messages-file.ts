/** Conversations that come in by a file or stdin. */
import { readFileSync } from 'node:fs'
import { FileNotFoundError, InvalidMessagesError, InvalidOptionError } from '../contract/errors.ts'
import { messageFormats } from '../contract/format-names.ts'
import type { Message, MessageFormat } from '../contract/index.ts'
import { visibleName } from '../contract/text.ts'
import { readStdin } from './prompt.ts'

export const formatOption = `how it is written: ${messageFormats.join(', ')}`

/** @throws InvalidOptionError that lists the formats */
export function messageFormat(name: string | undefined): MessageFormat {
  if (name === undefined) return 'auto'
  const known = messageFormats.find((one) => one === name)
  if (known) return known
  throw new InvalidOptionError(`There is no format ${visibleName(name)}.`, {
    nextStep: `The formats are ${messageFormats.join(', ')}.`,
  })
}

/**
 * What they are is judged by the host, which knows the formats.
 * @param from a file's name; - is stdin
 * @throws FileNotFoundError, or InvalidMessagesError for what is not JSON
 */
export async function readMessages(from: string): Promise<Message[]> {
  const text = from === '-' ? (await readStdin()).toString('utf8') : readText(from)
  try {
    return JSON.parse(text) as Message[]
  } catch (error) {
    throw new InvalidMessagesError(`The messages are not JSON: ${(error as Error).message}`, {
      cause: error,
      nextStep: 'For example: [{"role": "user", "content": "Hello"}]',
    })
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new FileNotFoundError(`${visibleName(file)} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
