/** Which host folders a session may be given. */
import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { InvalidPathError, type SessionOptions } from '../contract/index.ts'

const isWithin = (inner: string, outer: string): boolean => {
  const way = relative(outer, inner)
  return way === '' || (!way.startsWith(`..${sep}`) && way !== '..' && !isAbsolute(way))
}

/**
 * Checks and resolves the workspace of a new session.
 * @param home the data folder, absolute
 * @returns the real path, and whether the folder was made
 * @throws InvalidPathError that says what is wrong with the folder and what to do
 */
export function resolveWorkspace(
  options: Pick<SessionOptions, 'workspace' | 'create' | 'explicit'>,
  home: string,
): { path: string; created: boolean } {
  const refuse = (message: string, nextStep: string): InvalidPathError =>
    new InvalidPathError(message, { nextStep, data: { path: options.workspace } })
  if (!isAbsolute(options.workspace) || options.workspace.includes('\0'))
    throw refuse(
      `The workspace must be an absolute path: ${JSON.stringify(options.workspace)}.`,
      'Give the whole path.',
    )

  let created = false
  let path: string
  try {
    path = realpathSync(options.workspace)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && options.create) {
      try {
        makeFolders(options.workspace)
        path = realpathSync(options.workspace)
      } catch (error) {
        throw refuse(
          `${options.workspace} cannot be made: ${(error as Error).message}.`,
          'Pick a folder in which you may write.',
        )
      }
      created = true
    } else if (code === 'ENOENT') {
      throw refuse(`There is no folder ${options.workspace}.`, 'Check the path, or have it made with --create.')
    } else {
      throw refuse(
        `${options.workspace} cannot be reached: ${(error as Error).message}.`,
        'Check the path and its rights.',
      )
    }
  }
  if (!statSync(path).isDirectory())
    throw refuse(`${path} is a file; a workspace is a folder.`, 'Name the folder that the file is in.')
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
  } catch {
    throw refuse(`${path} cannot be read by this user.`, 'Change its rights, or run as the user that owns it.')
  }
  if (isWithin(home, path))
    throw refuse(
      `${path} holds the data folder of Rewind itself (${home}): its layers cannot lie inside what they capture.`,
      'Pick a folder within it, or move the data folder elsewhere by setting REWIND_HOME.',
    )
  if (isWithin(path, home)) throw refuse(`${path} lies inside the data folder of Rewind.`, 'Pick a folder of your own.')
  if ((path === '/' || path === safeRealpath(homedir())) && !options.explicit)
    throw refuse(
      `${path} is ${path === '/' ? 'the whole machine' : 'your home folder'}; that is rarely what is meant.`,
      'Pick a project folder, or write the path out to insist.',
    )
  return { path, created }
}

const safeRealpath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** One by one: where a file system refuses new folders by ENOENT (/proc), Node's recursive form never returns. */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.reverse()) mkdirSync(folder)
}
