/**
 * The log from which clients that were away catch up. It is bounded, and ids are never given twice, so a client can tell
 * "nothing happened" from "what happened is no longer held".
 */
import type { Database } from 'better-sqlite3'
import { type NewSessionEvent, SessionEvent, StoreUnavailableError } from '../contract/index.ts'
import { atomic } from './database.ts'

/** Events that are kept at least, and how many more may gather before they are trimmed. */
const kept = 20_000
const batch = 1_000

/** Dates are written as `{"$date": ms}`: no event has a field of that name. */
const dateKey = '$date'

const toJson = (event: NewSessionEvent): string =>
  JSON.stringify(event, function (this: Record<string, unknown>, key, value: unknown) {
    const raw = this[key]
    return raw instanceof Date ? { [dateKey]: raw.getTime() } : value
  })

const fromJson = (text: string): Record<string, unknown> =>
  JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && dateKey in value ? new Date(Number(value[dateKey])) : value,
  )

interface Row {
  id: number
  at: number
  body: string
}

export function eventRepository(db: Database) {
  const insert = db.prepare('INSERT INTO events (at, session, body) VALUES (?, ?, ?)')
  const trim = db.prepare<[number]>('DELETE FROM events WHERE id <= ?')
  const since = db.prepare<[number, number], Row>('SELECT id, at, body FROM events WHERE id > ? ORDER BY id LIMIT ?')
  const last = db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck()
  const oldest = db.prepare<[], number | null>('SELECT min(id) FROM events').pluck()

  const read = (row: Row): SessionEvent => {
    const parsed = SessionEvent.safeParse({ ...fromJson(row.body), id: row.id, at: new Date(row.at) })
    if (parsed.success) return parsed.data
    throw new StoreUnavailableError(`Event ${row.id} in ${db.name} is damaged.`, {
      nextStep: 'Load everything again instead of catching up.',
      data: { file: db.name, table: 'events', record: String(row.id) },
    })
  }

  return {
    append: atomic(db, (event: NewSessionEvent): SessionEvent => {
      const at = new Date()
      const id = Number(insert.run(at.getTime(), event.session, toJson(event)).lastInsertRowid)
      if (id % batch === 0) trim.run(id - kept)
      return { ...event, id, at }
    }),
    /** Events after `id`, oldest first, at most `limit`. */
    since: (id: number, limit: number): SessionEvent[] => since.all(id, limit).map(read),
    /** The newest id that was ever given; 0 before the first. */
    last: (): number => last.get() ?? 0,
    /** The oldest id that is held; with none held, the next one. */
    oldest: (): number => oldest.get() ?? (last.get() ?? 0) + 1,
  }
}
