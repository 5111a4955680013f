/**
 * What of a commit's preview a person wants written, and how it is asked for. A repository is one row: it is taken whole or
 * not at all. What is in conflict stays as the host has it until somebody says otherwise.
 */
import type { ChosenHunks, ChosenPath, CommitEntry, CommitPreview, FileCounts } from '../../src-main/contract/index.ts'
import { keyOf } from '../changes/path-key.ts'

export interface Row {
  /** Unique in a preview. */
  key: string
  path: ChosenPath
  /** What the row stands for: one entry, or all in a folder named `.git`. */
  entries: readonly CommitEntry[]
}

/** Keys of the rows that are otherwise than they are at first. */
export type Turned = ReadonlySet<string>

/** Of a file some of its hunks, by the key of its row; one that is not here goes whole, or not at all. */
export type Picks = ReadonlyMap<string, Picked>

export interface Picked {
  /** Names of the hunks that go to the host. */
  take: ReadonlySet<string>
  /** How many there are. */
  of: number
}

const noPicks: Picks = new Map()

export interface Request {
  /** null: everything, also what the preview had no room for. */
  paths: ChosenPath[] | null
  /** Go before the paths. */
  hunks: ChosenHunks[]
  force: boolean
  skipConflicts: boolean
}

const GIT = /^(?:.*\/)?\.git(?=\/|$)/s

export function rowsOf({ entries }: Pick<CommitPreview, 'entries'>): Row[] {
  const rows = new Map<string, Row & { entries: CommitEntry[] }>()
  for (const entry of entries) {
    const bytes = keyOf(entry)
    const git = GIT.exec(bytes)?.[0]
    const row = rows.get(git ?? bytes)
    if (row) row.entries.push(entry)
    else rows.set(git ?? bytes, { key: git ?? bytes, path: pathOf(entry, git), entries: [entry] })
  }
  return [...rows.values()]
}

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

/** Whether hunks of it can be looked for; for all that is known before, there may be none. */
export const mayHaveHunks = ({ entries: [first, second] }: Row): boolean =>
  !!first &&
  !second &&
  first.kind === 'file' &&
  first.status === 'modified' &&
  first.obstacle === null &&
  (first.conflict === null || first.conflict === 'both-changed')

/** `some`: of a file some hunks; of one that both changed also all of them, as they go into what the host has. */
export function chosenOf(row: Row, turned: Turned, picks: Picks = noPicks): 'all' | 'some' | 'none' {
  if (!canBeTaken(row)) return 'none'
  const pick = picks.get(row.key)
  if (pick) {
    if (pick.take.size === 0) return 'none'
    return pick.take.size === pick.of && !isContested(row) ? 'all' : 'some'
  }
  return isContested(row) === turned.has(row.key) ? 'all' : 'none'
}

/** Of what a commit would write, what was chosen. */
export function countsOf(preview: CommitPreview, rows: readonly Row[], turned: Turned, picks: Picks): FileCounts {
  const counts = { ...preview.counts }
  for (const row of rows) {
    if (chosenOf(row, turned, picks) !== 'none') continue
    for (const { kind, status } of row.entries) {
      if (kind === 'folder' && status !== 'type') continue
      counts[kind === 'folder' ? 'deleted' : status === 'added' || status === 'deleted' ? status : 'modified']--
    }
  }
  return counts
}

/**
 * @param insist has it written also where another session cannot keep what it shows of the workspace
 * @returns null where nothing is chosen
 */
export function requestFor(
  rows: readonly Row[],
  turned: Turned,
  picks: Picks = noPicks,
  insist = false,
): Request | null {
  const how = (row: Row) => chosenOf(row, turned, picks)
  const chosen = rows.filter((row) => how(row) === 'all')
  const partly = rows.filter((row) => how(row) === 'some')
  if (chosen.length + partly.length === 0) return null
  const hunks = partly.map(({ path, key }) => ({ ...path, take: [...(picks.get(key)?.take ?? [])] }))
  const undecided = rows.filter((row) => (isContested(row) || isBlocked(row)) && how(row) !== 'some')
  const force = insist || chosen.some(isContested)
  const isAllElse = rows.every((row) => undecided.includes(row) || how(row) !== 'none')
  // Each of these also holds for what the preview had no room for.
  if (isAllElse && !force) return { paths: null, hunks, force: false, skipConflicts: undecided.length > 0 }
  const left = rows.filter((row) => how(row) === 'none')
  if (left.length === 0) return { paths: null, hunks, force, skipConflicts: false }
  // A folder stands for all in it, so it can be named only where all of that is chosen.
  const named = chosen.filter(({ key }) => !left.some((row) => row.key.startsWith(`${key}/`)))
  return { paths: named.map(({ path }) => path), hunks, force, skipConflicts: false }
}
