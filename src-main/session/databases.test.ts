import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { CancelledError, FileNotFoundError } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, run, type TestHome, testHome } from './testing.ts'

/** A database with a row that is only in its log. */
function logged(folder: string, first: string, second: string): { main: Buffer; log: Buffer } {
  mkdirSync(folder)
  const file = join(folder, 'db')
  const db = new SQLite(file)
  db.exec('PRAGMA journal_mode = wal; CREATE TABLE users (id INTEGER PRIMARY KEY, name)')
  db.prepare('INSERT INTO users VALUES (1, ?)').run(first)
  db.pragma('wal_checkpoint(truncate)')
  db.prepare('INSERT INTO users VALUES (2, ?)').run(second)
  const bytes = { main: readFileSync(file), log: readFileSync(`${file}-wal`) }
  db.close()
  return bytes
}

suiteNeeding(['local'], 'databases and bytes of a session', () => {
  let place: TestHome
  let manager: SessionManager
  let close: () => Promise<void>
  let session: Session
  beforeAll(async () => {
    place = testHome()
    mkdirSync(join(place.home, 'databases', 'pair-left'), { recursive: true })
    const { main, log } = logged(join(place.folder, 'made'), 'Ada', 'Bob')
    writeFileSync(join(place.workspace, 'app.db'), main)
    writeFileSync(join(place.workspace, 'app.db-wal'), log)
    ;({ manager, close } = await place.open())
    expect(existsSync(join(place.home, 'databases'))).toBe(false)
    session = await begin(manager, place.workspace)
  })
  afterAll(async () => {
    await close()
    await place.remove()
  })
  const put = (path: string, bytes: Buffer) =>
    session.write({ path, content: bytes.toString('base64'), encoding: 'base64', tool: null })
  const tables = async (from: string, to: string) => {
    const pair = await session.database({ path: 'app.db', rawPath: null, from, to })
    return pair.kind === 'tables'
      ? pair.tables.map(({ name, before, after, counts }) => ({ name, before, after, counts }))
      : pair
  }

  test('both states are read with the log that each had, and nothing of it stays', async () => {
    const next = logged(join(place.folder, 'next'), 'Ada', 'Bo')
    await put('app.db', next.main)
    await put('app.db-wal', next.log)
    await checkpoint(session, 'renamed')
    await run(session, 'rm app.db-wal')
    const changed = [{ name: 'users', before: 2, after: 2, counts: { added: 0, deleted: 0, changed: 1 } }]
    expect(await tables('base', 'renamed')).toEqual(changed)
    // Without its log the last row was never there.
    expect(await tables('renamed', 'now')).toEqual([
      { name: 'users', before: 2, after: 1, counts: { added: 0, deleted: 1, changed: 0 } },
    ])
    expect(readdirSync(join(place.home, 'databases'))).toEqual([])
  })

  test('only one is compared at a time, and none that nobody waits for any more', async () => {
    const off = [new AbortController(), new AbortController()]
    const ask = (signal?: AbortSignal) =>
      session.database({ path: 'app.db', rawPath: null, from: 'base', to: 'renamed' }, signal)
    const scratch = join(place.home, 'databases')
    const seen = new Set<string>()
    let most = 0
    const look = setInterval(() => {
      const now = existsSync(scratch) ? readdirSync(scratch) : []
      most = Math.max(most, now.length)
      for (const name of now) seen.add(name)
      // In the middle of the first.
      if (now.length > 0) for (const one of off) one.abort()
    }, 2)
    const asked = await Promise.allSettled([ask(off[0]?.signal), ask(off[1]?.signal), ask()])
    clearInterval(look)
    expect(asked.map((one) => (one.status === 'fulfilled' ? one.value.kind : one.reason.constructor))).toEqual([
      CancelledError,
      CancelledError,
      'tables',
    ])
    expect({ most, all: seen.size }).toEqual({ most: 1, all: 2 })
    expect(readdirSync(scratch)).toEqual([])
  })

  test('a transaction under way is told of, and its journal is not played back', async () => {
    const db = new SQLite(join(place.folder, 'hot'))
    db.exec('CREATE TABLE t (a)')
    db.close()
    await put('hot.db', readFileSync(join(place.folder, 'hot')))
    await put('hot.db-journal', Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(504)]))
    const pair = await session.database({ path: 'hot.db', rawPath: null, from: 'base', to: 'now' })
    expect(pair).toMatchObject({ kind: 'tables', tables: [{ name: 't', status: 'added' }] })
    expect(pair.kind === 'tables' && pair.notes).toEqual([expect.stringContaining('A transaction was being written')])
  })

  test('one that is written all the time is told of, and one that was left alone is not', async () => {
    const db = new SQLite(join(place.folder, 'busy'))
    db.exec('CREATE TABLE t (a)')
    db.close()
    await put('busy.db', readFileSync(join(place.folder, 'busy')))
    const notes = async () => {
      const pair = await session.database({ path: 'busy.db', rawPath: null, from: 'base', to: 'now' })
      return pair.kind === 'tables' ? pair.notes : pair
    }
    // The same byte, again and again.
    const command = 'while [ ! -e stop ]; do printf S 1<>busy.db; done'
    const writing = run(session, `: >begun; ${command}`)
    while (
      !(await session.changes({ from: 'base', to: 'now', limit: null })).changes.some((one) => one.path === 'begun')
    )
      await setTimeout(20)
    // On a busy machine the writer may be kept waiting while it is copied.
    await expect.poll(notes).toEqual([expect.stringContaining('It was being written while it was read')])
    await run(session, ': >stop')
    await writing
    expect(await notes()).toEqual([])
  })

  test('bytes come in parts, exactly, of any state, and through no link', async () => {
    const whole = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 256))
    await put('noise.bin', whole)
    await checkpoint(session, 'noisy')
    await run(session, 'rm noise.bin && ln -s /etc/passwd noise.bin')
    const part = (offset: number, limit: number, at = 'noisy') =>
      session.bytes({ path: 'noise.bin', rawPath: null, at, offset, limit })
    expect(await part(0, 600)).toEqual({ bytes: whole.subarray(0, 600).toString('base64'), next: 600 })
    expect(await part(600, 600)).toEqual({ bytes: whole.subarray(600).toString('base64'), next: null })
    expect(await part(0, 1000)).toMatchObject({ next: null })
    expect(await part(5000, 10)).toEqual({ bytes: '', next: null })
    await expect(part(0, 10, 'now')).rejects.toBeInstanceOf(FileNotFoundError)
    await expect(session.bytes({ path: 'none', rawPath: null, at: 'now', offset: 0, limit: 1 })).rejects.toBeInstanceOf(
      FileNotFoundError,
    )
    await expect(session.database({ path: 'none', rawPath: null, from: 'base', to: 'now' })).rejects.toBeInstanceOf(
      FileNotFoundError,
    )
  })
})
