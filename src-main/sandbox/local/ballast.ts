/**
 * Room for going back on a full disk: a file that is given up then. Going back may be what a person does about the disk.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BALLAST_BYTES = 256 << 10

const pathIn = (folder: string): string => join(folder, 'ballast')

/** Puts it there where it is missing. @throws the system's ENOSPC, with nothing left of it */
export function takeBallast(folder: string): void {
  const path = pathIn(folder)
  if (existsSync(path)) return
  try {
    writeFileSync(path, Buffer.alloc(BALLAST_BYTES, 1))
  } catch (error) {
    // Half of one would be taken for the whole.
    rmSync(path, { force: true })
    throw error
  }
}

/** Gives it up. What was freed can be used when this returns: ext4 keeps it back until its journal has been written. */
export function giveUpBallast(folder: string): void {
  rmSync(pathIn(folder), { force: true })
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Whether the disk has hardly more room than the ballast gave. */
export function isNearlyFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < 4 * BALLAST_BYTES
}
