/** Commands that were run, live or ended. Their output is in files; here is what is known of them. */
import type { Database } from 'better-sqlite3'
import { CommandLine, CommandRecord, InternalError, TerminalSize } from '../contract/index.ts'
import { flag, json, table, time } from './table.ts'

const commandRow = CommandRecord.extend({
  command: json(CommandLine),
  startedAt: time,
  endedAt: time.nullable(),
  terminal: json(TerminalSize).nullable(),
  guarded: flag,
})

export function commandRepository(db: Database) {
  const rows = table(db, 'commands', commandRow, ['session', 'id'])
  const list = db.prepare<[string]>('SELECT * FROM commands WHERE session = ? ORDER BY rowid')
  const running = db.prepare<[string]>("SELECT * FROM commands WHERE session = ? AND status = 'running' ORDER BY rowid")
  const guarded = db.prepare<[string]>('SELECT * FROM commands WHERE session = ? AND guarded = 1 ORDER BY rowid')
  return {
    insert: (record: CommandRecord): void => rows.insert(record),
    /** @throws InternalError (no such command) */
    update(session: string, id: string, patch: Partial<CommandRecord>): CommandRecord {
      const record = rows.update([session, id], patch)
      if (!record) throw new InternalError(`There is no command ${id} to change.`, { data: { session, command: id } })
      return record
    },
    get: (session: string, id: string): CommandRecord | undefined => rows.get(session, id),
    /** In the order in which they were started. */
    list: (session: string): CommandRecord[] => list.all(session).map(rows.read),
    /** Those whose end the exception rule has not looked at, running or not. */
    guarded: (session: string): CommandRecord[] => guarded.all(session).map(rows.read),
    running: (session: string): CommandRecord[] => running.all(session).map(rows.read),
  }
}
