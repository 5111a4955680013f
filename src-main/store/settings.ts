/** Settings of the data folder, by key. */
import type { Database } from 'better-sqlite3'

export function settingRepository(db: Database) {
  const get = db.prepare<[string], string>('SELECT value FROM settings WHERE key = ?').pluck()
  const set = db.prepare<[string, string]>(
    'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  return {
    get: (key: string): string | undefined => get.get(key),
    set(key: string, value: string): void {
      set.run(key, value)
    },
  }
}
