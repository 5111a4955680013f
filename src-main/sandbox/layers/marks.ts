/**
 * What the kernel notes on the folders of a layer: *opaque* (nothing of the layers below shows through) and
 * *redirect* (the folder was renamed; the layers below have it under another name, met in live layers only).
 *
 * They are extended attributes, which Node cannot read, so a tool reads them, for all folders of all layers that
 * are needed in one go. A frozen layer's marks are kept, a live one's are read anew each time.
 */
import { closeSync, constants, lstatSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { InternalError } from '../../contract/index.ts'
import { isGone, LayerDir, type LayerFolder, LONG_PATH, type Reading } from './layer-dir.ts'
import { chooseMarkTool, type MarkTool } from './mark-tools.ts'
import { type ByteString, join, toByteString, toBytes } from './names.ts'

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

interface LayerMarks {
  marked: Map<ByteString, Mark>
  /** Whether `marked` would hold the folder if it had a mark. */
  covers(folder: ByteString): boolean
}

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
      const kept = layer.frozen ? this.#keptMarks(layer.path) : undefined
      if (kept !== undefined) found.set(layer.path, kept)
      if (found.has(layer.path)) continue
      // A tool takes no path longer than the kernel does: such folders are asked about one by one, when met.
      const paths = listFolders(layer, reading).filter((path) => layer.path.length + path.length < LONG_PATH)
      const asked = new Set(paths)
      found.set(layer.path, { marked: new Map(), covers: (folder) => asked.has(folder) })
      for (const path of paths) folders.push({ layer, path })
    }
    if (folders.length > 0) {
      const absolute = folders.map(({ layer, path }) => join(toByteString(layer.path), path))
      const marks = await this.#readPaths(absolute, folders)
      folders.forEach(({ layer, path }, at) => {
        const mark = marks[at]
        if (mark !== undefined && (mark.opaque || mark.redirect !== null)) found.get(layer.path)?.marked.set(path, mark)
      })
    }
    for (const layer of layers) if (layer.frozen) this.#keep(layer.path, found.get(layer.path))
    return {
      of: async (folder) => {
        const marks = found.get(folder.layer.path)
        if (marks === undefined) throw new InternalError(`The marks of layer ${folder.layer.path} were not read.`)
        const mark = marks.marked.get(folder.path)
        if (mark !== undefined) return mark
        if (marks.covers(folder.path)) return NONE
        return await this.#readOne(folder)
      },
    }
  }

  /** A folder that came after its live layer was listed, or lies too deep. */
  async #readOne(folder: LayerDir): Promise<Mark> {
    let fd: number | null = null
    try {
      fd = openSync(folder.address(), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      const tool = await this.#chosenTool(folder.layer)
      // The tool is another process: our descriptor is reached through our pid.
      const [mark] = await tool.read(`/proc/${process.pid}/fd/${fd}`, ['.'], this.#names())
      return mark ?? NONE
    } catch (error) {
      if (isGone(error)) return NONE
      throw error
    } finally {
      if (fd !== null) closeSync(fd)
    }
  }

  async #readPaths(
    absolute: ByteString[],
    folders: { layer: LayerFolder; path: ByteString }[],
  ): Promise<(Mark | undefined)[]> {
    const first = folders[0]
    if (first === undefined) return []
    const tool = await this.#chosenTool(first.layer)
    const marks = await tool.read(
      '/',
      absolute.map((path) => path.slice(1)),
      this.#names(),
    )
    for (const [at, { layer }] of folders.entries()) {
      if (marks[at] === undefined && (layer.frozen || stillThere(absolute[at] ?? '')))
        throw new InternalError(`${tool.name} did not answer for a folder of layer ${layer.path}.`)
    }
    return marks
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

  #keptMarks(path: string): LayerMarks | undefined {
    const marks = this.#kept.get(path)
    if (marks !== undefined) this.#keep(path, marks)
    return marks
  }

  /** Most recently used last, so that the first is the one to go. */
  #keep(path: string, marks: LayerMarks | undefined): void {
    if (marks === undefined) return
    this.#kept.delete(path)
    this.#kept.set(path, marks)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > KEPT_LAYERS && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** All folders of a layer but its root: the root is merged with what lies below whatever is noted on it. */
function listFolders(layer: LayerFolder, reading: Reading): ByteString[] {
  const paths: ByteString[] = []
  const walk = (folder: LayerDir): void => {
    for (const name of folder.folders()) {
      const child = folder.child(name)
      paths.push(child.path)
      walk(child)
      child.close()
    }
  }
  const root = LayerDir.root(layer, 0, reading)
  walk(root)
  root.close()
  return paths
}

function stillThere(path: ByteString): boolean {
  try {
    return lstatSync(toBytes(path)).isDirectory()
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}
