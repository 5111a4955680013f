/**
 * What is done to the host's folder, in order, and how far that went. Every step is one rename or one link within a file
 * system, and leaves a trace: what was taken away stands as `old/N` beside the workspace, what is still to be put there
 * as `new/N`. So whoever comes after a crash sees which steps were done, and goes on or goes back.
 */
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteString } from '../sandbox/index.ts'
import { isFolder, type Seen } from './host-tree.ts'

/** One path: what is there, and what is to be. */
export interface Replacement {
  path: ByteString
  /** What is taken away; null where there is nothing. */
  old: Seen | null
  /** What is put there, as it stands prepared; null where nothing is. */
  fresh: Seen | null
  /** Whether either of them holds edits of others: it is never taken for what the session wrote itself. */
  edited?: { old: boolean; fresh: boolean }
}

/** Permissions of an entry that stays. */
export interface ModeChange {
  path: ByteString
  seen: Seen
  mode: number
}

/** As it is written beside the workspace before anything is done. */
export interface Work {
  workspace: string
  /** The workspace folder itself. */
  root: Seen
  /** Their place in this list is the N of `old/N` and `new/N`. */
  replacements: Replacement[]
  modes: ModeChange[]
}

export type Step =
  | { do: 'take'; n: number; replacement: Replacement }
  | { do: 'put'; n: number; replacement: Replacement }
  | { do: 'mode'; change: ModeChange }

/** What goes is taken from the innermost on, what comes is put from the outermost on; a file is replaced in one go. */
export function stepsOf({ replacements, modes }: Work): Step[] {
  const sorted = replacements.map((replacement, n) => ({ n, replacement })).sort(byPath)
  const isSwap = ({ old, fresh }: Replacement) => old !== null && fresh !== null && !isFolder(old) && !isFolder(fresh)
  const takes = sorted.filter(({ replacement }) => replacement.old !== null && !isSwap(replacement)).toReversed()
  const puts = sorted.filter(({ replacement }) => replacement.fresh !== null)
  const mode = (change: ModeChange): Step => ({ do: 'mode', change })
  return [
    // Before anything is done in a folder that was closed to its owner; one is closed when all is done.
    ...modes.filter(opens).map(mode),
    ...takes.map((one): Step => ({ do: 'take', ...one })),
    ...puts.flatMap((one): Step[] =>
      isSwap(one.replacement)
        ? [
            { do: 'take', ...one },
            { do: 'put', ...one },
          ]
        : [{ do: 'put', ...one }],
    ),
    ...modes.filter((change) => !opens(change)).map(mode),
  ]
}

const WORK = 'work.json'

export function writeWork(folder: string, work: Work): void {
  writeFileSync(join(folder, WORK), JSON.stringify(work), { flush: true })
}

/** @returns null where it was never written whole: nothing was done then */
export async function readWork(folder: string): Promise<Work | null> {
  try {
    return JSON.parse(await readFile(join(folder, WORK), 'utf8')) as Work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

const OWNER_WRITES = 0o300

const opens = ({ seen, mode }: ModeChange): boolean => (mode & ~seen.mode & OWNER_WRITES) !== 0

const byPath = (one: { replacement: Replacement }, other: { replacement: Replacement }): number =>
  one.replacement.path < other.replacement.path ? -1 : 1
