/** Both sides of changes, fetched for whoever draws them: pairs of texts, and bytes where a patch needs those. */
import { Buffer, isUtf8 } from 'node:buffer'
import type { Change, FilePair } from '../../contract/index.ts'
import type { Contents } from '../../diff/index.ts'
import type { Rpc } from './connect.ts'

export interface Range {
  session: string
  from: string
  to: string
}

/** Questions to the host that are under way at once. */
const AHEAD = 64
/** Both sides' bytes are fetched up to this size, one file at a time in memory and in one message. */
const CONTENT_BYTES = 64 << 20

/** Each item with its answer, in their order; some questions are always on their way. */
export async function* ahead<T, A>(items: readonly T[], ask: (item: T) => Promise<A>): AsyncGenerator<[T, A]> {
  const asked: [T, Promise<A>][] = []
  for (let next = 0; next < items.length || asked.length > 0; ) {
    for (const item of items.slice(next, next + AHEAD - asked.length)) {
      const answer = ask(item)
      // Its failure is met when it is its turn.
      answer.catch(() => {})
      asked.push([item, answer])
      next++
    }
    const [item, answer] = asked.shift() as [T, Promise<A>]
    yield [item, await answer]
  }
}

/** Null where it is too large for a message, or has a name that cannot be asked for. */
export async function contentsOf(
  rpc: Rpc,
  { session, from, to }: Range,
  change: Change,
  needed: { before: boolean; after: boolean },
): Promise<Contents | null> {
  const path = change.rawPath === null ? change.path : textOf(Buffer.from(change.rawPath, 'base64'))
  if (path === null || Math.max(change.before ?? 0, change.after ?? 0) > CONTENT_BYTES) return null
  const read = async (at: string) => {
    const { content } = await rpc.files.read({ session, path, at, encoding: 'base64' })
    return Buffer.from(content, 'base64')
  }
  return { before: needed.before ? await read(from) : null, after: needed.after ? await read(to) : null }
}

const textOf = (bytes: Buffer): string | null => (isUtf8(bytes) ? bytes.toString('utf8') : null)

/** Both sides of a change; null for what has none. */
export async function pairOf(rpc: Rpc, range: Range, change: Change): Promise<FilePair | null> {
  const { kind, path, rawPath, status } = change
  // A folder may stand where a file was.
  const hasSides = kind === 'folder' ? status === 'type' : kind !== 'other'
  return hasSides ? rpc.files.pair({ ...range, path, rawPath }) : null
}
