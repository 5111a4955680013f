/**
 * Carries out what was prepared: all of it, or none. Each entry is looked at right before it is touched, and again once
 * it is out of everybody's reach; where it is another than was seen, all that was done is taken back.
 */
import { chmodSync, closeSync, linkSync, lstatSync, openSync, readdirSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { CommitConflictError, DiskFullError, InvalidPathError } from '../contract/index.ts'
import { type ByteString, readableBytes, toBytes } from '../sandbox/index.ts'
import { crashPoint } from '../store/index.ts'
import { FOLDER_FLAGS, HostTree, isFolder, isSame, seenOf } from './host-tree.ts'
import { type ModeChange, type Replacement, type Step, stepsOf, type Work } from './steps.ts'

/** Between two of these the host can answer others: a few milliseconds. */
const STEPS_PER_TURN = 100
const PERMISSIONS = 0o7777
const OWNER_ALL = 0o700

/**
 * Does what is not done yet; a run that was interrupted is gone on with.
 * @param folder where `new` and `old` stand, on the workspace's file system
 * @throws CommitConflictError where an entry was changed meanwhile, DiskFullError, InvalidPathError: everything on the
 *   host is as it was then, or the message says where what it had is kept
 */
export async function apply(work: Work, folder: string): Promise<void> {
  const tree = openTree(work)
  try {
    const runner = new Runner(tree, folder)
    try {
      await inTurns(stepsOf(work), (step) => runner.carryOut(step))
    } catch (error) {
      const strays = await takeBackWith(work, runner)
      throw explained(error, strays, folder)
    }
  } finally {
    tree.close()
  }
}

/**
 * Takes back what an interrupted run did.
 * @returns paths that others changed since, which are left as they are
 * @throws InvalidPathError where another folder, or none, is in the workspace's place
 */
export async function takeBack(work: Work, folder: string): Promise<string[]> {
  const tree = openTree(work)
  try {
    return (await takeBackWith(work, new Runner(tree, folder))).map((path) => readableBytes(toBytes(path)))
  } finally {
    tree.close()
  }
}

/** In the reverse order. @returns paths that were changed by others meanwhile, and left */
async function takeBackWith(work: Work, runner: Runner): Promise<ByteString[]> {
  const strays: ByteString[] = []
  await inTurns(stepsOf(work).toReversed(), (step) => {
    try {
      if (!runner.takeBack(step)) strays.push(step.do === 'mode' ? step.change.path : step.replacement.path)
    } catch {
      strays.push(step.do === 'mode' ? step.change.path : step.replacement.path)
    }
  })
  return [...new Set(strays)]
}

async function inTurns(steps: readonly Step[], act: (step: Step) => void): Promise<void> {
  for (const [index, step] of steps.entries()) {
    act(step)
    if (index % STEPS_PER_TURN === STEPS_PER_TURN - 1) await turn()
  }
}

/** @throws InvalidPathError where another folder, or none, is in the workspace's place */
function openTree({ workspace, root }: Work): HostTree {
  const tree = unlessGone(() => new HostTree(workspace))
  if (tree !== null && isSame(tree.root, root)) return tree
  tree?.close()
  throw movedAway(workspace)
}

export const movedAway = (workspace: string): InvalidPathError =>
  new InvalidPathError(`${workspace} was moved, removed or replaced on the host.`, {
    nextStep: 'Put the folder back in its place, then commit again.',
    data: { path: workspace },
  })

/** An entry that is another than was seen. */
class Moved extends Error {
  readonly path: ByteString

  constructor(path: ByteString) {
    super(`${readableBytes(toBytes(path))} was changed on the host meanwhile`)
    this.path = path
  }
}

class Runner {
  readonly #tree: HostTree
  readonly #old: (n: number) => string
  readonly #new: (n: number) => string

  constructor(tree: HostTree, folder: string) {
    this.#tree = tree
    this.#old = (n) => join(folder, 'old', String(n))
    this.#new = (n) => join(folder, 'new', String(n))
  }

  carryOut(step: Step): void {
    if (step.do === 'mode') this.#mode(step.change)
    else if (step.do === 'take') this.#take(step.replacement, this.#old(step.n))
    else this.#put(step.replacement, this.#new(step.n))
  }

  /** @returns false where others changed the entry since: it is left as it is */
  takeBack(step: Step): boolean {
    if (step.do === 'mode') {
      this.#modeBack(step.change)
      return true
    }
    const { replacement, n } = step
    if (step.do === 'take') return this.#giveBack(replacement, this.#old(n))
    // What was there before is nowhere any more: better what was put than nothing.
    if (replacement.old !== null && !exists(this.#old(n)) && !exists(this.#new(n))) return false
    return this.#putBack(replacement, this.#new(n))
  }

  #take({ path, old }: Replacement, to: string): void {
    if (!exists(to)) {
      const from = this.#tree.at(path)
      if (from === null || !isSame(seenOf(from), old)) throw new Moved(path)
      this.#opened(path, from, () => renameSync(from, to))
      this.#tree.forget()
      crashPoint('commit:taken')
    }
    // Between the look and the rename it may have been replaced, or a folder filled.
    const isEmptied = old !== null && isFolder(old) ? readdirSync(to).length === 0 : true
    if (!isSame(seenOf(to), old) || !isEmptied) throw new Moved(path)
  }

  #put({ path, fresh }: Replacement, from: string): void {
    if (!exists(from)) return
    if (isSame(this.#tree.look(path), fresh)) unlinkSync(from)
    else this.#place(from, path)
    crashPoint('commit:put')
  }

  #putBack({ path, fresh }: Replacement, to: string): boolean {
    const from = this.#tree.at(path)
    const isThere = from !== null && isSame(seenOf(from), fresh)
    if (exists(to)) {
      // Ended between its link and the end of its other name.
      if (isThere) unlinkSync(from)
      return true
    }
    if (!isThere) return false
    if (fresh !== null && isFolder(fresh) && readdirSync(from).length > 0) return false
    this.#opened(path, from, () => renameSync(from, to))
    this.#tree.forget()
    return true
  }

  #giveBack({ path }: Replacement, from: string): boolean {
    if (!exists(from)) return true
    try {
      this.#place(from, path)
      return true
    } catch (error) {
      if (error instanceof Moved) return false
      throw error
    }
  }

  /** Moves an entry to its place in the workspace, where nothing may be. @throws Moved where something is */
  #place(from: string, path: ByteString): void {
    const to = this.#tree.at(path)
    if (to === null) throw new Moved(path)
    if (!isFolder(lstatSync(from))) {
      try {
        // Refused where something is there, which a rename would replace.
        this.#opened(path, null, () => linkSync(from, to))
        unlinkSync(from)
        return
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EEXIST') throw new Moved(path)
        if (!NO_LINKS.has(code ?? '')) throw error
      }
    }
    if (seenOf(to) !== null) throw new Moved(path)
    this.#opened(path, from, () => renameSync(from, to))
    this.#tree.forget()
  }

  /**
   * Where a folder on the host is closed to its own user, it is opened for the moment that something is done in it; one
   * that is moved itself has to be open, too.
   * @param moved what is moved, where that may be a folder
   */
  #opened(path: ByteString, moved: string | Buffer | null, act: () => void): void {
    try {
      act()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
      // Not looked for anew: what `act` was given the address of stands in this very one, as it is open now.
      const parent = path.includes('/') ? this.#tree.parent : null
      const closed = [parent, moved].flatMap((folder) => {
        const seen = folder && seenOf(folder)
        return folder && seen && isFolder(seen) && (seen.mode & OWNER_ALL) !== OWNER_ALL ? [{ folder, seen }] : []
      })
      if (closed.length === 0) throw error
      // By descriptor: the name of what is moved is another one afterwards.
      const held = closed.map(({ folder, seen }) => ({ fd: openSync(folder, FOLDER_FLAGS), seen }))
      try {
        for (const { fd, seen } of held) chmodSync(`/proc/self/fd/${fd}/.`, (seen.mode & PERMISSIONS) | OWNER_ALL)
        act()
      } finally {
        for (const { fd, seen } of held.toReversed()) {
          chmodSync(`/proc/self/fd/${fd}/.`, seen.mode & PERMISSIONS)
          closeSync(fd)
        }
      }
    }
  }

  #mode({ path, seen, mode }: ModeChange): void {
    const address = this.#tree.at(path)
    const now = address && seenOf(address)
    if (address === null || now === null || now.ino !== seen.ino) throw new Moved(path)
    if ((now.mode & PERMISSIONS) === mode) return
    if (now.mode !== seen.mode) throw new Moved(path)
    chmodSync(address, mode)
  }

  /** Of an entry that is there, and is the one that was seen; a new one goes with its permissions. */
  #modeBack({ path, seen, mode }: ModeChange): void {
    const address = this.#tree.at(path)
    const now = address && seenOf(address)
    if (address === null || now?.ino !== seen.ino || (now.mode & PERMISSIONS) !== mode) return
    chmodSync(address, seen.mode & PERMISSIONS)
  }
}

/** File systems without hard links, files with as many as they can have, and those that may not be linked. */
const NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK'])

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** What went wrong, and what stands now. */
function explained(error: unknown, strays: readonly ByteString[], folder: string): Error {
  const names = strays.map((path) => readableBytes(toBytes(path)))
  const kept =
    names.length === 0
      ? 'Everything on the host is as it was.'
      : `Others changed ${listed(names)} meanwhile, which was left as it is; what the host had there is kept in ${folder}.`
  const data = { conflicts: [], obstacles: [], sessions: [], strays: names }
  if (error instanceof Moved)
    return new CommitConflictError(`${error.message}, so nothing was committed. ${kept}`, {
      nextStep: 'Look at the commit again: it shows what the host has now.',
      data: { ...data, path: readableBytes(toBytes(error.path)) },
    })
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DiskFullError(`There is no space left on the workspace's disk, so nothing was committed. ${kept}`, {
      nextStep: 'Free some space, then commit again.',
      data,
      cause: error,
    })
  return new InvalidPathError(`The host's folder could not be written: ${message}. ${kept}`, {
    nextStep: 'Check the rights of the workspace and what is in it, then commit again.',
    data,
    cause: error,
  })
}

const listed = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')

function unlessGone<T>(open: () => T): T | null {
  try {
    return open()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null
    throw error
  }
}
