import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
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

describe('what stores of earlier versions hold', () => {
  it('is kept: points name their topmost layers, the rest is left for the sandboxes', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.db')
    mkdirSync(join(folder, 'sandboxes', 's1'), { recursive: true })
    const older = new SQLite(file)
    migrate(older, migrations.slice(0, 2))
    older.pragma('foreign_keys = ON')
    older.exec(`
      INSERT INTO sessions VALUES
        ('s1', 'n', '/w', '/w', 'local', '', 'live', 'running', 'interactive', 0, 1, '{}', 0, NULL, 'p2', 0, NULL, '[]', '{}', NULL, NULL),
        ('s2', 'n', '/w', '/w', 'local', '', 'live', 'destroyed', 'interactive', 0, 1, '{}', 0, NULL, 'base', 0, NULL, '[]', '{}', NULL, NULL);
      INSERT INTO layers VALUES ('s1', 'workspace', 0, NULL), ('s1', 'machine', 0, NULL), ('s2', 'workspace', 0, NULL),
        ('s1', 'workspace', 7, 0), ('s1', 'workspace', 5, 7), ('s1', 'machine', 8, 0);`)
    const insert = older.prepare(`INSERT INTO points
      (session, id, seq, kind, parent, at, takenBy, messages, running, coverage, ms, workspaceTop, machineTop, pinned)
      VALUES (?, ?, ?, ?, ?, 0, 'you', 0, '[]', '{"files":true,"messages":true,"processes":false}', 1, ?, ?, ?)`)
    insert.run('s1', 'base', 0, 'base', null, 0, 0, 0)
    insert.run('s1', 'p1', 1, 'checkpoint', 'base', 7, 0, 1)
    insert.run('s1', 'p2', 2, 'checkpoint', 'p1', 5, 8, 0)
    insert.run('s2', 'base', 0, 'base', null, 0, null, 0)
    older.close()
    const store = openStore(file)
    expect(store.points.list('s1').map(({ id, parent, pinned }) => [id, parent, pinned])).toEqual([
      ['base', null, false],
      ['p1', 'base', true],
      ['p2', 'p1', false],
    ])
    expect(store.points.states('s1')).toEqual([
      { workspace: 0, machine: 0 },
      { workspace: 7, machine: 0 },
      { workspace: 5, machine: 8 },
    ])
    expect(store.points.held('s2', 'base').state).toEqual({ workspace: 0, machine: 0 })
    store.points.remove('s1', 'p1')
    expect(store.points.list('s1').map(({ parent }) => parent)).toEqual([null, 'base'])
    store.close()
    expect(
      readFileSync(join(folder, 'sandboxes', 's1', 'layers-0'), 'utf8')
        .split('\n')
        .sort(),
    ).toEqual(['', '["machine","on",8,0]', '["workspace","on",5,7]', '["workspace","on",7,0]'])
    expect(readdirSync(join(folder, 'sandboxes'))).toEqual(['s1'])
  })

  it('is kept: histories, whatever they share, in the heads, the points and what was begun and not recorded', () => {
    const file = join(temporaryFolder(), 'store.db')
    const older = new SQLite(file)
    migrate(
      older,
      migrations.slice(
        0,
        migrations.findIndex(({ name }) => name === '2026-11-30-conversations'),
      ),
    )
    older.pragma('foreign_keys = ON')
    older.exec(`
      INSERT INTO sessions (
        id, name, workspace, workspaceInside, engine, engineDetail, base, status, mode, demo, network, env, createdAt, head,
        epoch, notes, rules
      ) VALUES ('s1', 'n', '/w', '/w', 'local', '', 'live', 'running', 'interactive', 0, 1, '{}', 0, 'p1', 0, '[]', '{}')`)
    const payload = older.prepare('INSERT OR IGNORE INTO payloads (hash, json) VALUES (?, ?)')
    const addNode = older.prepare('INSERT OR IGNORE INTO nodes (id, parent, payload, depth) VALUES (?, ?, ?, ?)')
    const sha256 = (text: string) => hash('sha256', text, 'hex')
    /** As the earlier version did. */
    const save = (messages: object[]) => {
      let [parent, depth]: [string | null, number] = [null, 0]
      for (const message of messages) {
        const json = JSON.stringify(message)
        payload.run(sha256(json), json)
        const node: string = sha256(`${parent ?? ''}\n${json}`)
        addNode.run(node, parent, sha256(json), ++depth)
        parent = node
      }
      return parent
    }
    const say = (content: string) => ({ extra: { b: 1, a: 2 }, role: 'user', content })
    const short = [say('a'), say('same')]
    const long = [...short, say('b'), say('same'), say('c')]
    const other = [say('compacted'), say('same')]
    const setHead = older.prepare('INSERT INTO conversations VALUES (?, ?, ?, ?)')
    setHead.run('s1', 'main', save(long), 7)
    setHead.run('s1', 'empty', null, 2)
    const point = older.prepare(`INSERT INTO points
      (session, id, seq, kind, parent, at, takenBy, messages, running, coverage, ms, node, workspaceTop, machineTop)
      VALUES ('s1', ?, ?, ?, ?, 0, 'you', ?, '[]', '{"files":true,"messages":true,"processes":false}', 1, ?, 0, 0)`)
    point.run('base', 0, 'base', null, 0, null)
    point.run('p1', 1, 'checkpoint', 'base', 2, save(short))
    point.run('p2', 2, 'checkpoint', 'p1', 2, save(other))
    const begin = older.prepare("INSERT INTO journal VALUES (?, 's1', ?, ?, 0)")
    begin.run('o1', 'checkpoint', JSON.stringify({ id: 'p3', node: save(long), running: [] }))
    begin.run('o2', 'rollback', JSON.stringify({ target: 'base', leftNode: null, tipId: 'p4' }))
    older.close()

    const store = openStore(file)
    const head = store.messages.head('s1', 'main')
    expect(head).toMatchObject({ format: 'openai', revision: 7 })
    expect(JSON.stringify(store.messages.load(head.node))).toBe(JSON.stringify(long))
    expect(store.messages.head('s1', 'empty')).toMatchObject({ node: null, revision: 2 })
    const held = (id: string) => store.points.held('s1', id).conversations
    expect(held('base')).toEqual([{ conversation: 'main', node: null, format: 'openai' }])
    expect(store.messages.load(held('p1')[0]?.node ?? null)).toEqual(short)
    expect(store.messages.load(held('p2')[0]?.node ?? null)).toEqual(other)
    expect(store.journal.open('s1').map(({ intent }) => intent)).toEqual([
      { id: 'p3', running: [], conversations: [{ conversation: 'main', format: 'openai', node: head.node }] },
      { target: 'base', tipId: 'p4', left: [{ conversation: 'main', format: 'openai', node: null }] },
    ])
    // What it holds is found again and not stored twice.
    expect(store.messages.save(short)).toBe(held('p1')[0]?.node)
    expect(store.messages.save(long)).toBe(head.node)
    store.close()
    const raw = new SQLite(file, { readonly: true })
    expect(raw.pragma('foreign_key_check')).toEqual([])
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok')
    raw.close()
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
    expect(store.messages.head('s1', 'main')).toMatchObject({ node: null, revision: 0 })
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
    expect(
      thrown(() => store.messages.setHead('nobody', { conversation: 'main', node: null, format: 'openai' })),
    ).toBeInstanceOf(InternalError)
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
