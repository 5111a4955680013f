/**
 * The end of each ledger's chain, noted in a file of its own: who makes the whole chain anew in the database (which
 * would recompute) meets a note that says otherwise. It is written after the rows have committed, so a crash between the
 * two leaves a note of an earlier end, which still has to be part of the chain.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Anchor = z.object({ rows: z.number().int().min(1), hash: z.string() })
type Anchor = z.infer<typeof Anchor>

export interface LedgerAnchors {
  /** What was noted of a session's ledger; null where nothing was, `damaged` where it is not what we wrote. */
  read(session: string): Anchor | 'damaged' | null
  /** Notes the end of a session's ledger once the transaction that runs now is over. */
  noteSoon(session: string): void
}

/**
 * @param folder made where it is missing
 * @param end the last row that has committed
 */
export function ledgerAnchors(folder: string, end: (session: string) => Anchor | null): LedgerAnchors {
  const waiting = new Set<string>()
  const path = (session: string) => join(folder, `${session}.json`)

  const note = (session: string): void => {
    const anchor = end(session)
    if (anchor === null) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${path(session)}.new`, JSON.stringify(anchor), { mode: 0o600 })
    renameSync(`${path(session)}.new`, path(session))
  }

  return {
    read(session) {
      let text: string
      try {
        text = readFileSync(path(session), 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
      try {
        return Anchor.parse(JSON.parse(text))
      } catch {
        return 'damaged'
      }
    },
    noteSoon(session) {
      if (waiting.has(session)) return
      waiting.add(session)
      // Transactions are synchronous: by the next microtask this one has committed or thrown.
      queueMicrotask(() => {
        waiting.delete(session)
        try {
          note(session)
        } catch {
          // On a full disk the note stays that of an earlier end, which is true as well.
        }
      })
    },
  }
}
