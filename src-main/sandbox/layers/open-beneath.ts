/**
 * Opening a file beneath a folder whose content somebody else controls.
 *
 * By name such a file must never be opened: a symlink that the agent made would lead our call, with our rights, to
 * any file of the host. So the path is walked by hand: each folder is opened without following links, from its
 * parent's descriptor, and each symlink is read and walked in turn, while it stays beneath the root.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readlinkSync,
} from 'node:fs'
import { DiskFullError, FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { type ByteString, beneathPrefix, readableBytes, toByteString, toBytes } from './names.ts'

export interface OpenBeneathOptions {
  /** Of a file that is made, before the process's umask; 0o666 by default. */
  mode?: number
  /** Makes the folders that are missing, with exactly this mode and owner. */
  createParents?: { mode: number; uid?: number; gid?: number }
  /**
   * The root's path as those see it who made the symlinks: what an absolute link must point beneath.
   * Without it no absolute link is followed.
   */
  insideRoot?: string
  /** A FIFO is meant, in place of a regular file; it is opened without waiting for its other end. */
  fifo?: boolean
}

/** As the kernel's own limit. */
const SYMLINKS = 40
/** Opens a name without any right to its content, so that FIFOs, devices and closed folders do no harm. Linux. */
const O_PATH = 0o10000000

/**
 * Opens a regular file (a folder where `flags` hold O_DIRECTORY) beneath `root`.
 * @param root trusted, absolute
 * @param relative to the root
 * @param flags of open(2); truncation happens only once it is sure that a regular file was opened
 * @returns a descriptor, which the caller closes
 * @throws InvalidPathError (leads out, a folder, something on the way is no folder, a FIFO or device, no right),
 * FileNotFoundError, DiskFullError
 */
export async function openBeneath(
  root: string,
  relative: string | Uint8Array,
  flags: number,
  options: OpenBeneathOptions = {},
): Promise<number> {
  const walk = new Walk(root, toByteString(relative), options)
  try {
    return walk.open(flags)
  } finally {
    walk.close()
  }
}

class Walk {
  readonly #path: ByteString
  readonly #options: OpenBeneathOptions
  /** Descriptors from the root to where we stand. */
  readonly #trail: number[]
  #ahead: ByteString[]
  #links = 0

  constructor(root: string, path: ByteString, options: OpenBeneathOptions) {
    if (path.includes('\0')) throw this.#refuse('holds a NUL byte', path)
    this.#path = path
    this.#options = options
    this.#ahead = split(path)
    this.#trail = [openSync(root, O_PATH | constants.O_DIRECTORY)]
  }

  close(): void {
    for (const fd of this.#trail.splice(0)) closeSync(fd)
  }

  open(flags: number): number {
    for (;;) {
      const name = this.#ahead.shift()
      if (name === undefined) return this.#openHere(flags)
      if (name === '..') {
        if (this.#trail.length === 1) throw this.#refuse('leads out of the folder')
        closeSync(this.#trail.pop() ?? -1)
      } else if (this.#ahead.length > 0) this.#enter(name)
      else {
        const fd = this.#openLast(name, flags)
        if (fd !== null) return fd
      }
    }
  }

  /** The path ended on a folder: `.`, `a/..`, or a symlink to the root. */
  #openHere(flags: number): number {
    if ((flags & constants.O_DIRECTORY) === 0) throw this.#refuse('is a folder')
    return openSync(this.#at('.'), flags)
  }

  #enter(name: ByteString): void {
    const flags = O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY
    let fd = this.#try(() => openSync(this.#at(name), flags))
    if (fd === 'ENOENT' && this.#options.createParents !== undefined) fd = this.#makeFolder(name)
    if (typeof fd === 'number') this.#trail.push(fd)
    else if (fd === 'ENOENT') throw this.#notFound()
    // O_DIRECTORY goes first in the kernel: a symlink is "not a directory" as well.
    else if (fd !== 'ENOTDIR' && fd !== 'ELOOP') throw this.#failed(fd)
    else if (!this.#follow(name)) throw this.#refuse('passes through something that is no folder')
  }

  #makeFolder(name: ByteString): number | string {
    const { mode, uid = -1, gid = -1 } = this.#options.createParents ?? { mode: 0o755 }
    const made = this.#try(() => mkdirSync(this.#at(name), { mode: 0o700 }))
    // Somebody else made it just now: theirs is as good.
    if (made !== undefined && made !== 'EEXIST') return made
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY
    return this.#try(() => {
      const fd = openSync(this.#at(name), flags)
      if (made === 'EEXIST') return fd
      if (uid !== -1 || gid !== -1) fchownSync(fd, uid, gid)
      fchmodSync(fd, mode)
      return fd
    })
  }

  /** @returns null where the name was a symlink, which is now what lies ahead */
  #openLast(name: ByteString, flags: number): number | null {
    // Without O_NONBLOCK a FIFO would hold us up; truncation waits until we know what was opened.
    const careful = (flags & ~constants.O_TRUNC) | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
    const fd = this.#try(() => openSync(this.#at(name), careful, this.#options.mode ?? 0o666))
    if (typeof fd === 'number') return this.#checked(fd, flags)
    if ((fd === 'ELOOP' || fd === 'ENOTDIR') && this.#follow(name)) return null
    if (fd === 'ENOENT') throw this.#notFound()
    throw this.#failed(fd)
  }

  #checked(fd: number, flags: number): number {
    const plain = this.#options.fifo ? constants.S_IFIFO : constants.S_IFREG
    const wanted = (flags & constants.O_DIRECTORY) === 0 ? plain : constants.S_IFDIR
    const kind = fstatSync(fd).mode & constants.S_IFMT
    if (kind === wanted) {
      if ((flags & constants.O_TRUNC) !== 0) ftruncateSync(fd)
      return fd
    }
    closeSync(fd)
    throw this.#refuse(kind === constants.S_IFDIR ? 'is a folder' : 'is neither a file nor a folder')
  }

  /** Puts a symlink's target ahead. @returns false where the name is no symlink */
  #follow(name: ByteString): boolean {
    const target = this.#try(() => readlinkSync(this.#at(name), { encoding: 'buffer' }))
    if (target === 'ENOENT') throw this.#notFound()
    if (!Buffer.isBuffer(target)) return false
    if (++this.#links > SYMLINKS) throw this.#refuse(`passes more than ${SYMLINKS} symlinks`)
    let path = toByteString(target)
    if (path.startsWith('/')) {
      const { insideRoot } = this.#options
      const beneath = insideRoot === undefined ? null : beneathPrefix(toByteString(insideRoot), path)
      if (beneath === null) throw this.#refuse('leads out of the folder by a symlink')
      path = beneath
      for (const fd of this.#trail.splice(1)) closeSync(fd)
    }
    this.#ahead = [...split(path), ...this.#ahead]
    return true
  }

  /** A name in the folder where we stand, for a system call. */
  #at(name: ByteString): Buffer {
    return toBytes(`/proc/self/fd/${this.#trail.at(-1)}/${name}`)
  }

  /** The call's result, or the code of the system error that it failed with. */
  #try<T>(call: () => T): T | string {
    try {
      return call()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      return code
    }
  }

  #failed(code: string | undefined): Error {
    if (code === 'EISDIR') return this.#refuse('is a folder')
    if (code === 'ENOTDIR') return this.#refuse('is no folder')
    if (code === 'ENXIO') return this.#refuse('is neither a file nor a folder')
    if (code === 'EEXIST') return this.#refuse('exists already')
    if (code === 'EROFS') return this.#refuse('cannot be written: its file system is read-only')
    if (code === 'EACCES' || code === 'EPERM') return this.#refuse('cannot be opened: its mode keeps this user out')
    if (code === 'ENAMETOOLONG') return this.#refuse('has a name that is too long')
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      return new DiskFullError(`There is no space left to write ${this.#shown()}.`, {
        nextStep: 'Free space on the disk that holds the sandboxes, then try again.',
      })
    }
    return new Error(`Opening ${this.#shown()} failed: ${code}`)
  }

  #refuse(why: string, path = this.#path): InvalidPathError {
    const shown = readableBytes(toBytes(path))
    return new InvalidPathError(`${shown} ${why}.`, {
      nextStep: 'Give the path of a file in the workspace; symlinks are followed only while they stay in it.',
      data: { path: shown },
    })
  }

  #notFound(): FileNotFoundError {
    return new FileNotFoundError(`There is no file ${this.#shown()}.`, {
      nextStep: 'List the folder to see what is there.',
      data: { path: this.#shown() },
    })
  }

  #shown(): string {
    return readableBytes(toBytes(this.#path))
  }
}

const split = (path: ByteString): ByteString[] => path.split('/').filter((part) => part !== '' && part !== '.')
