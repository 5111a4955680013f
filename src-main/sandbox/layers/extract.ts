/** Files of a state, taken out of it: as files of the host, or piece by piece where the host is elsewhere. */
import { closeSync, constants, copyFileSync, fstatSync, readSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { DiskFullError, FileNotFoundError } from '../../contract/index.ts'
import type { FilePieces } from '../sandbox.ts'
import { type ByteString, readableBytes, toBytes } from './names.ts'
import { PathWalk } from './path-walk.ts'
import { openRegular } from './same-content.ts'
import { closeFolder, type Stack } from './stack.ts'

const HOW = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL
const SMALL = 256 * 1024

/**
 * Copies the file at each path to `folder/<its index>`; blocks are shared where the file system can.
 * @param folder trusted, absolute
 * @param most bytes of all together
 * @returns false where there is more
 * @throws FileNotFoundError where one of them is no regular file any more, DiskFullError
 */
export async function extract(
  stack: Stack,
  paths: readonly ByteString[],
  folder: string,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  let left = most
  await eachFile(stack, paths, async (fd, index) => {
    const [from, to] = [`/proc/self/fd/${fd}`, `${folder}/${index}`]
    const { size } = fstatSync(fd)
    left -= size
    if (left < 0) return false
    try {
      // A hop to another thread costs more than copying a small one.
      if (size <= SMALL) copyFileSync(from, to, HOW)
      else await copyFile(from, to, HOW)
    } catch (error) {
      throw asNoRoom(error, toBytes(paths[index] ?? ''))
    }
    return true
  })
  return left >= 0
}

/**
 * The bytes of many files one after another, at most `limit` at a time.
 * @param at the file and the offset in it to go on from
 * @throws FileNotFoundError where one of them is no regular file any more
 */
export async function readPieces(
  stack: Stack,
  paths: readonly ByteString[],
  at: { index: number; offset: number },
  limit: number,
): Promise<FilePieces> {
  const pieces: FilePieces['pieces'] = []
  let [left, offset] = [limit, at.offset]
  let next: FilePieces['next'] = null
  await eachFile(stack, paths.slice(at.index), async (fd, index) => {
    // One byte more says whether this was all of it.
    const bytes = readUpTo(fd, offset, left + 1)
    const isCut = bytes.length > left
    pieces.push({
      index: at.index + index,
      bytes: isCut ? bytes.subarray(0, left) : bytes,
      writtenAt: fstatSync(fd).mtimeMs,
    })
    if (isCut) next = { index: at.index + index, offset: offset + left }
    left -= bytes.length
    offset = 0
    return !isCut
  })
  return { pieces, next }
}

/** Where a file was copied out of a state: the system's error for a full disk as ours, any other as it is. */
export function asNoRoom(error: unknown, path: Uint8Array): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new DiskFullError(`There is no space left to copy ${readableBytes(path)}.`, {
    nextStep: 'Free space on the disk that it is copied to, then try again.',
    cause: error,
  })
}

/** @param use answers whether to go on */
async function eachFile(
  stack: Stack,
  paths: readonly ByteString[],
  use: (fd: number, index: number) => Promise<boolean>,
): Promise<void> {
  const walk = new PathWalk(stack)
  try {
    for (const [index, path] of paths.entries()) {
      const entry = await walk.find(path)
      const fd = entry?.kind === 'file' ? openRegular(entry) : null
      closeFolder(entry)
      if (fd === null) throw notThere(path)
      try {
        if (!(await use(fd, index))) return
      } finally {
        closeSync(fd)
      }
    }
  } finally {
    walk.close()
  }
}

function readUpTo(fd: number, position: number, limit: number): Buffer {
  const buffer = Buffer.allocUnsafe(limit)
  let filled = 0
  for (let got = -1; got !== 0 && filled < limit; filled += got)
    got = readSync(fd, buffer, filled, limit - filled, position + filled)
  return buffer.subarray(0, filled)
}

function notThere(path: ByteString): FileNotFoundError {
  const readable = readableBytes(toBytes(path))
  return new FileNotFoundError(`${readable} is no file of that state any more.`, {
    nextStep: 'Try again: it was changed while it was read.',
    data: { path: readable },
  })
}
