/**
 * A stack of layers seen as one tree, by the kernel's rules: the topmost entry of a name counts; folders of the
 * same name are merged down to an opaque one, a whiteout or something that is no folder.
 */
import type { Stats } from 'node:fs'
import type { EntryKind } from '../../contract/index.ts'
import { LayerDir, type LayerFolder, type Reading } from './layer-dir.ts'
import type { Marks } from './marks.ts'
import type { ByteString } from './names.ts'

/** A folder of the tree: the folders that are merged in it, top first. */
export interface TreeFolder {
  kind: 'folder'
  stat: Stats
  parts: LayerDir[]
}

/** Anything else: it stands in one layer, under `name` in `dir` (a redirect may have given it another name). */
export interface TreeLeaf {
  kind: Exclude<EntryKind, 'folder'>
  stat: Stats
  dir: LayerDir
  name: ByteString
}

export type TreeEntry = TreeFolder | TreeLeaf

export class Stack {
  readonly #roots: LayerDir[]
  readonly #marks: Marks

  constructor(layers: readonly LayerFolder[], marks: Marks, reading: Reading) {
    this.#roots = layers.map((layer, depth) => LayerDir.root(layer, depth, reading, marks.listing(layer)))
    this.#marks = marks
  }

  root(): TreeFolder | null {
    const stat = this.#roots[0]?.stat()
    return stat?.isDirectory() ? { kind: 'folder', stat, parts: this.#roots } : null
  }

  /** The entry of a name in a folder; null where there is none. A walk over many folders calls {@link closeFolder}. */
  async lookup(folder: TreeFolder, name: ByteString): Promise<TreeEntry | null> {
    return this.#merge(folder.parts, name)
  }

  async #merge(searched: readonly LayerDir[], name: ByteString): Promise<TreeEntry | null> {
    const parts: LayerDir[] = []
    let top: Stats | null = null
    let nameBelow = name
    for (const dir of searched) {
      const seen = dir.look(nameBelow)
      if (seen === null) continue
      const { kind } = seen
      if (kind === 'whiteout' || (kind !== 'folder' && top !== null)) break
      if (top === null) {
        const stat = seen.stat ?? dir.stat(nameBelow)
        if (stat === null) continue
        if (kind !== 'folder') return { kind, stat, dir, name: nameBelow }
        top = stat
      }
      const part = dir.child(nameBelow)
      parts.push(part)
      if (dir.depth === this.#roots.length - 1) break
      const known = this.#marks.of(part)
      const mark = known instanceof Promise ? await known : known
      if (mark.opaque) break
      if (mark.redirect?.startsWith('/')) {
        parts.push(...(await this.#redirected(dir.depth + 1, mark.redirect)))
        break
      }
      nameBelow = mark.redirect ?? nameBelow
    }
    return top === null ? null : { kind: 'folder', stat: top, parts }
  }

  /** What the layers from `depth` on have at a path, as parts of the folder that was renamed. */
  async #redirected(depth: number, path: ByteString): Promise<LayerDir[]> {
    let parts = this.#roots.slice(depth)
    for (const name of path.split('/').filter(Boolean)) {
      const entry = await this.#merge(parts, name)
      if (entry?.kind !== 'folder') return []
      parts = entry.parts
    }
    return parts
  }
}

/** Lets go of the descriptors of a folder that was looked at: a deep walk would run out of them. */
export function closeFolder(entry: TreeEntry | null): void {
  if (entry?.kind === 'folder') for (const part of entry.parts) part.close()
}

/** Names that the parts list, each once. Whiteouts are among them: a lookup says what is there. */
export function namesOf(parts: readonly LayerDir[]): Set<ByteString> {
  const names = new Set<ByteString>()
  for (const part of parts) for (const name of part.names()) names.add(name)
  return names
}

/** How many folders both sides merge alike at the end. */
export function sharedTail(before: readonly LayerDir[], after: readonly LayerDir[]): number {
  let shared = 0
  while (shared < before.length && shared < after.length) {
    const a = before[before.length - 1 - shared]
    const b = after[after.length - 1 - shared]
    if (a?.layer.path !== b?.layer.path || a?.path !== b?.path) break
    shared++
  }
  return shared
}
