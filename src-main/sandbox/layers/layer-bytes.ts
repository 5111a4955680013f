/** What a layer takes on disk. */
import { setImmediate } from 'node:timers/promises'
import { closeReading, LayerDir, type Reading } from './layer-dir.ts'

/** The unit of a stat's block count, whatever the file system's own is. */
const BLOCK_BYTES = 512

/**
 * Disk usage of everything in a folder, itself included. A file with several links is counted once.
 * @returns bytes; what vanishes meanwhile is not counted
 */
export async function layerBytes(path: string): Promise<number> {
  const seen = new Set<string>()
  let entries = 0
  let bytes = 0
  const reading: Reading = { effort: { entries: 0 }, open: new Set() }
  const add = async (dir: LayerDir): Promise<void> => {
    for (const name of dir.names()) {
      if (++entries % 500 === 0) await setImmediate()
      const stat = dir.stat(name)
      if (stat === null) continue
      const inode = `${stat.dev}:${stat.ino}`
      if (stat.nlink > 1 && !stat.isDirectory()) {
        if (seen.has(inode)) continue
        seen.add(inode)
      }
      bytes += stat.blocks * BLOCK_BYTES
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
