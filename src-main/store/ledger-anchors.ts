/**
 * The end of each ledger's chain, noted in a file of its own: who makes the whole chain anew in the database (which
 * would recompute) meets a note that says otherwise. A note is written a moment after its rows, once they are on the disk, so
 * a crash or a power cut leaves a note of an earlier end, which still has to be part of the chain. One that is not stays as it
 * is: later rows do not cover up what was done to earlier ones.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Anchor = z.object({ rows: z.number().int().min(1), hash: z.string() })
type Anchor = z.infer<typeof Anchor>

/** What the notes are about. */
interface Chains {
  /** The last row that has committed. */
  end(session: string): Anchor | null
  hashOf(session: string, row: number): string | undefined
  /** All that has committed is on the disk when it returns. */
  sync(): void
}

export interface LedgerAnchors {
  /** What was noted of a session's ledger; null where nothing was, `damaged` where it is not what we wrote. */
  read(session: string): Anchor | 'damaged' | null
  /** Notes the end of a session's ledger in a moment: not within the transaction that runs now. */
  noteSoon(session: string): void
  /** Notes at once what waits. Never throws: on a full disk a note stays that of an earlier end, which is true as well. */
  flush(): void
}

/** Rows come in bursts. */
const NOTE_DELAY_MS = 200

/** @param folder made where it is missing */
export function ledgerAnchors(folder: string, chains: Chains): LedgerAnchors {
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const path = (session: string) => join(folder, `${session}.json`)

  const read: LedgerAnchors['read'] = (session) => {
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
  }

  const note = (session: string): void => {
    const anchor = chains.end(session)
    const noted = read(session)
    if (anchor === null || noted === 'damaged') return
    if (noted !== null && chains.hashOf(session, noted.rows) !== noted.hash) return
    const file = openSync(`${path(session)}.new`, 'w', 0o600)
    try {
      writeFileSync(file, JSON.stringify(anchor))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(`${path(session)}.new`, path(session))
  }

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const sessions = [...waiting]
    waiting.clear()
    if (sessions.length === 0) return
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      chains.sync()
      for (const session of sessions) note(session)
    } catch {
      // Said above: the earlier note holds.
    }
  }

  return {
    read,
    flush,
    noteSoon(session) {
      waiting.add(session)
      timer ??= setTimeout(flush, NOTE_DELAY_MS).unref()
    },
  }
}
