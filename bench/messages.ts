/** What a long conversation costs: one more message of it, and all that it leaves in the store. */
import { statSync } from 'node:fs'
import SQLite from 'better-sqlite3'
import type { Message } from '../src-main/contract/index.ts'
import type { Session } from '../src-main/session/index.ts'
import { type Figure, figureOf, timed } from './measure.ts'

export interface MessageFigures {
  /** A sync of one new message, of an agent that compacts its history now and then. */
  compacted: Figure
  /** The same at the end of a history of 10,000 messages. */
  long: Figure
  /** What the store grew by, over the distinct text that it was given. */
  growth: number
}

const SYNCS = 500
const MESSAGES_PER_SYNC = 20

const say = (text: string): Message => ({ role: 'user', content: text })

/** Size of the file with all that was written to it, as it stands when everything has been moved into it. */
function bytesOf(storeFile: string): number {
  const db = new SQLite(storeFile)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return statSync(storeFile).size
}

/** @param runs how many syncs of one message are timed */
export async function measureMessages(session: Session, storeFile: string, runs: number): Promise<MessageFigures> {
  const sync = (messages: Message[], conversation: string) =>
    session.sync({ messages, conversation, revision: null, format: 'openai' })
  const before = bytesOf(storeFile)
  const distinct = new Set<string>()
  let history: Message[] = []
  const samples: number[] = []
  for (let round = 0; round < SYNCS; round++) {
    // An agent that compacts: a summary, and the last messages as they were.
    if (round > 0 && round % 90 === 0) history = [say(`summary ${round}: ${'s'.repeat(400)}`), ...history.slice(-20)]
    for (let more = 0; more < MESSAGES_PER_SYNC; more++)
      history.push(say(`message ${round * MESSAGES_PER_SYNC + more} ${'x'.repeat(300)}`))
    for (const message of history) distinct.add(JSON.stringify(message))
    await sync(history, 'compacted')
    if (round % 10 === 9) {
      history.push(say(`one more ${round}`))
      distinct.add(JSON.stringify(history.at(-1)))
      samples.push(await timed(() => sync(history, 'compacted')))
    }
  }
  const payload = [...distinct].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const growth = (bytesOf(storeFile) - before) / payload

  const long = Array.from({ length: SYNCS * MESSAGES_PER_SYNC }, (_, n) => say(`${n} ${'y'.repeat(300)}`))
  await sync(long, 'long')
  const last: number[] = []
  for (let run = 0; run < runs; run++) {
    long.push(say(`new ${run}`))
    // A client reads its messages anew each time: none of them is the object that was given before.
    const given = structuredClone(long)
    last.push(await timed(() => sync(given, 'long')))
  }
  return { compacted: figureOf(samples), long: figureOf(last), growth }
}
