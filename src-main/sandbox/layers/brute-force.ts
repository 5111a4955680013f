/** For tests: what differs between two trees, found the slow and obvious way, through the merged mounts. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import type { Change, EntryKind } from '../../contract/index.ts'
import { type ByteString, join, showPath, toByteString, toBytes } from './names.ts'

interface Seen {
  stat: Stats
  kind: EntryKind
  content: string
}

export type Tree = ReadonlyMap<ByteString, Seen>

/**
 * @param phantoms whether a name that is listed and is not there may be passed over: the kernel lists a whiteout where
 *   the host has removed what it hid
 */
export function treeOf(folder: string, { phantoms = false } = {}): Tree {
  const tree = new Map<ByteString, Seen>()
  const at = (path: ByteString) => toBytes(`${toByteString(folder)}/${path}`)
  const add = (path: ByteString): void => {
    const stat = lstatSync(at(path === '' ? '.' : path), { throwIfNoEntry: !phantoms })
    if (stat === undefined) return
    const kind = stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other'
    let content = ''
    if (kind === 'file')
      content = createHash('sha256')
        .update(readFileSync(at(path)))
        .digest('hex')
    if (kind === 'symlink') content = readlinkSync(at(path), { encoding: 'latin1' })
    tree.set(path, { stat, kind, content })
    if (kind !== 'folder') return
    for (const name of readdirSync(at(path === '' ? '.' : path), { encoding: 'latin1' })) add(join(path, name))
  }
  add('')
  return tree
}

/** Path, kind, bytes, mode, owner and, of what is no folder, time: a line for each entry. */
export const described = (tree: Tree): string[] =>
  [...tree]
    .map(([path, { stat, kind, content }]) => {
      const time = kind === 'folder' ? '' : stat.mtimeMs.toFixed(2)
      return JSON.stringify([path, kind, content, stat.mode, stat.uid, stat.gid, time])
    })
    .sort()

export function bruteForce(before: Tree, after: Tree): Change[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths.flatMap((path) => {
    const old = before.get(path)
    const now = after.get(path)
    const status = statusOf(old, now)
    if (status === null) return []
    const size = (seen: Seen | undefined) => (seen?.kind === 'file' ? seen.stat.size : null)
    const kind = (now ?? old)?.kind ?? 'other'
    const modes = { before: old?.stat.mode ?? null, after: now?.stat.mode ?? null }
    return [{ ...showPath(path || '.'), status, kind, before: size(old), after: size(now), modes }]
  })
}

function statusOf(old: Seen | undefined, now: Seen | undefined): Change['status'] | null {
  if (old === undefined) return 'added'
  if (now === undefined) return 'deleted'
  if ((old.stat.mode & 0o170000) !== (now.stat.mode & 0o170000)) return 'type'
  if (old.content !== now.content) return 'modified'
  const same = old.stat.mode === now.stat.mode && old.stat.uid === now.stat.uid && old.stat.gid === now.stat.gid
  return same ? null : 'mode'
}
