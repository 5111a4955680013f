/** The thread that reads layers: all sandboxes of the host share it, and what it keeps of frozen layers. */
import type { Change } from '../../contract/index.ts'
import { Handover, serveThread } from '../threads/index.ts'
import type { LayerFolder } from './layer-dir.ts'
import type { OpaqueXattr } from './marks.ts'
import type { ByteString } from './names.ts'
import { createLayerReader, type LayerReader } from './reader.ts'

/** Changes handed over at a time: taking in a hundred thousand would stall whoever asked, too. */
const PER_ANSWER = 1_000

const readers = new Map<OpaqueXattr, LayerReader>()
const pending = new Map<number, Change[]>()
let next = 0

function readerOf(opaqueXattr: OpaqueXattr): LayerReader {
  const reader = readers.get(opaqueXattr) ?? createLayerReader({ opaqueXattr })
  readers.set(opaqueXattr, reader)
  return reader
}

serveThread({
  /** What was found, the first part of it at once. */
  changes: async (xattr: OpaqueXattr, from: LayerFolder[], to: LayerFolder[]) => {
    const changes = await readerOf(xattr).changes(from, to)
    const ticket = next++
    if (changes.length > PER_ANSWER) pending.set(ticket, changes)
    return { ticket, total: changes.length, part: changes.slice(0, PER_ANSWER) }
  },
  /** The part of a list that begins at `start`; it is forgotten with its last one. */
  more: (ticket: number, start: number): Change[] => {
    const changes = pending.get(ticket) ?? []
    if (start + PER_ANSWER >= changes.length) pending.delete(ticket)
    return changes.slice(start, start + PER_ANSWER)
  },
  pair: (xattr: OpaqueXattr, path: Uint8Array, from: LayerFolder[], to: LayerFolder[], limit: number) =>
    readerOf(xattr).pair(path, from, to, limit),
  read: async (xattr: OpaqueXattr, path: string, stack: LayerFolder[], options: { workspaceInside: string }) => {
    const bytes = await readerOf(xattr).read(path, stack, options)
    // Small ones lie in memory that Node shares among many.
    return bytes.byteLength === bytes.buffer.byteLength ? new Handover(bytes, [bytes.buffer as ArrayBuffer]) : bytes
  },
  meetings: (
    xattr: OpaqueXattr,
    paths: ByteString[],
    from: LayerFolder[],
    to: LayerFolder[],
    host: LayerFolder,
    base: string | null,
  ) => readerOf(xattr).meetings(paths, from, to, host, base),
  extract: (xattr: OpaqueXattr, paths: ByteString[], stack: LayerFolder[], folder: string, most?: number) =>
    readerOf(xattr).extract(paths, stack, folder, most),
  pieces: (
    xattr: OpaqueXattr,
    paths: ByteString[],
    stack: LayerFolder[],
    at: { index: number; offset: number },
    limit: number,
  ) => readerOf(xattr).pieces(paths, stack, at, limit),
  forget: (xattr: OpaqueXattr, layerPath: string) => readerOf(xattr).forget(layerPath),
})
