/**
 * Removing what an agent made while it may still be at work: by descriptors, never by a path of more than one name.
 * A name that turns into a symlink on the way is unlinked; it never leads a call of ours to a place of the host.
 */
import { chmodSync, closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'

/** Each level costs a descriptor. What lies deeper stays, and goes with the sandbox. */
const DEPTH = 100
/** Opens a name without any right to its content. Linux. */
const O_PATH = 0o10000000
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW

/** The path of an entry of an open folder. */
export const entryOf = (folder: number, name: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), Buffer.from(name)])

/**
 * Removes an entry of an open folder with all that is in it, as far as it can be: an agent that goes on filling it
 * keeps what it put there.
 * @throws the system's errors that no agent can cause
 */
export function removeAt(folder: number, name: string | Buffer, depth = 0): void {
  const path = entryOf(folder, name)
  if (tolerating(() => unlinkSync(path)) === 'done' || depth === DEPTH) return
  tolerating(() => {
    const open = openToEmpty(path)
    try {
      for (const entry of readdirSync(`/proc/self/fd/${open}`, { encoding: 'buffer' })) removeAt(open, entry, depth + 1)
    } finally {
      closeSync(open)
    }
    rmdirSync(path)
  })
}

/** A folder that its owner closed, who is us, is opened again first: by its descriptor, as its name may change. */
function openToEmpty(path: Buffer): number {
  const handle = openSync(path, O_PATH | FOLDER)
  try {
    const own = `/proc/self/fd/${handle}`
    try {
      return openSync(`${own}/.`, constants.O_RDONLY | FOLDER)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
      chmodSync(own, 0o700)
      return openSync(`${own}/.`, constants.O_RDONLY | FOLDER)
    }
  } finally {
    closeSync(handle)
  }
}

const AGENTS = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM', 'EBUSY'])

function tolerating(act: () => void): 'done' | 'refused' {
  try {
    act()
    return 'done'
  } catch (error) {
    if (AGENTS.has((error as NodeJS.ErrnoException).code ?? '')) return 'refused'
    throw error
  }
}
