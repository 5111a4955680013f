/**
 * A person's own files, changed all or none: each is written beside itself and renamed, so that whoever reads it sees
 * the old one or the new one. A link stays a link; what it leads to is changed.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { InvalidPathError, RewindError } from '../../contract/errors.ts'

/** What is to become of a file; null stands for none. */
export interface FileChange {
  path: string
  before: string | null
  after: string | null
}

/**
 * @returns its text; null where it is not there
 * @throws InvalidPathError for what is no file, leads nowhere, cannot be read or is not UTF-8
 */
export function readText(path: string): string | null {
  try {
    const bytes = readFileSync(target(path))
    const text = bytes.toString('utf8')
    if (Buffer.compare(Buffer.from(text), bytes) !== 0) throw unfit(path, 'is not UTF-8 text')
    return text
  } catch (error) {
    if (error instanceof RewindError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw unfit(path, `cannot be read (${(error as Error).message})`, error)
  }
}

/**
 * Changes them all, or none.
 * @throws InvalidPathError where one may not be written, or holds something else than it did when it was read
 */
export function writeAll(changes: readonly FileChange[]): void {
  for (const { path } of changes) mustBeWritable(path)
  const done: FileChange[] = []
  try {
    for (const change of changes) {
      if (readText(change.path) !== change.before) throw unfit(change.path, 'was changed meanwhile')
      replace(change.path, change.after)
      done.push(change)
    }
  } catch (error) {
    for (const { path, before } of done.reverse()) replace(path, before)
    if (error instanceof RewindError) throw error
    throw unfit(changes[done.length]?.path ?? '', `cannot be written (${(error as Error).message})`, error)
  }
}

/** Writes a file beside itself and renames it. @param text null removes it */
export function replace(path: string, text: string | null): void {
  const real = target(path)
  if (text === null) {
    rmSync(real, { force: true })
    return
  }
  const folder = dirname(real)
  mkdirSync(folder, { recursive: true })
  const facts = existsSync(real) ? statSync(real) : null
  const beside = join(folder, `.rewind-${process.pid}-${crypto.randomUUID()}`)
  try {
    // Settings may hold keys: a new file is for its owner alone.
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' })
    if (facts) {
      chmodSync(beside, facts.mode & 0o7777)
      if (process.getuid?.() === 0) chownSync(beside, facts.uid, facts.gid)
    }
    const file = openSync(beside, 'r')
    fsyncSync(file)
    closeSync(file)
    renameSync(beside, real)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Where a path really leads. @throws InvalidPathError for a link that leads nowhere */
function target(path: string): string {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (!facts) return path
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    throw unfit(path, 'is a link that leads nowhere', error)
  }
  if (!statSync(real).isFile()) throw unfit(path, 'is no file')
  return real
}

/** Root may write whatever is there; who made a file read-only meant it all the same. */
function mustBeWritable(path: string): void {
  const facts = statSync(target(path), { throwIfNoEntry: false })
  if (facts && (facts.mode & 0o222) === 0) throw unfit(path, 'is read-only')
}

const unfit = (path: string, what: string, cause?: unknown): InvalidPathError =>
  new InvalidPathError(`${path} ${what}; nothing was changed.`, {
    nextStep: 'See to that file, then run this again.',
    cause,
  })
