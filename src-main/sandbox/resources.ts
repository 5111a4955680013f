import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A folder of resources/, which lies beside the sources and beside the built bundles alike, at any depth. */
export function resourceFolder(name: string): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, 'resources', name)
    if (existsSync(found)) return found
  }
  throw new Error(`resources/${name} is missing from this installation`)
}
