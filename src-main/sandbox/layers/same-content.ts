/** Whether two files hold the same bytes, found out with bounded memory and as few reads as possible. */
import { closeSync, constants, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { TreeLeaf } from './stack.ts'

/** Up to this size both files are read at once; a hop to another thread costs more than the read. */
const SMALL = 64 * 1024
const CHUNK = 1024 * 1024

const readAsync = promisify(read)

/** @returns null where one of the two went away or is no file any more */
export async function sameContent(a: TreeLeaf, b: TreeLeaf): Promise<boolean | null> {
  if (a.stat.size !== b.stat.size) return false
  if (a.stat.size === 0 || sameInode(a.stat, b.stat)) return true
  const left = openRegular(a)
  if (left === null) return null
  try {
    const right = openRegular(b)
    if (right === null) return null
    try {
      return await sameBytes(left, right, a.stat.size)
    } finally {
      closeSync(right)
    }
  } finally {
    closeSync(left)
  }
}

/** The times too: large inode numbers lose their last digits in a double. */
function sameInode(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}

/** @returns a descriptor; null where the file went away or something else took its place */
export function openRegular(entry: TreeLeaf): number | null {
  const fd = entry.dir.openFile(entry.name)
  if (fd === null) return null
  if ((fstatSync(fd).mode & constants.S_IFMT) === constants.S_IFREG) return fd
  closeSync(fd)
  return null
}

async function sameBytes(left: number, right: number, size: number): Promise<boolean> {
  const chunk = Math.min(size, CHUNK)
  const a = Buffer.allocUnsafe(chunk)
  const b = Buffer.allocUnsafe(chunk)
  const fill = size <= SMALL ? fillNow : fillAsync
  for (let at = 0; ; ) {
    const [gotA, gotB] = await Promise.all([fill(left, a, at), fill(right, b, at)])
    if (gotA !== gotB || !a.subarray(0, gotA).equals(b.subarray(0, gotB))) return false
    if (gotA < chunk) return true
    at += gotA
  }
}

/** Reads until the buffer is full or the file ends. */
async function fillAsync(fd: number, buffer: Buffer, position: number): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await readAsync(fd, buffer, filled, buffer.length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

function fillNow(fd: number, buffer: Buffer, position: number): number {
  let filled = 0
  while (filled < buffer.length) {
    const got = readSync(fd, buffer, filled, buffer.length - filled, position + filled)
    if (got === 0) break
    filled += got
  }
  return filled
}
