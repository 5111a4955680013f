/**
 * What frozen layers hold, listed once and kept while there is room: a name that a layer does not have is then known
 * without asking the file system, which is most of what a lookup through a long chain consists of.
 */
import type { EntryKind } from '../../contract/index.ts'
import { LayerDir, type LayerFolder, type Reading } from './layer-dir.ts'
import { type ByteString, join } from './names.ts'

/** A device may be a whiteout: that takes a look at the entry itself. */
export type ListedKind = Exclude<EntryKind, 'folder'> | 'device'

/** A folder of a layer: its names, each with its kind, or with what it holds where it is a folder. */
export interface Listing extends ReadonlyMap<ByteString, ListedKind | Listing> {}

/** Paths of all folders in a listing, without its root. */
export function* foldersOf(listing: Listing, path: ByteString = ''): Generator<ByteString> {
  for (const [name, entry] of listing) {
    if (typeof entry === 'string') continue
    const child = join(path, name)
    yield child
    yield* foldersOf(entry, child)
  }
}

/** Entries of all kept layers: some 60 MB. */
const KEPT_ENTRIES = 500_000

export class Listings {
  readonly #kept = new Map<string, { listing: Listing; entries: number }>()
  #entries = 0

  /** Every folder of a layer. That of a frozen one is kept, the most recently used ones longest. */
  of(layer: LayerFolder, reading: Reading): Listing {
    const kept = this.#kept.get(layer.path)
    if (kept !== undefined && layer.frozen) {
      this.#kept.delete(layer.path)
      this.#kept.set(layer.path, kept)
      return kept.listing
    }
    const listing = listed(layer, reading)
    if (layer.frozen) this.#keep(layer.path, listing)
    return listing
  }

  /** For whoever changes a frozen layer (folding, pruning). */
  forget(layerPath: string): void {
    this.#entries -= this.#kept.get(layerPath)?.entries ?? 0
    this.#kept.delete(layerPath)
  }

  #keep(path: string, listing: Listing): void {
    const entries = sizeOf(listing)
    if (entries > KEPT_ENTRIES) return
    this.#kept.set(path, { listing, entries })
    this.#entries += entries
    for (const oldest of this.#kept.keys()) {
      if (this.#entries <= KEPT_ENTRIES) break
      this.forget(oldest)
    }
  }
}

function listed(layer: LayerFolder, reading: Reading): Listing {
  const list = (folder: LayerDir): Listing => {
    const names = new Map<ByteString, ListedKind | Listing>()
    for (const [name, kind] of folder.list()) names.set(name, kind === 'folder' ? list(folder.child(name)) : kind)
    folder.close()
    return names
  }
  return list(LayerDir.root(layer, 0, reading))
}

function sizeOf(listing: Listing): number {
  let entries = 1
  for (const entry of listing.values()) entries += typeof entry === 'string' ? 1 : sizeOf(entry)
  return entries
}
