/**
 * What the kernel notes on the folders of a layer: *opaque* (nothing of the layers below shows through) and
 * *redirect* (the folder was renamed; the layers below have it under another name, met in live layers only).
 *
 * They are extended attributes, which Node cannot read, so a tool reads them, for all folders of all layers that
 * are needed in one go. A frozen layer's marks are kept, a live one's are read anew each time.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { InternalError } from '../../contract/index.ts'
import { isGone, LayerDir, type LayerFolder, LONG_PATH, type Reading } from './layer-dir.ts'
import { chooseMarkTool, type MarkTool } from './mark-tools.ts'
import { type ByteString, join, toByteString } from './names.ts'

export type OpaqueXattr = 'trusted.overlay.opaque' | 'user.overlay.opaque'

export interface Mark {
  opaque: boolean
  redirect: ByteString | null
}

/** The marks of some layers: by layer path, then by folder. */
export interface Marks {
  of(folder: LayerDir): Promise<Mark>
}

const NONE: Mark = { opaque: false, redirect: null }

/** Answers for the folders of one layer. A folder that is not in it has to be asked about. */
type LayerMarks = Map<ByteString, Mark>

/** Frozen layers whose marks are kept: some sessions' whole chains. */
const KEPT_LAYERS = 1024

export class MarkReader {
  readonly #xattr: OpaqueXattr
  readonly #tools: readonly MarkTool[]
  readonly #kept = new Map<string, LayerMarks>()
  #tool: Promise<MarkTool> | null = null

  constructor(xattr: OpaqueXattr, tools: readonly MarkTool[]) {
    this.#xattr = xattr
    this.#tools = tools
  }

  /** Drops what is kept about a layer: for whoever changes a frozen one (folding, pruning). */
  forget(layerPath: string): void {
    this.#kept.delete(layerPath)
  }

  /**
   * Marks of the layers, which hold all but the lowest of each stack: below that there is nothing to hide.
   * @throws EngineUnavailableError where no tool can read them
   */
  async read(layers: readonly LayerFolder[], reading: Reading): Promise<Marks> {
    const found = new Map<string, LayerMarks>()
    const folders: { layer: LayerFolder; path: ByteString }[] = []
    for (const layer of layers) {
      const kept = layer.frozen ? this.#kept.get(layer.path) : undefined
      if (kept === undefined && !found.has(layer.path))
        for (const path of listFolders(layer, reading)) folders.push({ layer, path })
      found.set(layer.path, found.get(layer.path) ?? kept ?? new Map())
    }
    const marks = await this.#ask(folders)
    for (const [at, { layer, path }] of folders.entries()) {
      const mark = marks[at]
      if (mark !== undefined) found.get(layer.path)?.set(path, mark)
    }
    for (const layer of layers) if (layer.frozen) this.#keep(layer.path, found.get(layer.path) ?? new Map())
    return {
      of: async (folder) => found.get(folder.layer.path)?.get(folder.path) ?? (await this.#askOne(folder)),
    }
  }

  /** The marks of a layer's folders, as they are now. @throws the system's ENAMETOOLONG where it is too deep to tell */
  async ofLayer(layer: LayerFolder, reading: Reading): Promise<ReadonlyMap<ByteString, Mark>> {
    const paths = listFolders(layer, reading, (path) => {
      throw Object.assign(new Error(`${path.slice(0, 200)}... is too long a path`), { code: 'ENAMETOOLONG' })
    })
    const marks = await this.#ask(paths.map((path) => ({ layer, path })))
    return new Map(paths.flatMap((path, at) => (marks[at] ? [[path, marks[at]] as const] : [])))
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

  async #ask(folders: { layer: LayerFolder; path: ByteString }[]): Promise<(Mark | undefined)[]> {
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
function listFolders(
  layer: LayerFolder,
  reading: Reading,
  tooLong: (path: ByteString) => void = () => {},
): ByteString[] {
  const paths: ByteString[] = []
  const walk = (folder: LayerDir): void => {
    for (const name of folder.folders()) {
      const child = folder.child(name)
      if (layer.path.length + child.path.length < LONG_PATH) paths.push(child.path)
      else tooLong(child.path)
      walk(child)
      child.close()
    }
  }
  const root = LayerDir.root(layer, 0, reading)
  walk(root)
  root.close()
  return paths
}
