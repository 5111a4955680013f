/**
 * The reader as sandboxes use it: what people ask for (changes, files of earlier points) is read in a thread of its own,
 * as it may take seconds; what an operation does to layers is done by the operation.
 */
import type { Change, FilePair } from '../../contract/index.ts'
import { ThreadClient } from '../threads/index.ts'
import type { OpaqueXattr } from './marks.ts'
import { createLayerReader, type LayerReader } from './reader.ts'

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
    pair: (path, from, to, limit) => thread.call<FilePair>('pair', opaqueXattr, path, from, to, limit),
    read: (path, stack, options) => thread.call<Uint8Array>('read', opaqueXattr, path, stack, options),
  }
}
