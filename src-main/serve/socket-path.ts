/**
 * Where the local socket lies: in the data folder, or, where that path is too long for the system, in a private
 * folder named after the data folder. Another user who could put a socket there first would be taken for the host,
 * so that folder is used only when it is ours and closed.
 */
import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { InvalidPathError } from '../contract/errors.ts'

/** sockaddr_un holds 108 bytes with the closing zero on Linux, 104 on macOS. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** Loaded when it is needed: few data folders have such long paths, and every command would pay for it. */
function nameFor(home: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(home).digest('hex').slice(0, 16)
}

/** The socket's path for a data folder; depends on nothing but the folder and the runtime directory. */
export function socketPath(home: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\rewind-${nameFor(home)}`
  const inside = join(home, 'rewind.sock')
  if (Buffer.byteLength(inside) <= LONGEST) return inside
  const tail = `rewind-${process.getuid?.() ?? 'user'}-${nameFor(home)}/rewind.sock`
  const runtime = [process.env.XDG_RUNTIME_DIR, tmpdir(), '/tmp'].find(
    (folder) => folder && Buffer.byteLength(join(folder, tail)) <= LONGEST,
  )
  return join(runtime ?? '/tmp', tail)
}

/**
 * Makes sure that the folder around a socket outside the data folder is ours alone.
 * @throws InvalidPathError when somebody else made it
 */
export function ensureSocketFolder(home: string, socket: string): void {
  const folder = dirname(socket)
  if (process.platform === 'win32' || folder === home) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  assertPrivate(folder)
}

/** Removes a socket, and the folder that was made for it alone. */
export function removeSocket(home: string, socket: string): void {
  if (process.platform === 'win32') return
  rmSync(socket, { force: true })
  if (dirname(socket) !== home) rmSync(dirname(socket), { recursive: true, force: true })
}

/** @throws InvalidPathError when the folder is not a folder of ours that is closed to others */
export function assertPrivate(folder: string): void {
  const facts = lstatSync(folder)
  const ours = facts.isDirectory() && facts.uid === process.getuid?.() && (facts.mode & 0o077) === 0
  if (ours) return
  throw new InvalidPathError(`The socket's folder ${folder} is not yours alone, so it cannot be trusted.`, {
    nextStep: `Remove ${folder}, or set REWIND_HOME to a shorter path.`,
  })
}
