/** A file read as one piece of memory, which has to cross to its reader as one text. */
import { fstatSync, readFileSync } from 'node:fs'
import { InvalidOptionError } from '../../contract/index.ts'

/** As base64 in an answer this is still well below what a JavaScript string can hold. */
const LIMIT_BYTES = 128 << 20

/** @throws InvalidOptionError for a file over 128 MiB */
export function readWhole(fd: number, path: string): Uint8Array {
  const { size } = fstatSync(fd)
  if (size <= LIMIT_BYTES) return readFileSync(fd)
  throw new InvalidOptionError(
    `${path} is too large to be read as a whole: ${size} bytes, ${LIMIT_BYTES} are the most.`,
    {
      nextStep: 'Look at a part of it with a command in the sandbox, such as head or tail.',
      data: { path, size, limit: LIMIT_BYTES },
    },
  )
}
