/** Conversations that come in by a file or stdin. */
import { readFileSync } from 'node:fs'
import { FileNotFoundError, InvalidMessagesError } from '../contract/errors.ts'
import type { Message } from '../contract/index.ts'
import { visibleName } from '../contract/text.ts'
import { readStdin } from './prompt.ts'

/**
 * @param from a file's name; - is stdin
 * @throws FileNotFoundError, or InvalidMessagesError for what is not a JSON list of messages with roles
 */
export async function readMessages(from: string): Promise<Message[]> {
  const text = from === '-' ? (await readStdin()).toString('utf8') : readText(from)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new InvalidMessagesError(`The messages are not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (!Array.isArray(parsed) || !parsed.every(isMessage))
    throw new InvalidMessagesError('The messages are not a JSON list of objects with a role.', {
      nextStep: 'For example: [{"role": "user", "content": "Hello"}]',
    })
  return parsed
}

const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && typeof (value as { role?: unknown }).role === 'string'

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new FileNotFoundError(`${visibleName(file)} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
