/** The reader: opens stacks for one question each, and lets go of what was opened for it. */
import type { Change, FilePair } from '../../contract/index.ts'
import type { FilePieces, Meeting } from '../sandbox.ts'
import { compareStacks } from './changes.ts'
import { compact } from './compact.ts'
import { type Delta, type DeltaOptions, writeDelta } from './delta.ts'
import { find, pairOf, readThrough } from './entries.ts'
import { extract, readPieces } from './extract.ts'
import { fold } from './fold.ts'
import { closeReading, type Effort, LayerDir, type LayerFolder, type Reading } from './layer-dir.ts'
import { getfattrTool, type MarkTool, pythonTool, tarTool } from './mark-tools.ts'
import { type Mark, MarkReader, type OpaqueXattr } from './marks.ts'
import { meetings } from './meetings.ts'
import { type ByteString, toByteString } from './names.ts'
import { SharedOpenings } from './shared-openings.ts'
import { Stack } from './stack.ts'

/** Reads overlay layers. Stacks are arrays of layers, top first; the lowest one may be a folder with a whole project. */
export interface LayerReader {
  /**
   * Entries that differ in existence, kind, bytes, mode, owner or link target, sorted by the bytes of their path.
   * Added and deleted folders list their contents too. The workspace folder itself is `.`.
   * @throws EngineUnavailableError where the layers cannot be read here
   */
  changes(from: readonly LayerFolder[], to: readonly LayerFolder[]): Promise<Change[]>
  /**
   * Both sides of a path. Where a symlink is on one side, the other is null unless it is one as well.
   * @param path its bytes, relative to the workspace; symlinks are not followed
   * @throws FileNotFoundError where neither side has it
   */
  pair(
    path: Uint8Array,
    from: readonly LayerFolder[],
    to: readonly LayerFolder[],
    textLimitBytes: number,
  ): Promise<FilePair>
  /**
   * A file's bytes.
   * @param path relative to the workspace, or absolute beneath it
   * @throws FileNotFoundError, InvalidPathError (a folder, outside, or led outside by a symlink)
   */
  read(path: string, stack: readonly LayerFolder[], options: { workspaceInside: string }): Promise<Uint8Array>
  /**
   * How entries of two states meet the host's.
   * @param host its folder
   * @param base the path of the layer that shows the host's folder itself; null where there is none
   */
  meetings(
    paths: readonly ByteString[],
    from: readonly LayerFolder[],
    to: readonly LayerFolder[],
    host: LayerFolder,
    base: string | null,
  ): Promise<Meeting[]>
  /**
   * Copies files of a state to `folder/<index>`.
   * @param most bytes of all together
   * @returns false where there is more, which is not copied then
   * @throws FileNotFoundError where one of them is no regular file any more, DiskFullError
   */
  extract(paths: readonly ByteString[], stack: readonly LayerFolder[], folder: string, most?: number): Promise<boolean>
  /** The bytes of files of a state one after another, at most `limit` at a time. @throws FileNotFoundError as `extract` */
  pieces(
    paths: readonly ByteString[],
    stack: readonly LayerFolder[],
    at: { index: number; offset: number },
    limit: number,
  ): Promise<FilePieces>
  /** Whether folders were renamed in a layer, so that parts of what it shows stand elsewhere in the layers below. */
  hasRedirects(layer: LayerFolder): Promise<boolean>
  /**
   * Writes what makes `live` of `head` as a layer.
   * @param live the live layer first
   * @throws EngineUnavailableError where the layers cannot be read here
   */
  delta(head: readonly LayerFolder[], live: readonly LayerFolder[], options: DeltaOptions): Promise<Delta>
  /**
   * Merges frozen layers into the one that they stand on, one after another: its folder then shows them too, theirs are
   * left empty. Nothing may have them mounted. See fold.ts.
   * @param newer in the order in which they stand on each other, lowest first
   * @param beneath the layers below all of them, top first
   * @param on.moved called after each entry that was moved
   * @param on.folded called after each layer
   */
  fold(
    older: LayerFolder,
    newer: readonly LayerFolder[],
    beneath: readonly LayerFolder[],
    on: { moved: () => void; folded: () => void },
  ): Promise<void>
  /**
   * Writes a layer that shows what a run of frozen layers shows, of hard links to their files. See compact.ts.
   * @param run top first
   * @param beneath what they stand on, top first
   * @param target an empty folder
   * @param halfWay called after each entry that was linked
   * @throws EngineUnavailableError where a folder is closed to us; the system's ENOSPC and ENAMETOOLONG
   */
  compact(
    run: readonly LayerFolder[],
    beneath: readonly LayerFolder[],
    target: string,
    halfWay: () => void,
  ): Promise<void>
  /** Must be told of a frozen layer that was changed (folded) or removed. */
  forget(layerPath: string): void
  /** Entries listed or looked at since the reader was made: the measure of its cost. */
  readonly effort: Readonly<Effort>
}

export interface LayerReaderOptions {
  /** Which attribute the kernel marks folders with: `user.*` where it was mounted with `userxattr`. */
  opaqueXattr: OpaqueXattr
  /** Programs that read attributes, best first. */
  tools?: readonly MarkTool[]
}

export function createLayerReader({
  opaqueXattr,
  tools = [tarTool, pythonTool, getfattrTool],
}: LayerReaderOptions): LayerReader {
  const effort: Effort = { entries: 0 }
  const marks = new MarkReader(opaqueXattr, tools)

  async function withReading<T>(use: (reading: Reading) => Promise<T>): Promise<T> {
    const reading: Reading = { effort, open: new Set<LayerDir>() }
    try {
      return await use(reading)
    } finally {
      closeReading(reading)
    }
  }

  function withStacks<T, Stacks extends readonly (readonly LayerFolder[])[]>(
    stacks: Stacks,
    use: (...opened: { [K in keyof Stacks]: Stack }) => Promise<T>,
  ): Promise<T> {
    return withReading(async (reading) => {
      const needed = await marks.read(
        stacks.flatMap((layers) => layers.slice(0, -1)),
        reading,
      )
      const opened = stacks.map((layers) => new Stack(layers, needed, reading))
      return use(...(opened as { [K in keyof Stacks]: Stack }))
    })
  }

  // Opening starts a program that reads marks, which takes longer than all else about a pair.
  const openings = new SharedOpenings<Stack>((from, to, use) => withStacks([from, to] as const, use))

  return {
    effort,
    changes: (from, to) => withStacks([from, to] as const, compareStacks),
    pair: (path, from, to, limit) => openings.ask(from, to, (old, now) => pairOf(toByteString(path), old, now, limit)),
    read: (path, stack, { workspaceInside }) =>
      withStacks([stack] as const, (opened) => readThrough(path, opened, workspaceInside)),
    meetings: (paths, from, to, host, base) =>
      withStacks([from, to, [host]] as const, (was, now, there) =>
        meetings(paths, { from: was, to: now, host: there }, base),
      ),
    extract: (paths, stack, folder, most) =>
      withStacks([stack] as const, (opened) => extract(opened, paths, folder, most)),
    pieces: (paths, stack, at, limit) => withStacks([stack] as const, (opened) => readPieces(opened, paths, at, limit)),
    hasRedirects: (layer) => withReading((reading) => marks.hasRedirects(layer, reading)),
    fold: (older, newer, beneath, on) =>
      withStacks([beneath] as const, async (rest) => {
        for (const { path } of [older, ...newer]) marks.forget(path)
        // By one program for all of them.
        const [own = new Map<ByteString, Mark>(), ...found] = await withReading((reading) =>
          marks.ofLayers([older, ...newer], reading),
        )
        // A whiteout in a folder that hides what lies beneath is listed by the kernel as an entry that is not there.
        const isHidden = (path: ByteString): boolean => foldersOf(path).some((folder) => own.get(folder)?.opaque)
        // What a host puts into its folder later must not show where something was deleted. But in a folder with nothing
        // beneath it the kernel lists a whiteout as well.
        const changing = beneath.some(({ frozen }) => !frozen)
        const isNeeded = async (path: ByteString): Promise<boolean> =>
          changing ? (await find(rest, parentOf(path)))?.kind === 'folder' : (await find(rest, path)) !== null
        for (const [at, layer] of newer.entries()) {
          const its = found[at] ?? new Map<ByteString, Mark>()
          const merged = await fold({
            older: older.path,
            newer: layer.path,
            isOpaque: (path) => its.get(path)?.opaque === true,
            markOpaque: async (paths) => {
              await marks.setOpaque(layer, paths)
              for (const path of paths) its.set(path, { opaque: true, redirect: null })
            },
            isBeneath: async (path) => (await isNeeded(path)) && !isHidden(path),
            halfWay: on.moved,
          })
          for (const [path, mark] of its) if (!merged.has(path)) own.set(path, mark)
          on.folded()
        }
      }),
    compact: (layers, beneath, target, halfWay) =>
      withReading(async (reading) => {
        const needed = await marks.read([...layers, ...beneath.slice(0, -1)], reading)
        await compact({
          roots: layers.map((layer, depth) => LayerDir.root(layer, depth, reading, needed.listing(layer))),
          marks: needed,
          beneath: new Stack(beneath, needed, reading),
          changing: beneath.some(({ frozen }) => !frozen),
          target,
          markOpaque: (paths) => marks.setOpaque({ path: target, frozen: false }, paths),
          halfWay,
        })
      }),
    delta: (head, live, options) => withStacks([head, live] as const, (was, now) => writeDelta(was, now, options)),
    forget: (layerPath) => marks.forget(layerPath),
  }
}

const parentOf = (path: ByteString): ByteString => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The folders on the way to a path, without it and without the root. */
function foldersOf(path: ByteString): ByteString[] {
  const names = path.split('/')
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'))
}
