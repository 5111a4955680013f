/** Files that a person asked for: they get their name once all of them is written. */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DiskFullError, InvalidPathError } from '../contract/errors.ts'
import { visibleName } from '../contract/text.ts'

/**
 * What had the name until then stays when something goes wrong.
 * @param path absolute
 * @throws DiskFullError, InvalidPathError; what the pieces throw
 */
export async function writeWhole(
  path: string,
  pieces: Iterable<string> | AsyncIterable<string>,
  mode = 0o666,
): Promise<void> {
  const partial = `${path}.${process.pid}.part`
  try {
    await pipeline(Readable.from(pieces), createWriteStream(partial, { flags: 'wx', mode }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw unwritten(path, error)
  }
}

function unwritten(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DiskFullError(`There is no room for ${visibleName(path)}; nothing was written.`, {
      nextStep: 'Free some space, or name a file on another disk.',
    })
  if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return error
  return new InvalidPathError(`${visibleName(path)} cannot be written: ${code}.`, {
    nextStep: 'Name a file in a folder that exists and that you can write to.',
  })
}
