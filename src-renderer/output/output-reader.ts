/**
 * Follows one stream of a command: asks for what is new while it runs, and once more when it ended. Holds the last
 * part only; how much came before is known, so the window can say so.
 */
import type { Rpc } from '../host/link.ts'

/** Kept in the window; the whole stays with the host. */
export const KEPT_BYTES = 256 * 1024
const CHUNK_BYTES = 256 * 1024
const ASK_AGAIN_MS = 250

export interface StreamText {
  text: string
  /** Bytes before `text` that are not held here. */
  skipped: number
}

interface Following {
  rpc: Pick<Rpc, 'commands'>
  session: string
  id: string
  stream: 'stdout' | 'stderr'
  /** Bytes known to be there when following begins: what is older than the kept part is not even asked for. */
  known: number
  onText(text: StreamText): void
  signal: AbortSignal
}

/** Resolves when the command has ended and all is read. Throws what the host answers. */
export async function followOutput({ rpc, session, id, stream, known, onText, signal }: Following): Promise<void> {
  let offset = Math.max(0, known - KEPT_BYTES)
  let skipped = offset
  let held = new Uint8Array()
  while (!signal.aborted) {
    const { bytes, next, ended } = await rpc.commands.output(
      { session, id, stream, offset, limit: CHUNK_BYTES },
      { signal },
    )
    if (signal.aborted) return
    const news = Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))
    if (news.length > 0) {
      held = joined(held, news)
      if (held.length > KEPT_BYTES) {
        skipped += held.length - KEPT_BYTES
        held = held.slice(-KEPT_BYTES)
      }
      onText({ text: new TextDecoder().decode(held), skipped })
    }
    offset = next
    if (ended && news.length === 0) return
    if (news.length === 0) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length)
  all.set(a)
  all.set(b, a.length)
  return all
}
