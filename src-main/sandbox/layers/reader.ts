/** The reader: opens stacks for one question each, and lets go of what was opened for it. */
import type { Change, FilePair } from '../../contract/index.ts'
import { compareStacks } from './changes.ts'
import { type Delta, type DeltaOptions, writeDelta } from './delta.ts'
import { find, pairOf, readThrough } from './entries.ts'
import { fold } from './fold.ts'
import { closeReading, type Effort, type LayerDir, type LayerFolder, type Reading } from './layer-dir.ts'
import { getfattrTool, type MarkTool, pythonTool, tarTool } from './mark-tools.ts'
import { MarkReader, type OpaqueXattr } from './marks.ts'
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
  /** Whether folders were renamed in a layer, so that parts of what it shows stand elsewhere in the layers below. */
  hasRedirects(layer: LayerFolder): Promise<boolean>
  /**
   * Writes what makes `live` of `head` as a layer.
   * @param live the live layer first
   * @throws EngineUnavailableError where the layers cannot be read here
   */
  delta(head: readonly LayerFolder[], live: readonly LayerFolder[], options: DeltaOptions): Promise<Delta>
  /**
   * Merges a frozen layer into its older neighbour, whose folder then shows both; the newer one's is left empty. Nothing
   * may have them mounted. See fold.ts.
   * @param beneath the layers below both, top first
   * @param halfWay called after each entry that was moved
   */
  fold(older: LayerFolder, newer: LayerFolder, beneath: readonly LayerFolder[], halfWay: () => void): Promise<void>
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
    hasRedirects: async (layer) => {
      const found = await withReading((reading) => marks.ofLayer(layer, reading))
      return [...found.values()].some(({ redirect }) => redirect !== null)
    },
    fold: (older, newer, beneath, halfWay) =>
      withStacks([beneath] as const, async (rest) => {
        for (const { path } of [older, newer]) marks.forget(path)
        const found = await withReading((reading) => marks.ofLayer(newer, reading))
        // A whiteout in a folder that hides what lies beneath is listed by the kernel as an entry that is not there.
        const opaque = once(() => withReading((reading) => marks.ofLayer(older, reading)))
        const isHidden = async (path: ByteString): Promise<boolean> => {
          const found = await opaque()
          return foldersOf(path).some((folder) => found.get(folder)?.opaque)
        }
        // What a host puts into its folder later must not show where something was deleted.
        const changing = beneath.some(({ frozen }) => !frozen)
        await fold({
          older: older.path,
          newer: newer.path,
          isOpaque: (path) => found.get(path)?.opaque === true,
          markOpaque: (paths) => marks.setOpaque(newer, paths),
          isBeneath: async (path) => (changing || (await find(rest, path)) !== null) && !(await isHidden(path)),
          halfWay,
        })
      }),
    delta: (head, live, options) => withStacks([head, live] as const, (was, now) => writeDelta(was, now, options)),
    forget: (layerPath) => marks.forget(layerPath),
  }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () => {
    answer ??= ask()
    return answer
  }
}

/** The folders on the way to a path, without it and without the root. */
function foldersOf(path: ByteString): ByteString[] {
  const names = path.split('/')
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'))
}
