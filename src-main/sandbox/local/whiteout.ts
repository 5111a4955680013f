/** A whiteout: the device 0:0, by which an overlay hides a name of the layers beneath. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { Namespace } from './namespace.ts'

/**
 * Makes one to be linked: a user namespace lets its own root make it, from within.
 * @param folder of the sandbox on the host
 * @returns its path on the host; the next call makes another in its place
 * @throws DiskFullError, EngineUnavailableError
 */
export async function newWhiteout(namespace: Namespace, folder: string): Promise<string> {
  await namespace.must('rm -f /run/s/whiteout && mknod /run/s/whiteout c 0 0', 'Hiding a name')
  const path = join(folder, 'whiteout')
  chmodSync(path, 0)
  return path
}
