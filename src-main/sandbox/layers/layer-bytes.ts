/** What a layer takes on disk. */
import type { Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { closeReading, LayerDir, type Reading } from './layer-dir.ts'

/** The unit of a stat's block count, whatever the file system's own is. */
const BLOCK_BYTES = 512

export interface LayerBytes {
  bytes: number
  /** Whether some of its files were counted with another layer. */
  shares: boolean
}

/**
 * Disk usage of everything in a folder, itself included. A file with several links is counted once.
 * @param counted files that were counted with other layers; those of this one are added
 * @returns bytes; what vanishes meanwhile is not counted
 */
export async function layerBytes(path: string, counted = new Set<string>()): Promise<LayerBytes> {
  const own = new Set<string>()
  let shares = false
  const bytes = await weigh(path, (stat) => {
    if (stat.nlink === 1) return true
    const inode = `${stat.dev}:${stat.ino}`
    if (counted.has(inode)) shares = true
    else if (!own.has(inode)) return own.add(inode).size > 0
    return false
  })
  for (const inode of own) counted.add(inode)
  return { bytes, shares }
}

/** What a compact layer takes: its folders. Its files are those of the layers that it stands for. */
export const compactBytes = (path: string): Promise<number> => weigh(path, (stat) => stat.nlink === 1)

async function weigh(path: string, isCounted: (stat: Stats) => boolean): Promise<number> {
  let entries = 0
  let bytes = 0
  const reading: Reading = { effort: { entries: 0 }, open: new Set() }
  const add = async (dir: LayerDir): Promise<void> => {
    for (const name of dir.names()) {
      if (++entries % 500 === 0) await setImmediate()
      const stat = dir.stat(name)
      if (stat === null) continue
      if (stat.isDirectory() || isCounted(stat)) bytes += stat.blocks * BLOCK_BYTES
      if (!stat.isDirectory()) continue
      const child = dir.child(name)
      await add(child)
      child.close()
    }
  }
  const root = LayerDir.root({ path, frozen: false }, 0, reading)
  try {
    bytes += (root.stat()?.blocks ?? 0) * BLOCK_BYTES
    await add(root)
  } finally {
    closeReading(reading)
  }
  return bytes
}
