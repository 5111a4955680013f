/**
 * What of a commit's preview a person wants written, and how it is asked for. A repository is one row: it is taken whole or
 * not at all. What is in conflict stays as the host has it until somebody says otherwise.
 */
import type { ChosenPath, CommitEntry, CommitPreview } from '../../src-main/contract/index.ts'

export interface Row {
  /** Unique in a preview. */
  key: string
  path: ChosenPath
  /** What the row stands for: one entry, or all in a folder named `.git`. */
  entries: readonly CommitEntry[]
}

/** Keys of the rows that are otherwise than they are at first. */
export type Turned = ReadonlySet<string>

export interface Request {
  /** null: everything, also what the preview had no room for. */
  paths: ChosenPath[] | null
  force: boolean
  skipConflicts: boolean
}

const GIT = /^(?:.*\/)?\.git(?=\/|$)/s

export function rowsOf({ entries }: Pick<CommitPreview, 'entries'>): Row[] {
  const rows = new Map<string, Row & { entries: CommitEntry[] }>()
  for (const entry of entries) {
    const bytes = byteString(entry)
    const git = GIT.exec(bytes)?.[0]
    const row = rows.get(git ?? bytes)
    if (row) row.entries.push(entry)
    else rows.set(git ?? bytes, { key: git ?? bytes, path: pathOf(entry, git), entries: [entry] })
  }
  return [...rows.values()]
}

/** One character per byte, so that a folder's path begins those of all in it. */
const byteString = ({ path, rawPath }: ChosenPath): string =>
  rawPath === null
    ? Array.from(new TextEncoder().encode(path), (byte) => String.fromCharCode(byte)).join('')
    : atob(rawPath)

/** @param git the repository that it lies in */
function pathOf({ path, rawPath }: ChosenPath, git: string | undefined): ChosenPath {
  if (git === undefined) return { path, rawPath }
  return { path: GIT.exec(path)?.[0] ?? path, rawPath: rawPath === null ? null : btoa(git) }
}

export const isBlocked = ({ entries }: Row): boolean => entries.some(({ obstacle }) => obstacle !== null)

/** Where both sides changed, so that one of the two has to give way. */
export const isContested = (row: Row): boolean =>
  !isBlocked(row) && row.entries.some(({ conflict }) => conflict !== null)

/** Whether the sandbox's side can be had: what it never saw is not removed for it. */
export const canBeTaken = (row: Row): boolean =>
  !isBlocked(row) && row.entries.every(({ conflict }) => conflict !== 'folder-in-use')

export function isChosen(row: Row, turned: Turned): boolean {
  if (!canBeTaken(row)) return false
  return isContested(row) === turned.has(row.key)
}

/**
 * @param insist has it written also where another session cannot keep what it shows of the workspace
 * @returns null where nothing is chosen
 */
export function requestFor(rows: readonly Row[], turned: Turned, insist = false): Request | null {
  const chosen = rows.filter((row) => isChosen(row, turned))
  if (chosen.length === 0) return null
  const contested = rows.filter((row) => isContested(row) || isBlocked(row))
  const force = insist || chosen.some(isContested)
  const isAllElse = rows.every((row) => contested.includes(row) || isChosen(row, turned))
  // Each of these also holds for what the preview had no room for.
  if (isAllElse && !force) return { paths: null, force: false, skipConflicts: contested.length > 0 }
  if (chosen.length === rows.length) return { paths: null, force, skipConflicts: false }
  const left = rows.filter((row) => !chosen.includes(row))
  // A folder stands for all in it, so it can be named only where all of that is chosen.
  const named = chosen.filter(({ key }) => !left.some((row) => row.key.startsWith(`${key}/`)))
  return { paths: named.map(({ path }) => path), force, skipConflicts: false }
}
