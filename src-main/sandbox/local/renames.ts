/**
 * Whether folders may have been renamed in a live layer, found out without starting a program.
 *
 * The kernel notes a renamed folder in an extended attribute, which Node cannot read, and reading it costs a fork. But
 * a folder that was renamed stands no longer where it was: there the live layer hides it, by a whiteout, by a file, or
 * by another folder. So it is enough to follow the folders that both the live layer and those below have, down to the
 * first name at which something hides a folder. That a folder hides another shows in its inode number: on one file
 * system the overlay shows a merged folder with the number of its topmost lower part. (A folder that was renamed and
 * renamed back counts as never renamed: what the kernel notes on it is its own place.)
 */
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'

/** Above this many looks (some milliseconds) the question is not answered: asking the kernel is cheaper then. */
const LOOKS = 2_000

export interface LiveLayer {
  upper: string
  /** Top first. */
  lowers: readonly string[]
  /** Where the two are mounted. */
  view: string
}

/** @returns false only where no folder was renamed. A folder removed or made anew over an old one may answer true. */
export function mayHoldRenames({ upper, lowers, view }: LiveLayer): boolean {
  let looks = 0
  const { dev } = lstatSync(upper, { bigint: true })
  const look = (folder: string, path: string): BigIntStats | undefined => {
    looks++
    return lstatSync(Buffer.from(`${folder}${path}`, 'latin1'), { bigint: true, throwIfNoEntry: false })
  }
  const search = (path: string, below: readonly string[]): boolean => {
    const entries = readdirSync(Buffer.from(`${bytes(upper)}${path}`, 'latin1'), {
      withFileTypes: true,
      encoding: 'latin1',
    })
    for (const entry of entries) {
      const inner = `${path}/${entry.name}`
      const holders: string[] = []
      let first: BigIntStats | undefined
      for (const lower of below) {
        const stat = look(lower, inner)
        if (!stat?.isDirectory()) continue
        holders.push(lower)
        first ??= stat
      }
      if (looks > LOOKS) return true
      if (first === undefined) continue
      if (!entry.isDirectory() || first.dev !== dev || look(bytes(view), inner)?.ino !== first.ino) return true
      if (search(inner, holders)) return true
    }
    return false
  }
  try {
    return search('', lowers.map(bytes))
  } catch (error) {
    // A tree that is deeper than a path may be long.
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return true
    throw error
  }
}

/** One character per byte, as the names that are read are. */
const bytes = (path: string): string => Buffer.from(path).toString('latin1')
