/** Calls of tools by agents. Texts in them are beginnings: what is whole is in the messages, files and outputs. */
import type { Database } from 'better-sqlite3'
import { InternalError, ToolCall } from '../contract/index.ts'
import { table, time } from './table.ts'

const toolCallRow = ToolCall.extend({ startedAt: time, endedAt: time.nullable() })

/** Calls that are kept of a session, the newest; and how many more may gather before the oldest go. */
const kept = 2_000
const batch = 100

export function toolCallRepository(db: Database) {
  const rows = table(db, 'toolCalls', toolCallRow, ['session', 'id'])
  const list = db.prepare<[string]>('SELECT * FROM toolCalls WHERE session = ? ORDER BY rowid')
  const running = db.prepare<[string]>(
    "SELECT * FROM toolCalls WHERE session = ? AND status = 'running' ORDER BY rowid",
  )
  const count = db.prepare<[string], number>('SELECT count(*) FROM toolCalls WHERE session = ?').pluck()
  const trim = db.prepare<[string, string]>(
    `DELETE FROM toolCalls WHERE session = ? AND rowid <= (
       SELECT rowid FROM toolCalls WHERE session = ? ORDER BY rowid DESC LIMIT 1 OFFSET ${kept})`,
  )
  return {
    insert(call: ToolCall): void {
      rows.insert(call)
      if ((count.get(call.session) ?? 0) >= kept + batch) trim.run(call.session, call.session)
    },
    get: (session: string, id: string): ToolCall | undefined => rows.get(session, id),
    /** @throws InternalError (no such call) */
    update(session: string, id: string, patch: Partial<ToolCall>): ToolCall {
      const call = rows.update([session, id], patch)
      if (!call) throw new InternalError(`There is no tool call ${id} to change.`, { data: { session, call: id } })
      return call
    },
    /** In the order in which they came. */
    list: (session: string): ToolCall[] => list.all(session).map(rows.read),
    running: (session: string): ToolCall[] => running.all(session).map(rows.read),
  }
}
