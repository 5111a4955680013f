/** Single entries of a stack: both sides of a path, and a file's bytes. */
import { closeSync, readSync } from 'node:fs'
import { FileNotFoundError, type FilePair, InvalidPathError } from '../../contract/index.ts'
import {
  type ByteString,
  beneathPrefix,
  decodeText,
  readableBytes,
  resolveInside,
  toByteString,
  toBytes,
} from './names.ts'
import { openRegular } from './same-content.ts'
import type { Stack, TreeEntry, TreeFolder, TreeLeaf } from './stack.ts'
import { readWhole } from './whole-file.ts'

/** As the kernel's own limit. */
const SYMLINKS = 40

/**
 * Both sides of one path. A folder, FIFO or device counts as nothing, as there is nothing of it to show.
 * @param path relative to the workspace, taken as it is: no symlink on the way or at the end is followed
 * @throws FileNotFoundError where neither side has the path
 */
export async function pairOf(path: ByteString, from: Stack, to: Stack, textLimitBytes: number): Promise<FilePair> {
  const before = await find(from, path)
  const after = await find(to, path)
  if (before === null && after === null) throw notFound(path)
  if (before?.kind === 'symlink' || after?.kind === 'symlink')
    return { kind: 'symlink', before: linkText(before), after: linkText(after) }
  const sizes = { before: fileSize(before), after: fileSize(after) }
  if (Math.max(sizes.before ?? 0, sizes.after ?? 0) > textLimitBytes) return { kind: 'large', ...sizes }
  const old = contentUpTo(before, textLimitBytes)
  const now = contentUpTo(after, textLimitBytes)
  // A live file may have grown since its size was seen.
  if (old === 'larger' || now === 'larger') return { kind: 'large', ...sizes }
  const oldText = old && textOf(old)
  const nowText = now && textOf(now)
  if ((old !== null && oldText === null) || (now !== null && nowText === null)) return { kind: 'binary', ...sizes }
  return { kind: 'text', before: oldText, after: nowText }
}

const fileSize = (entry: TreeEntry | null): number | null => (entry?.kind === 'file' ? entry.stat.size : null)

function linkText(entry: TreeEntry | null): string | null {
  const target = entry?.kind === 'symlink' ? entry.dir.readLink(entry.name) : null
  return target && readableBytes(target)
}

const textOf = (bytes: Uint8Array): string | null => (bytes.includes(0) ? null : decodeText(bytes))

function contentUpTo(entry: TreeEntry | null, limit: number): Buffer | 'larger' | null {
  const fd = entry?.kind === 'file' ? openRegular(entry) : null
  if (fd === null) return null
  try {
    const buffer = Buffer.alloc(Math.min(limit, (entry?.stat.size ?? 0) + 4096) + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < buffer.length; length += got)
      got = readSync(fd, buffer, length, buffer.length - length, null)
    return length === buffer.length ? 'larger' : buffer.subarray(0, length)
  } finally {
    closeSync(fd)
  }
}

/** The entry at a path, without following symlinks. */
export async function find(stack: Stack, path: ByteString): Promise<TreeEntry | null> {
  let entry: TreeEntry | null = stack.root()
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    if (entry?.kind !== 'folder' || name === '..') return null
    entry = await stack.lookup(entry, name)
  }
  return entry
}

/**
 * A file's bytes. Symlinks are followed in the stack's own terms, while they stay in the workspace.
 * @param workspaceInside the workspace as the sandbox sees it: what an absolute link must point beneath
 * @throws FileNotFoundError, InvalidPathError
 */
export async function readThrough(path: string, stack: Stack, workspaceInside: string): Promise<Uint8Array> {
  const root = stack.root()
  if (root === null) throw notFound(toByteString(path))
  const refuse = (why: string): InvalidPathError =>
    new InvalidPathError(`${JSON.stringify(path)} ${why}.`, {
      nextStep: `Give the path of a file that lies beneath ${workspaceInside}, symlinks on the way included.`,
      data: { path },
    })
  let ahead = toByteString(resolveInside(workspaceInside, path)).split('/')
  let trail: TreeFolder[] = [root]
  for (let links = 0; ; ) {
    const name = ahead.shift()
    if (name === undefined) throw refuse('is a folder')
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (trail.length === 1) throw refuse('leads out of the workspace by a symlink')
      trail.pop()
      continue
    }
    const entry: TreeEntry | null = await stack.lookup(trail.at(-1) ?? root, name)
    if (entry === null) throw notFound(toByteString(path))
    if (entry.kind === 'folder') trail.push(entry)
    else if (entry.kind === 'symlink') {
      if (++links > SYMLINKS) throw refuse(`passes more than ${SYMLINKS} symlinks`)
      const target = entry.dir.readLink(entry.name)
      if (target === null) throw notFound(toByteString(path))
      let follow = target.toString('latin1')
      if (follow.startsWith('/')) {
        const beneath = beneathPrefix(toByteString(workspaceInside), follow)
        if (beneath === null) throw refuse('leads out of the workspace by a symlink')
        follow = beneath
        trail = [root]
      }
      ahead = [...follow.split('/'), ...ahead]
    } else if (ahead.some((part) => part !== '' && part !== '.'))
      throw refuse('passes through something that is no folder')
    else if (entry.kind !== 'file') throw refuse('is neither a file nor a folder')
    else return wholeFile(entry, path)
  }
}

function wholeFile(entry: TreeLeaf, path: string): Uint8Array {
  const fd = openRegular(entry)
  if (fd === null) throw notFound(toByteString(path))
  try {
    return readWhole(fd, path)
  } finally {
    closeSync(fd)
  }
}

function notFound(path: ByteString): FileNotFoundError {
  const readable = readableBytes(toBytes(path))
  return new FileNotFoundError(`There is no ${readable} in the workspace at this point.`, {
    nextStep: 'Look at the list of changed files, or at an earlier or later point.',
    data: { path: readable },
  })
}
