/**
 * What a commit would do, entry by entry: the difference between what was last committed and what is to be, set against
 * what the host has there now. Nothing is written here.
 */
import { constants } from 'node:fs'
import type { Change, ConflictKind, ObstacleKind } from '../contract/index.ts'
import { type ByteString, type EntryFacts, type Meeting, toByteString } from '../sandbox/index.ts'
import { type HostTree, isFolder, type Seen } from './host-tree.ts'
import type { Part } from './hunks.ts'

/** One path that is to be written. */
export interface PlanEntry {
  path: ByteString
  change: Change
  /** What is to be there; null for nothing. */
  after: EntryFacts | null
  /** What is there; null for nothing. */
  host: Seen | null
  /** Whether that is another than the session began from, or wrote last. */
  changedOnHost: boolean
  /** What of it arrives, where that is not all. */
  part: Part | null
  conflict: ConflictKind | null
  obstacle: ObstacleKind | null
  warning: string | null
}

export interface Plan {
  /** Sorted by path. */
  entries: PlanEntry[]
  /** Paths that differ and are not written: not chosen, or of a repository that both sides changed. */
  left: ByteString[]
  /** Folders named .git that were changed on both sides: nothing of them is written. */
  apart: ByteString[]
}

/** A change, and all that is known of its path. */
export interface Candidate {
  change: Change
  meeting: Meeting
  /** What the host has there, seen before anything else was asked: a later edit is met when it is replaced. */
  host: Seen | null
  /** Whether the host's entry is another than the session began from, or wrote last. */
  changedOnHost: boolean
  /** The mode of what the session began from there, or wrote last; null for nothing. */
  was: number | null
  /** The hunks that were chosen of it. */
  part: Part | null
}

export interface PlanOptions {
  tree: HostTree
  /** Whether anything of a folder named .git was changed on the host. */
  unitChanged: (unit: ByteString) => boolean
  /** Whether a file named .git leads to a repository outside the workspace. */
  leadsOut: (path: ByteString) => boolean
  /** What a person chose, folders for all in them; null for everything. */
  chosen: readonly ByteString[] | null
  /** What they chose nothing of. */
  declined: ReadonlySet<ByteString>
  /** The workspace as the sandbox has it, and as the host has it. */
  roots: readonly string[]
}

/** What the kernel takes as one path, less what leads to the workspace. */
const LONGEST_PATH = 3_500
const LONGEST_NAME = 255
const PERMISSIONS = 0o1777

/** @param candidates sorted by path */
export function planCommit(candidates: readonly Candidate[], options: PlanOptions): Plan {
  const { tree } = options
  const pending = candidates.filter(isPending)
  const apart = new Set<ByteString>()
  for (const { change } of pending) {
    const unit = unitOf(bytesOf(change))
    if (unit !== null && !apart.has(unit) && isFolderThere(tree, unit) && options.unitChanged(unit)) apart.add(unit)
  }
  const isWanted = chooser(pending, options.chosen)
  const plan: Plan = { entries: [], left: [], apart: [...apart] }
  /** Folders that the commit makes, and what stands against each. */
  const coming = new Map<ByteString, ConflictKind | null>()
  for (const candidate of pending) {
    const path = bytesOf(candidate.change)
    const unit = unitOf(path)
    if (unit !== null && apart.has(unit)) {
      plan.left.push(path)
      continue
    }
    if (!isWanted(path) || options.declined.has(path)) {
      plan.left.push(path)
      continue
    }
    const entry = entryOf(path, candidate, options, coming)
    if (entry.after?.kind === 'folder') coming.set(path, entry.conflict)
    plan.entries.push(entry)
  }
  const inUse = foldersInUse(plan.entries, tree, ({ conflict, obstacle }) => conflict === null && obstacle === null)
  for (const entry of plan.entries) if (inUse.has(entry.path)) entry.conflict ??= 'folder-in-use'
  return plan
}

/** Whether the host lacks it. */
export const isPending = (candidate: Candidate): boolean =>
  candidate.change.path !== '.' && !candidate.meeting.arrived && !isUntouched(candidate)

export const bytesOf = ({ path, rawPath }: Pick<Change, 'path' | 'rawPath'>): ByteString =>
  toByteString(rawPath === null ? path : Buffer.from(rawPath, 'base64'))

/**
 * Folders that cannot be taken away: they can only go with all that is in them, and they hold what the sandbox never saw.
 * @param goes whether an entry is among those that will be written
 */
export function foldersInUse(
  entries: readonly PlanEntry[],
  tree: HostTree,
  goes: (entry: PlanEntry) => boolean,
): Set<ByteString> {
  const going = new Set<ByteString>()
  const inUse = new Set<ByteString>()
  // What lies in a folder is judged before it.
  for (const entry of entries.toReversed()) {
    const { path, host, after } = entry
    const isTaken = host !== null && isFolder(host) && after?.kind !== 'folder'
    if (isTaken && tree.names(path).some((name) => !going.has(`${path}/${name}`))) inUse.add(path)
    else if (after === null && goes(entry)) going.add(path)
  }
  return inUse
}

function entryOf(
  path: ByteString,
  candidate: Candidate,
  options: PlanOptions,
  coming: ReadonlyMap<ByteString, ConflictKind | null>,
): PlanEntry {
  const { tree } = options
  const { host, changedOnHost, part } = candidate
  const after = part ? partly(part, host) : candidate.meeting.after
  const change = part ? editOf(candidate.change, part) : candidate.change
  const obstacle = obstacleOf(path, after, options)
  // Whoever chooses hunks has seen what the host has there.
  const conflict = obstacle === 'too-long' || part ? null : conflictOf({ path, after, host }, candidate, tree, coming)
  const warning = warningOf(path, change, after, options.roots)
  return { path, change, after, host, changedOnHost, part, conflict, obstacle, warning }
}

/** The lines alone arrive: permissions are as the host has them, until the rest is committed. */
const partly = ({ content }: Part, host: Seen | null): EntryFacts => ({
  kind: 'file',
  mode: (host?.mode ?? 0) & PERMISSIONS,
  format: constants.S_IFREG,
  size: content.length,
  target: null,
})

const editOf = ({ modes, ...change }: Change, { content }: Part): Change => ({
  ...change,
  status: 'modified',
  after: content.length,
  ...(modes ? { modes: { before: modes.before, after: modes.before } } : {}),
})

function conflictOf(
  { path, after, host }: Pick<PlanEntry, 'path' | 'after' | 'host'>,
  { changedOnHost, was }: Candidate,
  tree: HostTree,
  coming: ReadonlyMap<ByteString, ConflictKind | null>,
): ConflictKind | null {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const hasNoFolder = coming.has(parent) ? coming.get(parent) !== null : tree.at(path) === null
  if (after !== null && hasNoFolder) return 'no-folder'
  if (!changedOnHost) return null
  if (after === null) return host === null ? null : 'changed-on-host'
  if (host === null) return was === null ? null : 'deleted-on-host'
  if (formatOf(host.mode) === after.format) return was === null ? 'both-added' : 'both-changed'
  // Where the sandbox itself turned it into another kind, the host may well have the old one.
  return was !== null && formatOf(host.mode) === formatOf(was) ? 'both-changed' : 'other-kind'
}

/** Of what shows the host's own entry: whether the session has left it as it was, whatever the host made of it since. */
function isUntouched({ meeting: { host, after }, was }: Candidate): boolean {
  if (host !== 'shown') return false
  if (after === null) return was === null
  return (
    after.kind === 'folder' && was !== null && (was & (constants.S_IFMT | PERMISSIONS)) === (after.format | after.mode)
  )
}

const formatOf = (mode: number): number => mode & constants.S_IFMT

function obstacleOf(path: ByteString, after: EntryFacts | null, { tree, leadsOut }: PlanOptions): ObstacleKind | null {
  if (path.length > LONGEST_PATH || path.split('/').some((name) => name.length > LONGEST_NAME)) return 'too-long'
  if (after?.kind === 'other' && after.format !== constants.S_IFIFO) return 'special'
  if (tree.isMounted(path)) return 'mount'
  const isGitFile = path === '.git' || path.endsWith('/.git')
  return isGitFile && after?.kind === 'file' && leadsOut(path) ? 'linked-repository' : null
}

const SET_ID_BITS = 0o6000
/** What git runs, or reads its orders from. */
const ORDERS = /(^|\/)\.git\/((modules\/.*)?(hooks\/.|config$|config\.worktree$|info\/attributes$))/

function warningOf(
  path: ByteString,
  change: Change,
  after: EntryFacts | null,
  roots: readonly string[],
): string | null {
  if (after === null) return null
  if (after.target !== null && leadsOutside(path, after.target, roots))
    return 'a symlink that leads out of the workspace'
  if (ORDERS.test(path)) return 'git on this machine runs, or obeys, what it says'
  if (after.kind === 'file' && ((change.modes?.after ?? 0) & SET_ID_BITS) !== 0)
    return 'arrives without setuid and setgid'
  return null
}

function leadsOutside(path: ByteString, target: Uint8Array, roots: readonly string[]): boolean {
  const text = toByteString(target)
  if (text.startsWith('/'))
    return !roots.some((root) => text === toByteString(root) || text.startsWith(`${toByteString(root)}/`))
  let depth = path.split('/').length - 1
  for (const part of text.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}

/** The folder named .git that a path is, or lies in: a repository is taken whole or not at all. */
export function unitOf(path: ByteString): ByteString | null {
  const found = /(^|\/)\.git(\/|$)/.exec(path)
  return found && path.slice(0, found.index + found[0].replace(/\/$/, '').length)
}

function isFolderThere(tree: HostTree, path: ByteString): boolean {
  const seen = tree.look(path)
  return seen !== null && isFolder(seen)
}

/** With a path that is chosen go the folders that it needs, and the rest of a repository. */
function chooser(pending: readonly Candidate[], chosen: readonly ByteString[] | null): (path: ByteString) => boolean {
  if (chosen === null) return () => true
  const isBeneath = (path: ByteString) => chosen.some((one) => path === one || path.startsWith(`${one}/`))
  const needed = new Set<ByteString>()
  const units = new Set<ByteString>()
  for (const { change, meeting } of pending) {
    const path = bytesOf(change)
    if (!isBeneath(path)) continue
    const unit = unitOf(path)
    if (unit !== null) units.add(unit)
    if (meeting.after === null) continue
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) needed.add(path.slice(0, at))
  }
  return (path) => {
    const unit = unitOf(path)
    return isBeneath(path) || needed.has(path) || (unit !== null && units.has(unit))
  }
}
