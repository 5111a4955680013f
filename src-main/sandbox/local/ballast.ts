/**
 * Room for going back on a full disk: a file that is given up then. Going back may be what a person does about the disk.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DiskFullError } from '../../contract/index.ts'
import { asDiskFull } from './namespace.ts'

const BALLAST_BYTES = 256 << 10
/** Before each further attempt: what was freed is given out by the file system in its own time. */
const PAUSES_MS = [0, 50, 200, 500]

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
function giveUpBallast(folder: string): void {
  rmSync(pathIn(folder), { force: true })
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Does what must be possible on a full disk too: the ballast is given up for it. @param folder of the sandbox */
export async function withBallast<T>(folder: string, act: () => T | Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await act()
    } catch (error) {
      // The kernel mounts read-only where it finds no room for its work folder: that comes as another error.
      if (!(asDiskFull(error, '') instanceof DiskFullError) && !isNearlyFull(folder)) throw error
      giveUpBallast(folder)
      await sleep(pauseMs)
    }
  }
  return act()
}

/** Whether the disk has hardly more room than the ballast gave. */
function isNearlyFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < 4 * BALLAST_BYTES
}
