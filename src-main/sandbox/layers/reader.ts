/** The reader: opens stacks for one question each, and lets go of what was opened for it. */
import type { Change, FilePair } from '../../contract/index.ts'
import { compareStacks } from './changes.ts'
import { type Delta, type DeltaOptions, writeDelta } from './delta.ts'
import { pairOf, readThrough } from './entries.ts'
import { closeReading, type Effort, type LayerDir, type LayerFolder } from './layer-dir.ts'
import { getfattrTool, type MarkTool, pythonTool, tarTool } from './mark-tools.ts'
import { MarkReader, type OpaqueXattr } from './marks.ts'
import { toByteString } from './names.ts'
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

  async function withStacks<T, Stacks extends readonly (readonly LayerFolder[])[]>(
    stacks: Stacks,
    use: (...opened: { [K in keyof Stacks]: Stack }) => Promise<T>,
  ): Promise<T> {
    const reading = { effort, open: new Set<LayerDir>() }
    try {
      const needed = await marks.read(
        stacks.flatMap((layers) => layers.slice(0, -1)),
        reading,
      )
      const opened = stacks.map((layers) => new Stack(layers, needed, reading))
      return await use(...(opened as { [K in keyof Stacks]: Stack }))
    } finally {
      closeReading(reading)
    }
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
      const reading = { effort, open: new Set<LayerDir>() }
      try {
        return await marks.hasRedirects(layer, reading)
      } finally {
        closeReading(reading)
      }
    },
    delta: (head, live, options) => withStacks([head, live] as const, (was, now) => writeDelta(was, now, options)),
    forget: (layerPath) => marks.forget(layerPath),
  }
}
