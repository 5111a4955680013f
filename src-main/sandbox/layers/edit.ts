/**
 * For tests: one change of a tree as data, so that what was done to one tree can be done to another. Each is a single
 * call of the file system or looks like one, and bears the time that the changed file gets.
 */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { type ByteString, join, toByteString, toBytes } from './names.ts'

export type Edit =
  | { do: 'write' | 'append'; path: ByteString; bytes: Buffer; time: number }
  | { do: 'truncate'; path: ByteString; size: number; time: number }
  | { do: 'mkdir' | 'rmdir' | 'unlink' | 'fifo'; path: ByteString; time: number }
  | { do: 'rename' | 'link'; path: ByteString; to: ByteString }
  | { do: 'symlink'; path: ByteString; target: ByteString; time: number }
  | { do: 'chmod'; path: ByteString; mode: number }
  | { do: 'chown'; path: ByteString; uid: number; gid: number }
  | { do: 'touch'; path: ByteString; time: number }

/** Seconds since 1970 as an edit bears them, so that two trees get the same times. */
export const FIRST_SECOND = 1_000_000_000

/**
 * @param root as a byte string
 * @returns null, or the system's code for why it cannot be done
 */
export function applyEdit(root: ByteString, edit: Edit): string | null {
  const at = (path: ByteString) => toBytes(`${root}/${path}`)
  try {
    act(edit, at)
    if ('time' in edit && !['mkdir', 'rmdir', 'unlink'].includes(edit.do)) {
      const seconds = FIRST_SECOND + edit.time
      fs.lutimesSync(at(edit.path), seconds, seconds)
    }
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return code
  }
}

function act(edit: Edit, at: (path: ByteString) => Buffer): void {
  switch (edit.do) {
    case 'write':
      fs.writeFileSync(at(edit.path), edit.bytes)
      break
    case 'append':
      fs.appendFileSync(at(edit.path), edit.bytes)
      break
    case 'truncate':
      fs.truncateSync(at(edit.path), edit.size)
      break
    case 'mkdir':
      fs.mkdirSync(at(edit.path))
      break
    case 'rmdir':
      fs.rmdirSync(at(edit.path))
      break
    case 'unlink':
      fs.unlinkSync(at(edit.path))
      break
    case 'fifo':
      execFileSync('mkfifo', ['--', at(edit.path).toString()], { stdio: 'ignore' })
      break
    case 'rename':
      rename(at(edit.path), at(edit.to))
      break
    case 'link':
      fs.linkSync(at(edit.path), at(edit.to))
      break
    case 'symlink':
      fs.symlinkSync(toBytes(edit.target), at(edit.path))
      break
    case 'chmod':
      fs.chmodSync(at(edit.path), edit.mode)
      break
    case 'chown':
      fs.lchownSync(at(edit.path), edit.uid, edit.gid)
      break
    case 'touch':
      break
  }
}

/** Like mv: where the overlay renames no folders, a copy with times, owners and modes; then the old one goes. */
function rename(from: Buffer, to: Buffer): void {
  try {
    fs.renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    // A folder may be renamed over an empty one, into which a copy would go.
    if (fs.existsSync(to)) fs.rmdirSync(to)
    copyTree(from, to)
    removeTree(from.toString('latin1'))
  }
}

/** @param from of any name; cp takes it by descriptor, as an argument would have to be text */
export function copyTree(from: Buffer, to: Buffer): void {
  const stat = fs.lstatSync(from)
  if (stat.isDirectory()) {
    fs.mkdirSync(to)
    for (const name of fs.readdirSync(from, { encoding: 'latin1' })) copyTree(within(from, name), within(to, name))
  } else if (stat.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(from, { encoding: 'buffer' }), to)
  else if (stat.isFIFO()) execFileSync('mkfifo', ['--', to.toString()])
  else fs.copyFileSync(from, to)
  if (process.getuid?.() === 0) fs.lchownSync(to, stat.uid, stat.gid)
  if (!stat.isSymbolicLink()) fs.chmodSync(to, stat.mode & 0o7777)
  fs.lutimesSync(to, stat.atimeMs / 1000, stat.mtimeMs / 1000)
}

/** Removes what is at a path, if anything: Node's own rm takes no names that are not UTF-8. */
export function removeTree(path: ByteString): void {
  const stat = fs.lstatSync(toBytes(path), { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isDirectory()) {
    for (const name of fs.readdirSync(toBytes(path), { encoding: 'latin1' })) removeTree(join(path, name))
    fs.rmdirSync(toBytes(path))
  } else fs.unlinkSync(toBytes(path))
}

const within = (folder: Buffer, name: ByteString): Buffer => toBytes(join(folder.toString('latin1'), name))

/** An edit for a person to read; long names cut short. */
export const editText = (edit: Edit): string =>
  JSON.stringify(edit, (_, value) =>
    value?.type === 'Buffer' ? toByteString(Buffer.from(value.data)) : value,
  ).replace(/(.)\1{20,}/g, (run, character: string) => `${character}{${run.length}}`)
