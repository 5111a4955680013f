/** A session's changes as a patch. */
import { contentsNeeded, unifiedPatch } from '../diff/index.ts'
import { ahead, contentsOf, pairOf, type Range, type Rpc } from '../serve/client/index.ts'

/**
 * What differs, as text for `git apply`. What a patch cannot hold (files over 64 MB, sockets, names that are not UTF-8)
 * is named in a line of its own.
 */
export async function patchOf(rpc: Rpc, range: Range): Promise<string> {
  const { changes } = await rpc.files.changes({ ...range, limit: null })
  const parts: string[] = []
  for await (const [change, pair] of ahead(changes, (change) => pairOf(rpc, range, change))) {
    const needed = contentsNeeded(change, pair)
    parts.push(unifiedPatch(change, pair, needed && (await contentsOf(rpc, range, change, needed))))
  }
  return parts.join('')
}
