/** How entries of two states meet what the host's folder has at the same paths: what a commit has to know. */
import type { Meeting } from '../sandbox.ts'
import type { ByteString } from './names.ts'
import { PathWalk } from './path-walk.ts'
import { sameContent } from './same-content.ts'
import { closeFolder, type Stack, type TreeEntry, type TreeLeaf } from './stack.ts'

/** Bits that a commit carries over; setuid and setgid never go to the host. */
const MODE_BITS = 0o1777
const FORMAT_BITS = 0o170000

/**
 * @param paths in any order, best sorted
 * @param host the host's folder alone
 * @param base path of the layer that shows the host's folder itself; null where the session began from a copy
 */
export async function meetings(
  paths: readonly ByteString[],
  states: { from: Stack; to: Stack; host: Stack },
  base: string | null,
): Promise<Meeting[]> {
  const [from, to, host] = [new PathWalk(states.from), new PathWalk(states.to), new PathWalk(states.host)]
  const found: Meeting[] = []
  try {
    for (const path of paths) {
      const entries = { from: await from.find(path), to: await to.find(path), host: await host.find(path) }
      try {
        found.push(await meetingOf(entries, base))
      } finally {
        for (const entry of Object.values(entries)) closeFolder(entry)
      }
    }
  } finally {
    for (const walk of [from, to, host]) walk.close()
  }
  return found
}

async function meetingOf(
  { from, to, host }: { from: TreeEntry | null; to: TreeEntry | null; host: TreeEntry | null },
  base: string | null,
): Promise<Meeting> {
  return {
    after: to && {
      kind: to.kind,
      mode: to.stat.mode & MODE_BITS,
      format: to.stat.mode & FORMAT_BITS,
      size: to.kind === 'file' ? to.stat.size : null,
      target: to.kind === 'symlink' ? to.dir.readLink(to.name) : null,
    },
    host: isShown(from, base) ? 'shown' : (await same(from, host)) ? 'same' : 'changed',
    arrived: await same(to, host),
  }
}

/** Whether the state shows what the host's folder has there, or has not: then it does not say what was there before. */
function isShown(entry: TreeEntry | null, base: string | null): boolean {
  if (base === null) return false
  if (entry === null) return true
  const dir = entry.kind === 'folder' ? entry.parts[0] : entry.dir
  return dir?.layer.path === base
}

async function same(one: TreeEntry | null, other: TreeEntry | null): Promise<boolean> {
  if (one === null || other === null) return one === other
  if ((one.stat.mode & (FORMAT_BITS | MODE_BITS)) !== (other.stat.mode & (FORMAT_BITS | MODE_BITS))) {
    // The mode of a symlink means nothing.
    if (one.kind !== 'symlink' || other.kind !== 'symlink') return false
  }
  if (one.kind === 'file' && other.kind === 'file') return (await sameContent(one, other)) === true
  if (one.kind === 'symlink' && other.kind === 'symlink') return sameTarget(one, other)
  return one.stat.rdev === other.stat.rdev || one.kind === 'folder'
}

function sameTarget(one: TreeLeaf, other: TreeLeaf): boolean {
  const target = one.dir.readLink(one.name)
  return target !== null && other.dir.readLink(other.name)?.equals(target) === true
}
