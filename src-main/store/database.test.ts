import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { DiskFullError, InternalError, SandboxNotFoundError, StoreUnavailableError } from '../contract/index.ts'
import { connect, durable } from './database.ts'
import { openStore } from './index.ts'
import { migrate, migrations, versionOf } from './migrate.ts'
import { sessionRow } from './session-row.fixture.ts'
import { storeWith, temporaryFolder } from './store.fixture.ts'
import { storeOver } from './store.ts'

describe('opening', () => {
  it('makes a file for its owner alone', () => {
    const file = join(temporaryFolder(), 'store.db')
    const db = connect(file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(db.pragma('foreign_keys', { simple: true })).toBe(1)
    db.close()
  })

  it('waits for the disk in durable work alone', () => {
    const db = connect(join(temporaryFolder(), 'store.db'))
    const synchronous = () => db.pragma('synchronous', { simple: true })
    const [NORMAL, FULL] = [1, 2]
    expect(synchronous()).toBe(NORMAL)
    expect(durable(db, synchronous)).toBe(FULL)
    expect(() =>
      durable(db, () => {
        throw new Error('broken off')
      }),
    ).toThrow('broken off')
    expect(synchronous()).toBe(NORMAL)
    db.close()
  })

  it('finds again what an earlier one stored', () => {
    const { store, file } = storeWith('s1')
    store.close()
    const again = openStore(file)
    expect(again.sessions.get('s1')).toEqual(sessionRow())
    again.close()
  })

  it('refuses what a newer version wrote, saying what to do, and leaves it as it is', () => {
    const file = join(temporaryFolder(), 'store.db')
    const newer = new SQLite(file)
    newer.exec('CREATE TABLE tomorrow (thing TEXT)')
    newer.pragma(`user_version = ${migrations.length + 1}`)
    newer.close()
    const bytes = readFileSync(file)
    const error = thrown(() => openStore(file))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({ exitCode: 4, nextStep: expect.stringContaining('Update Rewind') })
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  it('says that a file is damaged when it is no database', () => {
    const file = join(temporaryFolder(), 'store.db')
    writeFileSync(file, 'once a database, now a poem\n'.repeat(400))
    const error = thrown(() => openStore(file))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({ message: expect.stringContaining('is damaged'), nextStep: expect.any(String) })
  })

  it('says that it is damaged when pages were overwritten', () => {
    const { store, file } = storeWith('s1')
    store.messages.save(Array.from({ length: 500 }, (_, n) => ({ role: 'user', content: `${n} ${'x'.repeat(400)}` })))
    store.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xa5, 4096 * 3))
    const error = thrown(() => {
      const damaged = openStore(file)
      try {
        damaged.messages.save([{ role: 'user', content: 'more' }])
      } finally {
        damaged.close()
      }
    })
    expect(error).toBeInstanceOf(StoreUnavailableError)
  })

  it('names a single damaged record where it is read, and goes on with the others', () => {
    const { store, file } = storeWith('s1', 's2')
    const other = new SQLite(file)
    other.prepare("UPDATE sessions SET notes = '{oops' WHERE id = 's1'").run()
    other.close()
    const error = thrown(() => store.sessions.get('s1'))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({
      message: expect.stringContaining('notes'),
      data: { table: 'sessions', record: 's1' },
    })
    expect(store.sessions.get('s2')?.id).toBe('s2')
  })

  it('says why a file cannot be opened', () => {
    const error = thrown(() => openStore(join(temporaryFolder(), 'no', 'such', 'folder', 'store.db')))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({ message: expect.stringContaining('ENOENT') })
  })
})

describe('migrations', () => {
  const [a, b] = [
    { name: 'a', statements: 'CREATE TABLE one (x TEXT); INSERT INTO one VALUES (1)' },
    { name: 'b', statements: 'CREATE TABLE two (x TEXT)' },
  ] as const

  it('run once each, in their order', () => {
    const db = new SQLite(':memory:')
    migrate(db, [a])
    migrate(db, [a, b])
    migrate(db, [a, b])
    expect(versionOf(db, [a, b])).toBe(2)
    expect(db.prepare('SELECT count(*) FROM one').pluck().get()).toBe(1)
  })

  it('leave the version before where one fails, with nothing of it', () => {
    const db = new SQLite(':memory:')
    const broken = { name: 'broken', statements: 'CREATE TABLE half (x TEXT); CREATE TABLE one (x TEXT)' }
    expect(() => migrate(db, [a, broken])).toThrow(/already exists/)
    expect(versionOf(db, [a])).toBe(1)
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").get()).toBeUndefined()
  })
})

describe('transaction', () => {
  it('keeps all where it returns and nothing where it throws', () => {
    const { store } = storeWith()
    const returned = store.transaction(() => {
      store.settings.set('a', '1')
      return 'returned'
    })
    expect(returned).toBe('returned')
    expect(() =>
      store.transaction(() => {
        store.settings.set('a', '2')
        store.sessions.insert(sessionRow())
        throw new Error('changed my mind')
      }),
    ).toThrow('changed my mind')
    expect(store.settings.get('a')).toBe('1')
    expect(store.sessions.list()).toEqual([])
  })

  it('restores an inner one alone', () => {
    const { store } = storeWith()
    store.transaction(() => {
      store.settings.set('outer', 'kept')
      expect(() =>
        store.transaction(() => {
          store.settings.set('inner', 'gone')
          throw new Error('inner')
        }),
      ).toThrow('inner')
    })
    expect([store.settings.get('outer'), store.settings.get('inner')]).toEqual(['kept', undefined])
  })

  it('refuses work that would settle outside of it', () => {
    const { store } = storeWith()
    expect(() => store.transaction(async () => store.settings.set('a', '1'))).toThrow(TypeError)
    expect(store.settings.get('a')).toBeUndefined()
  })

  it('leaves nothing behind when the process is killed in its midst', () => {
    const file = join(temporaryFolder(), 'store.db')
    const child = spawnSync(process.execPath, [fileURLToPath(new URL('./crash.fixture.ts', import.meta.url)), file], {
      encoding: 'utf8',
    })
    expect(child).toMatchObject({ stdout: 'in transaction\n', signal: 'SIGKILL' })
    const store = openStore(file)
    expect(store.settings.get('before')).toBe('committed')
    expect(store.sessions.list()).toEqual([])
    expect(store.messages.head('s1', 'main')).toEqual({ node: null, revision: 0 })
    store.close()
  })
})

describe('failures', () => {
  it('tell of a full disk, with nothing changed', () => {
    const db = connect(join(temporaryFolder(), 'store.db'))
    const store = storeOver(db)
    store.settings.set('a', 'small')
    db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`)
    const error = thrown(() =>
      store.transaction(() => {
        store.settings.set('a', 'changed')
        store.settings.set('b', 'x'.repeat(1 << 20))
      }),
    )
    expect(error).toBeInstanceOf(DiskFullError)
    expect(error).toMatchObject({ nextStep: expect.stringContaining('Free some space') })
    expect([store.settings.get('a'), store.settings.get('b')]).toEqual(['small', undefined])
    store.close()
  })

  it('let errors of the work pass as they are', () => {
    const { store } = storeWith()
    const mine = new RangeError('mine')
    expect(
      thrown(() =>
        store.transaction(() => {
          throw mine
        }),
      ),
    ).toBe(mine)
  })

  it('name the constraint that a record breaks, and the session that is not there', () => {
    const { store } = storeWith('s1')
    expect(thrown(() => store.sessions.insert(sessionRow()))).toBeInstanceOf(InternalError)
    expect(thrown(() => store.messages.setHead('nobody', 'main', null))).toBeInstanceOf(InternalError)
    expect(thrown(() => store.sessions.update('nobody', { epoch: 1 }))).toBeInstanceOf(SandboxNotFoundError)
  })
})

function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
