/**
 * A database of two states: each is copied out with the write-ahead log that it had, and read by a process of its own
 * (database/). A rollback journal is never copied: playing it back writes, and opens files of the host that it names.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CancelledError, type DatabasePair, FileNotFoundError, bytes as inUnits } from '../contract/index.ts'
import { askForTables } from '../database/index.ts'
import type { ReadState, Sandbox } from '../sandbox/index.ts'
import { OneAtATime } from './one-at-a-time.ts'

/** Of a database with its log. */
const LARGEST_BYTES = 512 << 20
/** What a journal begins with while a transaction is under way. */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex')

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
  from: ReadState
  to: ReadState
  /** The data folder. */
  home: string
}

async function compare({ sandbox, path, from, to, home }: Asked, signal?: AbortSignal): Promise<DatabasePair> {
  const beside = (suffix: string) => Buffer.concat([path, Buffer.from(suffix)])
  const sizes = await sizesOf(sandbox, path, from, to)
  if (sizes === null)
    throw new FileNotFoundError('There is no such file on either side.', {
      nextStep: 'Look at the list of changed files.',
    })
  const logs = await sizesOf(sandbox, beside('-wal'), from, to)
  const largest = Math.max(total(sizes.before, logs?.before), total(sizes.after, logs?.after))
  if (largest > LARGEST_BYTES) return tooLarge(largest)

  await mkdir(placeOf(home), { recursive: true, mode: 0o700 })
  const scratch = await mkdtemp(join(placeOf(home), 'pair-'))
  try {
    /** Undefined where it has grown meanwhile. */
    const takeOut = async (side: 'before' | 'after', state: ReadState): Promise<string | null | undefined> => {
      assertWanted(signal)
      if (sizes[side] === null) return null
      const folder = join(scratch, side)
      await mkdir(folder)
      const hasLog = (logs?.[side] ?? null) !== null
      const paths = hasLog ? [path, beside('-wal')] : [path]
      if (!(await sandbox.extract(state, paths, folder, LARGEST_BYTES))) return undefined
      await rename(join(folder, '0'), join(folder, 'database'))
      if (hasLog) await rename(join(folder, '1'), join(folder, 'database-wal'))
      return join(folder, 'database')
    }
    const [before, after] = [await takeOut('before', from), await takeOut('after', to)]
    if (before === undefined || after === undefined) return tooLarge(LARGEST_BYTES)
    assertWanted(signal)
    const pair = await askForTables({ before, after }, { signal })
    assertWanted(signal)
    if (pair.kind !== 'tables') return pair
    const [was, is] = [await isHot(sandbox, beside('-journal'), from), await isHot(sandbox, beside('-journal'), to)]
    return {
      ...pair,
      notes: [...(was ? [unfinished('before')] : []), ...(is ? [unfinished('after')] : []), ...pair.notes],
    }
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

const total = (...sizes: (number | null | undefined)[]): number =>
  sizes.reduce<number>((sum, one) => sum + (one ?? 0), 0)

const unfinished = (side: 'before' | 'after'): string =>
  `A transaction was being written ${side === 'before' ? 'on the earlier side' : 'on the later side'}: what it had written by then shows.`

/** Null where neither side has such a file. */
async function sizesOf(sandbox: Sandbox, path: Uint8Array, from: ReadState, to: ReadState) {
  try {
    const pair = await sandbox.pair(path, from, to, 0)
    if (pair.kind === 'symlink') return null
    const sizeOf = (side: string | number | null) => (typeof side === 'string' ? 0 : side)
    return { before: sizeOf(pair.before), after: sizeOf(pair.after) }
  } catch (error) {
    if (error instanceof FileNotFoundError) return null
    throw error
  }
}

async function isHot(sandbox: Sandbox, journal: Uint8Array, state: ReadState): Promise<boolean> {
  try {
    const { pieces } = await sandbox.pieces(state, [journal], { index: 0, offset: 0 }, JOURNAL_MAGIC.length)
    return JOURNAL_MAGIC.equals(pieces[0]?.bytes ?? new Uint8Array())
  } catch (error) {
    if (error instanceof FileNotFoundError) return false
    throw error
  }
}
