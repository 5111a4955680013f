/** Words for a POSIX shell. */
import { InvalidOptionError } from '../../contract/index.ts'

/**
 * One word, whatever it holds.
 * @throws InvalidOptionError for a NUL byte, which no argument of a program can hold
 */
export function quote(word: string): string {
  if (word.includes('\0')) {
    throw new InvalidOptionError('A NUL byte cannot be part of a command, its environment or a path.', {
      nextStep: 'Remove the NUL byte; pass binary data through a file or standard input.',
    })
  }
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** A call of a shell function or program. */
export const call = (name: string, ...words: readonly string[]): string => [name, ...words.map(quote)].join(' ')
