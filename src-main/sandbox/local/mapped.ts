/**
 * Files that processes change through memory. The kernel notes a time of change when a clean page is first written to,
 * and no more while it is dirty: what is found by its time would be found once, and what is stored in it later never. So
 * pages that were copied are made clean, and the next store is noted again.
 */
import { closeSync, constants, fsyncSync, openSync, readFileSync } from 'node:fs'

/** Folders of a view, as its own mount namespace names them, and where what is written there is on the host. */
export interface Written {
  inside: string
  upper: string
}

/**
 * Writes back what these processes have mapped and may write to. They stand still meanwhile.
 * @param pids as the host numbers them
 */
export function cleanMapped(pids: readonly number[], written: readonly Written[]): void {
  for (const path of new Set(pids.flatMap(sharedMappings))) {
    const place = written.find(({ inside }) => path.startsWith(`${inside}/`))
    if (place) writeBack(`${place.upper}${path.slice(place.inside.length)}`)
  }
}

/** Files that a process has mapped shared and for writing, as paths of its mount namespace. */
export function sharedMappings(pid: number): string[] {
  return (
    mapsOf(pid)
      .split('\n')
      .flatMap((line) => /^\S+ .w.s \S+ \S+ [1-9]\d* +(\/.*)$/.exec(line)?.[1] ?? [])
      // A newline in a name is shown so, and so are these four characters themselves.
      .flatMap((path) => (path.includes('\\012') ? [path, path.replaceAll('\\012', '\n')] : [path]))
  )
}

function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}

/** @param path one character per byte */
function writeBack(path: string): void {
  let fd: number
  try {
    fd = openSync(Buffer.from(path, 'latin1'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    // It has lost its name since, has become something else, or lies in a folder that was closed to us.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return
    throw error
  }
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
