/**
 * Names that git will not have in a tree or a patch: what any of its platforms could take for `.git`, and `.gitmodules`
 * as a symlink. One such name makes git refuse everything that it came with, so they are told apart beforehand.
 *
 * The rules are those of verify_path in git's read-cache.c with is_ntfs_dotgit (path.c) and is_hfs_dotgit (utf8.c).
 */
import { showPath, toByteString } from '../sandbox/index.ts'

/** A path as an error can say it. */
export const readableName = (path: Uint8Array): string => showPath(toByteString(path)).path

/** Characters that HFS+ leaves out where it compares names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu

/** The bytes of a path, relative and without `.` or `..`. */
export function refusedByGit(path: Uint8Array, isSymlink: boolean): boolean {
  const text = Buffer.from(path).toString('utf8')
  const names = text.split('/')
  if (names.some((name) => ['', '.', '..'].includes(name) || looksLike(name, '.git', 'git~1'))) return true
  // An invalid byte hides nothing: what it is turned into here is no part of a name that is refused.
  return isSymlink && looksLike(names.at(-1) ?? '', '.gitmodules', /^(gitmod~[1-4]|gi7eba~[1-9]|gi7eb~[1-9]\d)$/)
}

/** The part of the path down to the name that is refused, which all below it have in common. */
export function refusedPart(path: Uint8Array): Uint8Array {
  const bytes = Buffer.from(path)
  for (let at = bytes.indexOf(0x2f); at >= 0; at = bytes.indexOf(0x2f, at + 1))
    if (refusedByGit(bytes.subarray(0, at), false)) return bytes.subarray(0, at)
  return bytes
}

function looksLike(name: string, long: string, short: string | RegExp): boolean {
  const isShort = (part: string) => (typeof short === 'string' ? part === short : short.test(part))
  if (name.replace(IGNORED_BY_HFS, '').toLowerCase() === long) return true
  // NTFS: a backslash ends a name, a colon begins a stream of the file, and dots and spaces at the end do not count.
  return name
    .toLowerCase()
    .split('\\')
    .map((part) => part.replace(/:.*$/s, '').replace(/[ .]+$/, ''))
    .some((part) => part === long || isShort(part))
}
