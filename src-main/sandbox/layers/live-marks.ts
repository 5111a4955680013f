/**
 * Marks of the folders of live layers, kept while nothing was done to them: noting something on a folder changes the
 * time of its inode, as making and removing entries does. So asking again what stands starts no program, and asking
 * after a change asks about the folders that it touched.
 *
 * A folder that was changed only just now is not kept: the clock of file times ticks every few milliseconds, and what
 * happened next could bear the same time.
 */
import { lstatSync } from 'node:fs'
import type { LayerFolder } from './layer-dir.ts'
import type { Mark } from './marks.ts'
import { type ByteString, toByteString, toBytes } from './names.ts'

interface Kept {
  ino: bigint
  ctimeNs: bigint
  mark: Mark
}

/** One live layer per session and then some. */
const KEPT_LAYERS = 64
/** Longer than any tick of the kernel's clock, ms. */
const TICK_MS = 20

export class LiveMarks {
  readonly #kept = new Map<string, Map<ByteString, Kept>>()

  /** The mark of a folder that is as it was when it was last asked about; null where it has to be asked again. */
  of(layer: LayerFolder, path: ByteString): Mark | null {
    const kept = this.#kept.get(layer.path)?.get(path)
    if (kept === undefined) return null
    const stat = statOf(layer, path)
    return stat?.ino === kept.ino && stat.ctimeNs === kept.ctimeNs ? kept.mark : null
  }

  /** @param asked when the marks began to be read, ms since 1970 */
  keep(layer: LayerFolder, marks: ReadonlyMap<ByteString, Mark>, asked: number): void {
    const old = this.#kept.get(layer.path)
    const kept = new Map<ByteString, Kept>()
    for (const [path, mark] of marks) {
      const before = old?.get(path)
      const stat = before?.mark === mark ? before : statOf(layer, path)
      if (stat === null || stat.ctimeNs >= BigInt(asked - TICK_MS) * 1_000_000n) continue
      kept.set(path, { ino: stat.ino, ctimeNs: stat.ctimeNs, mark })
    }
    this.#kept.delete(layer.path)
    this.#kept.set(layer.path, kept)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > KEPT_LAYERS && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** A symlink that the agent puts on the way leads to times that are not those of the folder: then it is asked again. */
function statOf(layer: LayerFolder, path: ByteString): { ino: bigint; ctimeNs: bigint } | null {
  try {
    return lstatSync(toBytes(`${toByteString(layer.path)}/${path}`), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    // Whatever keeps it from being looked at (a loop, a mode) is told by whoever reads it next.
    return null
  }
}
