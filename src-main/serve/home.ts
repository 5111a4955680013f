/**
 * The data folder: where it lies and that it is ours alone. Everything that the product keeps (store, lock, socket,
 * layers) is in it, so whoever could write there could act as its owner: it is 0700, and one that belongs to
 * somebody else is refused rather than used.
 */
import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { InvalidOptionError, InvalidPathError } from '../contract/errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Where the data folder is, whether it exists or not.
 * @throws InvalidOptionError when $REWIND_HOME is not absolute: from another folder it would mean another one
 */
export function dataFolder(env: Environment = process.env, platform: NodeJS.Platform = process.platform): string {
  const chosen = env.REWIND_HOME
  if (chosen) {
    if (isAbsolute(chosen)) return chosen
    throw new InvalidOptionError(`REWIND_HOME is '${chosen}', which is not an absolute path.`, {
      nextStep: 'Give the whole path of the data folder, from / on, or unset REWIND_HOME.',
    })
  }
  const user = env.HOME || homedir()
  if (platform === 'darwin') return join(user, 'Library/Application Support/Rewind Desktop')
  if (platform === 'win32') return join(env.APPDATA || join(user, 'AppData/Roaming'), 'Rewind Desktop')
  // A relative XDG folder is to be ignored, says the XDG specification.
  const data = env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : join(user, '.local/share')
  return join(data, 'rewind-desktop')
}

/**
 * Makes the data folder where it is missing and closes it to other users.
 * @returns its real path, so that two names of one folder mean one host
 * @throws InvalidPathError when it cannot be made, is not a folder, or belongs to another user
 */
export function ensureHome(home: string): string {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const real = realpathSync(home)
    const facts = statSync(real)
    const me = process.getuid?.()
    if (me !== undefined && facts.uid !== me)
      throw new InvalidPathError(`The data folder ${real} belongs to another user (uid ${facts.uid}, you are ${me}).`, {
        nextStep: 'Set REWIND_HOME to a folder of your own.',
      })
    if (me !== undefined && (facts.mode & 0o077) !== 0) chmodSync(real, 0o700)
    return real
  } catch (error) {
    if (error instanceof InvalidPathError) throw error
    throw new InvalidPathError(`The data folder ${home} cannot be used: ${(error as Error).message}.`, {
      nextStep: 'Set REWIND_HOME to a folder that you can write to.',
      cause: error,
    })
  }
}
