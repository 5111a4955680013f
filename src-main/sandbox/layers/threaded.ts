/**
 * The reader as sandboxes use it: what people ask for (changes, files of earlier points) is read in a thread of its own,
 * as it may take seconds; what an operation does to layers is done by the operation.
 */
import type { Change, FilePair } from '../../contract/index.ts'
import type { FilePieces, Meeting } from '../sandbox.ts'
import { ThreadClient } from '../threads/index.ts'
import type { OpaqueXattr } from './marks.ts'
import { createLayerReader, type LayerReader } from './reader.ts'

const PATHS_PER_CALL = 2_000

/** One for the whole host. */
const thread = new ThreadClient('layer-thread', import.meta)

export function createThreadedReader(opaqueXattr: OpaqueXattr): LayerReader {
  const own = createLayerReader({ opaqueXattr })
  const forget = (layerPath: string): void => {
    own.forget(layerPath)
    // One that does not run keeps nothing.
    if (thread.running) void thread.call('forget', opaqueXattr, layerPath).catch(() => {})
  }
  return {
    effort: own.effort,
    hasRedirects: own.hasRedirects,
    delta: own.delta,
    compact: own.compact,
    fold: async (older, newer, beneath, on) => {
      try {
        await own.fold(older, newer, beneath, on)
      } finally {
        for (const { path } of [older, ...newer]) forget(path)
      }
    },
    forget,
    changes: async (from, to) => {
      type Found = { ticket: number; total: number; part: Change[] }
      const { ticket, total, part } = await thread.call<Found>('changes', opaqueXattr, from, to)
      const changes = part
      while (changes.length < total) changes.push(...(await thread.call<Change[]>('more', ticket, changes.length)))
      return changes
    },
    meetings: async (paths, from, to, host, base) => {
      const found: Meeting[] = []
      // A part at a time: taking in tens of thousands at once would stall whoever asked.
      for (let start = 0; start < paths.length; start += PATHS_PER_CALL) {
        const part = paths.slice(start, start + PATHS_PER_CALL)
        found.push(...(await thread.call<Meeting[]>('meetings', opaqueXattr, part, from, to, host, base)))
      }
      return found
    },
    extract: (paths, stack, folder, most) => thread.call<boolean>('extract', opaqueXattr, paths, stack, folder, most),
    pieces: (paths, stack, at, limit) => thread.call<FilePieces>('pieces', opaqueXattr, paths, stack, at, limit),
    pair: (path, from, to, limit) => thread.call<FilePair>('pair', opaqueXattr, path, from, to, limit),
    read: (path, stack, options) => thread.call<Uint8Array>('read', opaqueXattr, path, stack, options),
  }
}
