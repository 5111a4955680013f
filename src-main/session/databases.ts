/**
 * A database of two states: each is copied out with the write-ahead log that it had, and read by a process of its own
 * (database/). A rollback journal is never copied: playing it back writes, and opens files of the host that it names.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CancelledError, type DatabasePair, FileNotFoundError, bytes as inUnits } from '../contract/index.ts'
import { askForTables } from '../database/index.ts'
import type { ReadState, Sandbox } from '../sandbox/index.ts'
import { pairOf } from './moved-files.ts'
import { OneAtATime } from './one-at-a-time.ts'

/** Of a database with its log. */
const LARGEST_BYTES = 512 << 20
/** What a journal begins with while a transaction is under way. */
const JOURNAL_MAGIC = 'd9d505f920a163d7'
/** Of each: with the number of changes in a database, and with what is new in every log. */
const BEGINNING_BYTES = 32
/** Of copying it at a moment when nothing writes it. */
const TRIES = 3

/** Of this host: each takes room on the disk, memory and a processor. */
const comparisons = new OneAtATime()

const placeOf = (home: string): string => join(home, 'databases')

/** What a host that was killed left half read. */
export const forgetDatabases = (home: string): Promise<void> => rm(placeOf(home), { recursive: true, force: true })

/**
 * @param signal calls it off, where it waits and where it reads
 * @throws FileNotFoundError where neither state has the file, DiskFullError, CancelledError
 */
export const compareStates = (asked: Asked, signal?: AbortSignal): Promise<DatabasePair> =>
  comparisons.run(() => compare(asked, signal), signal)

interface Asked {
  sandbox: Sandbox
  path: Uint8Array
  /** Where the database was before, if elsewhere. */
  was?: Uint8Array
  from: ReadState
  to: ReadState
  /** The data folder. */
  home: string
}

async function compare(
  { sandbox, path, was = path, from, to, home }: Asked,
  signal?: AbortSignal,
): Promise<DatabasePair> {
  const sizes = await sizesOf(sandbox, was, path, from, to)
  if (sizes === null)
    throw new FileNotFoundError('There is no such file on either side.', {
      nextStep: 'Look at the list of changed files.',
    })
  const logs = await sizesOf(sandbox, beside(was, '-wal'), beside(path, '-wal'), from, to)
  const largest = Math.max(total(sizes.before, logs?.before), total(sizes.after, logs?.after))
  if (largest > LARGEST_BYTES) return tooLarge(largest)

  await mkdir(placeOf(home), { recursive: true, mode: 0o700 })
  const scratch = await mkdtemp(join(placeOf(home), 'pair-'))
  try {
    const before = sizes.before === null ? null : await takeOut(sandbox, was, from, join(scratch, 'before'), signal)
    const after = sizes.after === null ? null : await takeOut(sandbox, path, to, join(scratch, 'after'), signal)
    if (before?.isWhole === false || after?.isWhole === false) return tooLarge(LARGEST_BYTES)
    const pair = await askForTables({ before: before?.file ?? null, after: after?.file ?? null }, { signal })
    assertWanted(signal)
    if (pair.kind !== 'tables') return pair
    return { ...pair, notes: [...notesOn('earlier', before), ...notesOn('later', after), ...pair.notes] }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError('The comparison was called off.', { cause: signal.reason })
}

const tooLarge = (bytes: number): DatabasePair => ({
  kind: 'unreadable',
  side: null,
  reason: `it is too large to be compared: ${inUnits(bytes)}`,
})

const beside = (path: Uint8Array, suffix: string) => Buffer.concat([path, Buffer.from(suffix)])

const total = (...sizes: (number | null | undefined)[]): number =>
  sizes.reduce<number>((sum, one) => sum + (one ?? 0), 0)

interface Copy {
  file: string
  /** False where it has grown over what is copied. */
  isWhole: boolean
  /** It was written in the middle of each try, so that parts of it may be older than others. */
  isTorn: boolean
  isHot: boolean
}

function notesOn(side: 'earlier' | 'later', copy: Copy | null): string[] {
  return [
    ...(copy?.isTorn
      ? [`It was being written while it was read: rows on the ${side} side may be of different moments.`]
      : []),
    ...(copy?.isHot ? [`A transaction was being written on the ${side} side: what it had written by then shows.`] : []),
  ]
}

/** @param folder is made */
async function takeOut(
  sandbox: Sandbox,
  path: Uint8Array,
  state: ReadState,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Copy> {
  for (let left = TRIES; ; left--) {
    assertWanted(signal)
    await mkdir(folder)
    const was = await lookAt(sandbox, path, state)
    const isWhole = await copyOut(sandbox, was.hasLog ? [path, beside(path, '-wal')] : [path], state, folder, left > 1)
    const is = state === 'now' ? await lookAt(sandbox, path, state) : was
    const isTorn = isWhole === null || is.stamp !== was.stamp
    if (isWhole === false || !isTorn || left <= 1)
      return { file: join(folder, 'database'), isWhole: isWhole !== false, isTorn, isHot: was.isHot || is.isHot }
    await rm(folder, { recursive: true })
  }
}

/** @returns false where there is too much, null where a part was gone that may be gone */
async function copyOut(
  sandbox: Sandbox,
  paths: readonly Uint8Array[],
  state: ReadState,
  folder: string,
  mayBeGone: boolean,
): Promise<boolean | null> {
  try {
    if (!(await sandbox.extract(state, paths, folder, LARGEST_BYTES))) return false
  } catch (error) {
    if (mayBeGone && error instanceof FileNotFoundError) return null
    throw error
  }
  for (const [index, name] of ['database', 'database-wal'].slice(0, paths.length).entries())
    await rename(join(folder, String(index)), join(folder, name))
  return true
}

/**
 * What tells whether it was written in between. Of its log only the beginning counts: what is appended tears nothing, as
 * the log is copied last, but one that began anew may lack what the database had not taken in when that was copied.
 */
async function lookAt(sandbox: Sandbox, path: Uint8Array, state: ReadState) {
  const database = await beginningOf(sandbox, path, state)
  const log = await beginningOf(sandbox, beside(path, '-wal'), state)
  const journal = await beginningOf(sandbox, beside(path, '-journal'), state)
  return {
    stamp: [database?.writtenAt, database?.hex, log?.hex].join(' '),
    hasLog: log !== null,
    isHot: journal?.hex.startsWith(JOURNAL_MAGIC) ?? false,
  }
}

/** Null where neither side has such a file. */
async function sizesOf(sandbox: Sandbox, was: Uint8Array, path: Uint8Array, from: ReadState, to: ReadState) {
  try {
    const pair = await pairOf(sandbox, was === path ? { path } : { path, was }, from, to, 0)
    if (pair.kind === 'symlink') return null
    const sizeOf = (side: string | number | null) => (typeof side === 'string' ? 0 : side)
    return { before: sizeOf(pair.before), after: sizeOf(pair.after) }
  } catch (error) {
    if (error instanceof FileNotFoundError) return null
    throw error
  }
}

/** Null where there is no such file. */
async function beginningOf(sandbox: Sandbox, path: Uint8Array, state: ReadState) {
  try {
    const { pieces } = await sandbox.pieces(state, [path], { index: 0, offset: 0 }, BEGINNING_BYTES)
    const { bytes = new Uint8Array(), writtenAt = 0 } = pieces[0] ?? {}
    return { hex: Buffer.from(bytes).toString('hex'), writtenAt }
  } catch (error) {
    if (error instanceof FileNotFoundError) return null
    throw error
  }
}
