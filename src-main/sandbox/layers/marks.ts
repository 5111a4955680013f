/**
 * What the kernel notes on the folders of a layer: *opaque* (nothing of the layers below shows through) and
 * *redirect* (the folder was renamed; the layers below have it under another name, met in live layers only).
 *
 * They are extended attributes, which Node cannot read, so a tool reads them, for all folders of all layers that
 * are needed in one go. A frozen layer's marks are kept, those of a live one while its folders stay as they were.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { InternalError } from '../../contract/index.ts'
import { isGone, LayerDir, type LayerFolder, LONG_PATH, type Reading } from './layer-dir.ts'
import { foldersOf, type Listing, Listings } from './listings.ts'
import { LiveMarks } from './live-marks.ts'
import { chooseMarkTool, type MarkTool } from './mark-tools.ts'
import { type ByteString, join, toByteString } from './names.ts'

export type OpaqueXattr = 'trusted.overlay.opaque' | 'user.overlay.opaque'

export interface Mark {
  opaque: boolean
  redirect: ByteString | null
}

/** The marks of some layers' folders, and what was listed on the way. */
export interface Marks {
  of(folder: LayerDir): Mark | Promise<Mark>
  /** What a frozen layer holds; null where that changes or was not asked for. */
  listing(layer: LayerFolder): Listing | null
}

const NONE: Mark = { opaque: false, redirect: null }

interface LayerMarks {
  /** Of the folders that were asked about; any other has to be asked about by itself. */
  marks: Map<ByteString, Mark>
  /** Nothing is noted anywhere in a layer that stays as it is: so it is with most. */
  plain: boolean
}

/** Frozen layers whose marks are kept: some sessions' whole chains. */
const KEPT_LAYERS = 1024

export class MarkReader {
  readonly #xattr: OpaqueXattr
  readonly #tools: readonly MarkTool[]
  readonly #kept = new Map<string, LayerMarks>()
  readonly #listings = new Listings()
  readonly #live = new LiveMarks()
  #tool: Promise<MarkTool> | null = null

  constructor(xattr: OpaqueXattr, tools: readonly MarkTool[]) {
    this.#xattr = xattr
    this.#tools = tools
  }

  /** Drops what is kept about a layer: for whoever changes a frozen one (folding, pruning). */
  forget(layerPath: string): void {
    this.#kept.delete(layerPath)
    this.#listings.forget(layerPath)
  }

  /**
   * Marks of the layers, which hold all but the lowest of each stack: below that there is nothing to hide.
   * @throws EngineUnavailableError where no tool can read them
   */
  async read(layers: readonly LayerFolder[], reading: Reading): Promise<Marks> {
    const found = new Map<string, LayerMarks>()
    const listings = new Map<string, Listing>()
    const wanted: { layer: LayerFolder; path: ByteString }[] = []
    const asked = Date.now()
    for (const layer of layers) {
      if (found.has(layer.path)) continue
      const listing = this.#listings.of(layer, reading)
      if (layer.frozen) listings.set(layer.path, listing)
      const kept = layer.frozen ? this.#kept.get(layer.path) : undefined
      const own = kept ?? { marks: new Map(), plain: layer.frozen }
      found.set(layer.path, own)
      if (kept !== undefined) continue
      const tooLong = () => {
        own.plain = false
      }
      for (const path of markable(layer, listing, tooLong)) {
        const known = layer.frozen ? null : this.#live.of(layer, path)
        if (known === null) wanted.push({ layer, path })
        else own.marks.set(path, known)
      }
    }
    const answers = await this.#ask(wanted)
    for (const [at, { layer, path }] of wanted.entries()) {
      const own = found.get(layer.path)
      const mark = answers[at]
      if (mark !== undefined) own?.marks.set(path, mark)
      if (own !== undefined && !(mark?.opaque === false && mark.redirect === null)) own.plain = false
    }
    for (const layer of layers) {
      const own = found.get(layer.path)
      if (own !== undefined && layer.frozen) this.#keep(layer.path, own)
      else if (own !== undefined) this.#live.keep(layer, own.marks, asked)
    }
    return {
      listing: ({ path }) => listings.get(path) ?? null,
      of: (folder) => {
        const known = found.get(folder.layer.path)
        return known?.plain ? NONE : (known?.marks.get(folder.path) ?? this.#askOne(folder))
      },
    }
  }

  /**
   * The marks of layers' folders, as they are now, in their order.
   * @throws the system's ENAMETOOLONG where one is too deep to tell
   */
  async ofLayers(layers: readonly LayerFolder[], reading: Reading): Promise<Map<ByteString, Mark>[]> {
    const folders = layers.flatMap((layer, at) =>
      markable(layer, this.#listings.of({ ...layer, frozen: false }, reading), (path) => {
        throw Object.assign(new Error(`${path.slice(0, 200)}... is too long a path`), { code: 'ENAMETOOLONG' })
      }).map((path) => ({ at, layer, path })),
    )
    const found = layers.map(() => new Map<ByteString, Mark>())
    const marks = await this.#ask(folders)
    for (const [index, { at, path }] of folders.entries()) {
      const mark = marks[index]
      if (mark !== undefined) found[at]?.set(path, mark)
    }
    return found
  }

  /** Whether folders were renamed in a layer, as it is now. */
  async hasRedirects(layer: LayerFolder, reading: Reading): Promise<boolean> {
    const deep: ByteString[] = []
    const paths = markable(layer, this.#listings.of({ ...layer, frozen: false }, reading), (path) => deep.push(path))
    const marks = await this.#ask(paths.map((path) => ({ layer, path })))
    if (marks.some((mark) => mark !== undefined && mark.redirect !== null)) return true
    const root = LayerDir.root(layer, 0, reading)
    for (const path of deep) {
      const folder = path.split('/').reduce((dir, name) => dir.child(name), root)
      if ((await this.#askOne(folder)).redirect !== null) return true
    }
    return false
  }

  /** Makes folders of a layer opaque. Their times change. */
  async setOpaque(layer: LayerFolder, paths: readonly ByteString[]): Promise<void> {
    const tool = await this.#chosenTool(layer)
    await tool.set(layer.path, paths, this.#xattr)
    this.forget(layer.path)
  }

  /** A folder that came, or came back, after its live layer was listed; or one that lies too deep. */
  async #askOne(folder: LayerDir): Promise<Mark> {
    let fd: number | null = null
    try {
      fd = openSync(folder.address(), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      const tool = await this.#chosenTool(folder.layer)
      // The tool is another process: our descriptor is reached through our pid.
      const [mark] = await tool.read(`/proc/${process.pid}/fd/${fd}`, ['.'], this.#names())
      if (mark === undefined) throw new InternalError(`${tool.name} did not answer for a folder that is open.`)
      return mark
    } catch (error) {
      if (isGone(error)) return NONE
      throw error
    } finally {
      if (fd !== null) closeSync(fd)
    }
  }

  async #ask(folders: readonly { layer: LayerFolder; path: ByteString }[]): Promise<(Mark | undefined)[]> {
    const first = folders[0]
    if (first === undefined) return []
    const tool = await this.#chosenTool(first.layer)
    const paths = folders.map(({ layer, path }) => join(toByteString(layer.path), path).slice(1))
    return tool.read('/', paths, this.#names())
  }

  #names(): { opaque: string; redirect: string } {
    return { opaque: this.#xattr, redirect: this.#xattr.replace(/opaque$/, 'redirect') }
  }

  #chosenTool(layer: LayerFolder): Promise<MarkTool> {
    this.#tool ??= chooseMarkTool(this.#tools, dirname(layer.path), this.#xattr)
    // Not kept when it failed: the remedy may be installed while we run.
    this.#tool.catch(() => {
      this.#tool = null
    })
    return this.#tool
  }

  /** Most recently used last, so that the first is the one to go. */
  #keep(path: string, marks: LayerMarks): void {
    this.#kept.delete(path)
    this.#kept.set(path, marks)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > KEPT_LAYERS && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/**
 * The folders of a layer but its root, which is merged with what lies below whatever is noted on it, and but those
 * whose path is longer than the kernel takes in one piece.
 */
function markable(layer: LayerFolder, listing: Listing, tooLong: (path: ByteString) => void = () => {}): ByteString[] {
  const paths: ByteString[] = []
  for (const path of foldersOf(listing)) {
    if (layer.path.length + path.length < LONG_PATH) paths.push(path)
    else tooLong(path)
  }
  return paths
}
