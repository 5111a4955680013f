/**
 * What differs between two stacks of one workspace.
 *
 * The cost follows the changes, not the workspace: where both sides merge the same folders of the same layers at
 * the end, only names in the folders above those can differ. What stands in a layer is only a candidate, as the
 * kernel copies files up for reasons that leave no difference (touch, open for writing, chmod there and back), so
 * every candidate is compared.
 */
import { setImmediate } from 'node:timers/promises'
import type { Change, ChangeStatus, EntryKind } from '../../contract/index.ts'
import type { LayerDir } from './layer-dir.ts'
import { type ByteString, join, showPath } from './names.ts'
import { sameContent } from './same-content.ts'
import { closeFolder, namesOf, type Stack, sharedTail, type TreeEntry, type TreeFolder } from './stack.ts'

/** How often a file is looked up again that went away while its bytes were compared. */
const ATTEMPTS = 3
/** Entries between two pauses, in which the process can answer others: a few milliseconds. */
const ENTRIES_PER_TURN = 500

export async function compareStacks(from: Stack, to: Stack): Promise<Change[]> {
  const comparison = new Comparison(from, to)
  await comparison.compare('', from.root(), to.root())
  return comparison.sorted()
}

class Comparison {
  readonly #from: Stack
  readonly #to: Stack
  readonly #found: { path: ByteString; change: Change }[] = []
  #steps = 0

  constructor(from: Stack, to: Stack) {
    this.#from = from
    this.#to = to
  }

  sorted(): Change[] {
    this.#found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    return this.#found.map(({ change }) => change)
  }

  async compare(path: ByteString, before: TreeEntry | null, after: TreeEntry | null): Promise<void> {
    if (before === null || after === null) {
      if (before !== null) await this.#all(path, this.#from, before, 'deleted')
      if (after !== null) await this.#all(path, this.#to, after, 'added')
    } else if (typeDiffers(before, after)) {
      this.#emit(path, 'type', before, after)
      await this.#contents(path, this.#from, before, 'deleted')
      await this.#contents(path, this.#to, after, 'added')
    } else {
      const modified = await contentDiffers(before, after)
      if (modified) this.#emit(path, 'modified', before, after)
      else if (modesDiffer(before, after)) this.#emit(path, 'mode', before, after)
      if (before.kind === 'folder' && after.kind === 'folder') await this.#folders(path, before, after)
    }
  }

  async #folders(path: ByteString, before: TreeFolder, after: TreeFolder): Promise<void> {
    const shared = sharedTail(before.parts, after.parts)
    const above = (parts: readonly LayerDir[]) => parts.slice(0, parts.length - shared)
    for (const name of namesOf([...above(before.parts), ...above(after.parts)])) {
      await this.#pause()
      await this.#child(join(path, name), before, after, name, ATTEMPTS)
    }
  }

  async #child(path: ByteString, before: TreeFolder, after: TreeFolder, name: ByteString, left: number): Promise<void> {
    const old = await this.#from.lookup(before, name)
    const now = await this.#to.lookup(after, name)
    try {
      await this.compare(path, old, now)
    } catch (error) {
      if (!(error instanceof Vanished)) throw error
      // In a live layer: look again. A file that is replaced all the time did change.
      if (left > 0) await this.#child(path, before, after, name, left - 1)
      else if (old !== null && now !== null) this.#emit(path, 'modified', old, now)
    } finally {
      closeFolder(old)
      closeFolder(now)
    }
  }

  async #all(path: ByteString, stack: Stack, entry: TreeEntry, status: 'added' | 'deleted'): Promise<void> {
    if (status === 'added') this.#emit(path, status, null, entry)
    else this.#emit(path, status, entry, null)
    await this.#contents(path, stack, entry, status)
  }

  async #contents(path: ByteString, stack: Stack, entry: TreeEntry, status: 'added' | 'deleted'): Promise<void> {
    if (entry.kind !== 'folder') return
    for (const name of namesOf(entry.parts)) {
      await this.#pause()
      const child = await stack.lookup(entry, name)
      if (child === null) continue
      try {
        await this.#all(join(path, name), stack, child, status)
      } finally {
        closeFolder(child)
      }
    }
  }

  #emit(path: ByteString, status: ChangeStatus, before: TreeEntry | null, after: TreeEntry | null): void {
    const kind: EntryKind = (after ?? before)?.kind ?? 'other'
    const sizes = { before: fileSize(before), after: fileSize(after) }
    const modes = { before: before?.stat.mode ?? null, after: after?.stat.mode ?? null }
    this.#found.push({ path, change: { ...showPath(path || '.'), status, kind, ...sizes, modes } })
  }

  async #pause(): Promise<void> {
    if (++this.#steps % ENTRIES_PER_TURN === 0) await setImmediate()
  }
}

/** A file went away between its lookup and its comparison. */
class Vanished extends Error {}

async function contentDiffers(before: TreeEntry, after: TreeEntry): Promise<boolean> {
  if (before.kind === 'file' && after.kind === 'file') {
    const same = await sameContent(before, after)
    if (same === null) throw new Vanished()
    return !same
  }
  if (before.kind === 'symlink' && after.kind === 'symlink') {
    const old = before.dir.readLink(before.name)
    const now = after.dir.readLink(after.name)
    if (old === null || now === null) throw new Vanished()
    return !old.equals(now)
  }
  return false
}

const FORMAT_BITS = 0o170000
const MODE_BITS = 0o7777

function typeDiffers(before: TreeEntry, after: TreeEntry): boolean {
  if ((before.stat.mode & FORMAT_BITS) !== (after.stat.mode & FORMAT_BITS)) return true
  const device = before.stat.isCharacterDevice() || before.stat.isBlockDevice()
  return device && before.stat.rdev !== after.stat.rdev
}

function modesDiffer({ stat: before }: TreeEntry, { stat: after }: TreeEntry): boolean {
  return (before.mode & MODE_BITS) !== (after.mode & MODE_BITS) || before.uid !== after.uid || before.gid !== after.gid
}

const fileSize = (entry: TreeEntry | null): number | null => (entry?.kind === 'file' ? entry.stat.size : null)
