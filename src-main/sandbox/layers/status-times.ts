/** When entries of a live layer last changed: content, attributes, names made and removed. Folders of any depth. */
import { lstatSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { EngineUnavailableError } from '../../contract/index.ts'
import { closeReading, isGone, LayerDir, type Reading } from './layer-dir.ts'
import type { ByteString } from './names.ts'

const ENTRIES_PER_TURN = 500

/**
 * @param path of a folder
 * @param see is given the time of each entry beneath it, nanoseconds since 1970, and of the folder itself; null for a
 *   folder that an agent, who is the same user, closed to us; what goes meanwhile is left out. Answers whether to go on
 * @param except a name in the folder that is left aside, with all in it
 */
export async function statusTimes(
  path: string,
  see: (time: bigint | null, isRoot: boolean) => boolean,
  except: ByteString | null = null,
): Promise<void> {
  const reading: Reading = { effort: { entries: 0 }, open: new Set() }
  let entries = 0
  const visit = async (dir: LayerDir): Promise<boolean> => {
    const names = namesOf(dir)
    if (names === null) return see(null, false)
    for (const name of names) {
      if (dir.path === '' && name === except) continue
      if (++entries % ENTRIES_PER_TURN === 0) await setImmediate()
      const stat = statOf(dir, name)
      if (stat === null) continue
      if (!see(stat.ctimeNs, false)) return false
      if (!stat.isDirectory()) continue
      const child = dir.child(name)
      const goesOn = await visit(child)
      child.close()
      if (!goesOn) return false
    }
    return true
  }
  try {
    const root = LayerDir.root({ path, frozen: false }, 0, reading)
    if (see(lstatSync(path, { bigint: true }).ctimeNs, true)) await visit(root)
  } finally {
    closeReading(reading)
  }
}

/** @returns null where it is closed to us */
function namesOf(dir: LayerDir): ByteString[] | null {
  try {
    return dir.names()
  } catch (error) {
    if (error instanceof EngineUnavailableError) return null
    throw error
  }
}

function statOf(dir: LayerDir, name: ByteString) {
  try {
    return lstatSync(dir.address(name), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return null
    throw error
  }
}
