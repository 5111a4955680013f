/** Prepares what a commit will put in place: each entry as it is to be, under its number in `new`. */
import { execFile } from 'node:child_process'
import { chmodSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ByteString, type ReadState, type Sandbox, toBytes } from '../sandbox/index.ts'
import { isFolder, type Seen, seenOf } from './host-tree.ts'
import type { PlanEntry } from './plan.ts'
import type { ModeChange, Replacement, Work } from './steps.ts'

const run = promisify(execFile)

const ENTRIES_PER_TURN = 200
const PERMISSIONS = 0o1777
/** While it is filled, a folder is open to us. */
const OWNER_ALL = 0o700
/** Of folders that the host has no more and the sandbox says nothing of. */
const PLAIN_FOLDER = 0o755

/** A folder that is missing on the way to an entry, or the wrong thing that is in its place. */
export interface MissingFolder {
  path: ByteString
  host: Seen | null
}

export interface Preparing {
  /** With `new` and `old`. */
  folder: string
  workspace: string
  /** The workspace folder itself. */
  root: Seen
  /** Whom what arrives belongs to; null where it can be nobody but this user. */
  owner: { uid: number; gid: number } | null
  sandbox: Sandbox
  /** Where the files are taken from. */
  state: ReadState
}

/**
 * @param entries that are to be written
 * @param missing folders to be made beside them
 * @returns what is to be done
 * @throws what {@link Sandbox.extract} throws, the system's ENOSPC
 */
export async function prepare(
  entries: readonly PlanEntry[],
  missing: readonly MissingFolder[],
  { folder, workspace, root, owner, sandbox, state }: Preparing,
): Promise<Work> {
  const modes: ModeChange[] = []
  const replaced: PlanEntry[] = []
  for (const entry of entries) {
    const change = modeChangeOf(entry)
    if (change === null) replaced.push(entry)
    else modes.push(change)
  }
  // Files first: they are extracted under their places in the list.
  const isFile = ({ after, part }: PlanEntry) => after?.kind === 'file' && part === null
  const files = replaced.filter(isFile)
  const others = replaced.filter((entry) => !isFile(entry))
  const ordered = [...files, ...others]
  const place = (n: number): string => join(folder, 'new', String(n))
  await sandbox.extract(
    state,
    files.map(({ path }) => toBytes(path)),
    join(folder, 'new'),
  )
  const pipes = ordered.flatMap(({ after }, n) => (after?.kind === 'other' ? [place(n)] : []))
  if (pipes.length > 0) await run('mkfifo', ['--', ...pipes])

  for (const [n, { part }] of ordered.entries()) if (part) await writeFile(place(n), part.content, { flag: 'wx' })

  const finished = async (n: number, mode: number | null): Promise<Seen> => {
    const path = place(n)
    if (owner !== null) lchownSync(path, owner.uid, owner.gid)
    if (mode !== null) chmodSync(path, mode)
    if (n % ENTRIES_PER_TURN === 0) await turn()
    return seenOf(path) as Seen
  }
  const closing = (path: ByteString, seen: Seen, mode: number): void => {
    if ((seen.mode & PERMISSIONS) !== mode) modes.push({ path, seen, mode })
  }
  const replacements: Replacement[] = []
  for (const [n, { path, host, after, part, changedOnHost }] of ordered.entries()) {
    let fresh: Seen | null = null
    if (after?.kind === 'folder') {
      mkdirSync(place(n))
      fresh = await finished(n, after.mode | OWNER_ALL)
      closing(path, fresh, after.mode)
    } else if (after?.kind === 'symlink') {
      symlinkSync(Buffer.from(after.target ?? []), place(n))
      fresh = await finished(n, null)
    } else if (after !== null) fresh = await finished(n, after.mode)
    const isMerged = part !== null && !Buffer.from(part.content).equals(part.committed)
    const edited = changedOnHost || isMerged ? { edited: { old: changedOnHost, fresh: isMerged } } : {}
    replacements.push({ path, old: host, fresh, ...edited })
  }
  for (const { path, host } of missing) {
    const n = replacements.length
    mkdirSync(place(n))
    replacements.push({ path, old: host, fresh: await finished(n, PLAIN_FOLDER) })
  }
  return { workspace, root, replacements, modes }
}

/** Where the entry stays, and its permissions alone are others. */
function modeChangeOf({ path, change, after, host, conflict, part }: PlanEntry): ModeChange | null {
  if (after === null || host === null || part !== null) return null
  const isOnlyMode = change.status === 'mode' && after.kind === 'file' && conflict === null
  const stays = isFolder(host) ? after.kind === 'folder' : isOnlyMode
  return stays && sameFormat(after.format, host) ? { path, seen: host, mode: after.mode } : null
}

const FORMAT_BITS = 0o170000
const sameFormat = (format: number, { mode }: Seen): boolean => (mode & FORMAT_BITS) === format
