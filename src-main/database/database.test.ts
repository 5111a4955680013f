import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import SQLite, { type Database } from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DatabaseTable } from '../contract/database.ts'
import { askForTables } from './ask.ts'
import { compareDatabases } from './compare.ts'

let folder = ''
let made = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewind-databases-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** @returns the file, closed */
function database(sql: string, fill: (db: Database) => void = () => {}): string {
  const file = join(folder, `${made++}.db`)
  const db = new SQLite(file)
  db.exec(sql)
  fill(db)
  db.close()
  return file
}

/** The tables as they are told last. */
function tablesOf(before: string | null, after: string | null): Map<string, DatabaseTable> {
  let tables: DatabaseTable[] = []
  for (const found of compareDatabases({ before, after })) {
    if (found.found === 'problem') throw new Error(found.reason)
    if (found.found === 'tables') tables = found.tables
    else tables[found.at] = found.table
  }
  return new Map(tables.map((table) => [table.name, table]))
}

const texts = (table: DatabaseTable | undefined, side: 'before' | 'after') =>
  table?.rows.map((row) => row[side]?.map((cell) => cell?.text ?? null) ?? null)

describe('tables', () => {
  it('tells rows that were added, deleted and changed, and which cells', () => {
    const schema = 'CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age);'
    const before = database(`${schema} INSERT INTO users VALUES (1,'Ada',36),(2,'Bob',NULL),(3,'Cy',1)`)
    const after = database(`${schema} INSERT INTO users VALUES (1,'Ada',37),(3,'Cy',1.0),(4,'Dee',NULL)`)
    const users = tablesOf(before, after).get('users')
    expect(users).toMatchObject({
      status: 'changed',
      before: 3,
      after: 3,
      counts: { added: 1, deleted: 1, changed: 2 },
      columns: [
        { name: 'id', type: 'INTEGER', key: true, in: 'both' },
        { name: 'name', key: false },
        { name: 'age', type: '' },
      ],
    })
    expect(users?.rows.map(({ kind, changed }) => [kind, changed])).toEqual([
      ['changed', [2]],
      ['changed', [2]],
      ['added', []],
      ['deleted', []],
    ])
    expect(texts(users, 'before')).toEqual([['1', 'Ada', '36'], ['3', 'Cy', '1'], null, ['2', 'Bob', '']])
    expect(texts(users, 'after')).toEqual([['1', 'Ada', '37'], ['3', 'Cy', '1'], ['4', 'Dee', ''], null])
    expect(users?.rows[1]?.after?.[2]).toEqual({ type: 'real', text: '1', length: null })
  })

  it('tells tables that came, went, stayed, and changed their shape', () => {
    const before = database(`
      CREATE TABLE gone (a); INSERT INTO gone VALUES (1),(2);
      CREATE TABLE same (a PRIMARY KEY); INSERT INTO same VALUES ('x');
      CREATE TABLE shape (id INTEGER PRIMARY KEY, old); INSERT INTO shape VALUES (1,'o');
      CREATE INDEX by_old ON shape (old)`)
    const after = database(`
      CREATE TABLE come (a); INSERT INTO come VALUES (7);
      CREATE TABLE same (a PRIMARY KEY); INSERT INTO same VALUES ('x');
      CREATE TABLE shape (id INTEGER PRIMARY KEY, new); INSERT INTO shape VALUES (1,'n');
      CREATE VIEW every AS SELECT * FROM come`)
    const tables = tablesOf(before, after)
    expect([...tables.values()].map(({ kind, name, status }) => `${kind} ${name} ${status}`).sort()).toEqual([
      'index by_old deleted',
      'table come added',
      'table gone deleted',
      'table same same',
      'table shape changed',
      'view every added',
    ])
    expect(tables.get('gone')).toMatchObject({ before: 2, after: null, counts: { deleted: 2, added: 0, changed: 0 } })
    expect(texts(tables.get('come'), 'after')).toEqual([['7']])
    expect(tables.get('shape')?.columns.map(({ name, in: where }) => `${name} ${where}`)).toEqual([
      'id both',
      'new after',
      'old before',
    ])
    // The shape alone is no change of a row.
    expect(tables.get('shape')?.counts).toEqual({ added: 0, deleted: 0, changed: 0 })
  })

  it('reads a file that came or went on its own', () => {
    const file = database('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    expect(tablesOf(null, file).get('t')).toMatchObject({
      status: 'added',
      counts: { added: 1 },
      before: null,
      after: 1,
    })
    expect(tablesOf(file, null).get('t')).toMatchObject({ status: 'deleted', counts: { deleted: 1 } })
  })

  it('matches by the key of a table without row numbers, by row numbers where a key is null, by case as it is', () => {
    const schema = `
      CREATE TABLE pairs (a TEXT COLLATE NOCASE, b INT, v, PRIMARY KEY (b, a)) WITHOUT ROWID;
      CREATE TABLE nulls (k TEXT PRIMARY KEY, v);
      CREATE TABLE hidden (rowid, _rowid_, oid);`
    const before = database(
      `${schema} INSERT INTO pairs VALUES ('x',1,'a'),('y',1,'b'); INSERT INTO nulls VALUES (NULL,1),(NULL,2);
       INSERT INTO hidden VALUES (1,2,3)`,
    )
    const after = database(
      `${schema} INSERT INTO pairs VALUES ('X',1,'a'),('y',1,'b'); INSERT INTO nulls VALUES (NULL,1),(NULL,3);
       INSERT INTO hidden VALUES (1,2,4)`,
    )
    const tables = tablesOf(before, after)
    expect(tables.get('pairs')).toMatchObject({ counts: { changed: 1, added: 0, deleted: 0 } })
    expect(tables.get('pairs')?.rows[0]?.changed).toEqual([0])
    expect(tables.get('nulls')).toMatchObject({ counts: { changed: 1, added: 0, deleted: 0 } })
    expect(tables.get('hidden')).toMatchObject({ status: 'unknown', counts: null, before: 1 })
    expect(tables.get('hidden')?.problem).toContain('no key')
  })

  it('cuts long values, keeps large numbers, and takes names as they are', () => {
    const name = 'we"ird; DROP\nTABLE\'s'
    const column = 'a "b" [c] `d`'
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
    const schema = `CREATE TABLE ${quote(name)} (id INTEGER PRIMARY KEY, ${quote(column)}, twice GENERATED ALWAYS AS (id * 2) VIRTUAL)`
    const before = database(schema)
    const after = database(schema, (db) => {
      const insert = db.prepare(`INSERT INTO ${quote(name)} (id, ${quote(column)}) VALUES (?, ?)`)
      insert.run(1, 'ä'.repeat(100_000))
      insert.run(2, Buffer.alloc(100_000, 0xab))
      insert.run(9007199254740993n, 9223372036854775807n)
    })
    const table = tablesOf(before, after).get(name)
    expect(table?.columns.map((one) => one.name)).toEqual(['id', column, 'twice'])
    expect(table?.rows[0]?.after?.[1]).toEqual({ type: 'text', text: 'ä'.repeat(200), length: 100_000 })
    expect(table?.rows[1]?.after?.[1]).toEqual({ type: 'blob', text: 'ab'.repeat(40), length: 100_000 })
    expect(table?.rows[2]?.after?.map((one) => one?.text)).toEqual([
      '9007199254740993',
      '9223372036854775807',
      '18014398509481986',
    ])
  })

  it('hands on the first rows of a large table, with the numbers of all', () => {
    const schema = 'CREATE TABLE big (id INTEGER PRIMARY KEY, v TEXT);'
    const rows = (n: number, shift: number) =>
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) INSERT INTO big SELECT i, 'row ' || (i + ${shift}) FROM n`
    const big = tablesOf(database(`${schema}${rows(50_000, 0)}`), database(`${schema}${rows(60_000, 1)}`)).get('big')
    expect(big?.counts).toEqual({ added: 10_000, deleted: 0, changed: 50_000 })
    expect(big?.rows.map(({ kind }) => kind)).toEqual([...Array(200).fill('changed'), ...Array(200).fill('added')])
  })

  it('takes a table of two thousand columns', () => {
    const columns = Array.from({ length: 1999 }, (_, n) => `c${n}`)
    const schema = `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.join(', ')});`
    const wide = tablesOf(
      database(`${schema} INSERT INTO wide (id, c1998) VALUES (1, 'a')`),
      database(`${schema} INSERT INTO wide (id, c1998) VALUES (1, 'b')`),
    ).get('wide')
    expect(wide).toMatchObject({ columnsLeft: 1940, counts: { changed: 1 } })
  })

  it('takes nothing for deleted or added that only stands behind what is looked at', async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `CREATE TABLE t${10_000 + at} (a);`).join('')
    const before = database(`BEGIN; ${many} COMMIT`)
    const after = database(`BEGIN; CREATE TABLE a_new (a); ${many} COMMIT`)
    const names = (told: readonly DatabaseTable[], status: string) =>
      told.filter((one) => one.status === status).map(({ name }) => name)
    const listed = (from: string, to: string) => {
      const [first] = compareDatabases({ before: from, after: to })
      return first?.found === 'tables' ? first : null
    }
    expect(names(listed(before, after)?.tables ?? [], 'added')).toEqual(['a_new'])
    expect(names(listed(before, after)?.tables ?? [], 'deleted')).toEqual([])
    expect(listed(before, after)).toMatchObject({ left: 1_500, isCut: true })
    expect(names(listed(after, before)?.tables ?? [], 'deleted')).toEqual(['a_new'])
    expect(listed(before, before)).toMatchObject({ left: 1_500, isCut: false })
    const pair = await askForTables({ before, after })
    expect(pair.kind === 'tables' && pair.notes).toEqual([
      'and 1500 more, which were not looked at',
      expect.stringContaining('more entries than are compared'),
    ])
  })

  it('leaves virtual tables and what they keep alone', () => {
    const before = database('CREATE TABLE t (a)')
    const after = database(
      "CREATE TABLE t (a); CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('x')",
    )
    const tables = tablesOf(before, after)
    expect([...tables.keys()]).toEqual(['t', 'words'])
    expect(tables.get('words')).toMatchObject({ kind: 'virtual table', status: 'added', counts: null })
    expect(tables.get('words')?.problem).toContain('not run')
  })
})

describe('the process that reads', () => {
  it('sees what is only in the write-ahead log', async () => {
    const before = database(
      'PRAGMA journal_mode = wal; CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1)',
    )
    const live = new SQLite(before)
    live.exec('INSERT INTO t VALUES (2, 2)')
    const [old, now] = [join(folder, 'old.db'), join(folder, 'now.db')]
    copyFileSync(before, old)
    copyFileSync(before, now)
    copyFileSync(`${before}-wal`, `${now}-wal`)
    live.close()
    const pair = await askForTables({ before: old, after: now })
    expect(pair).toMatchObject({
      kind: 'tables',
      tables: [{ name: 't', before: 1, after: 2, counts: { added: 1, deleted: 0, changed: 0 } }],
    })
  })

  it('says what cannot be read, and of which side', async () => {
    const good = database('CREATE TABLE t (a)')
    const empty = join(folder, 'empty.db')
    writeFileSync(empty, '')
    const noise = join(folder, 'noise.db')
    writeFileSync(noise, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8_000, 0x5a)]))
    expect(await askForTables({ before: empty, after: good })).toMatchObject({
      tables: [{ name: 't', status: 'added' }],
    })
    expect(await askForTables({ before: good, after: noise })).toMatchObject({ kind: 'unreadable', side: 'after' })
    expect(await askForTables({ before: noise, after: good })).toMatchObject({ kind: 'unreadable', side: 'before' })
  })

  it('tells what can be read of a torn database', async () => {
    const whole = database(
      'CREATE TABLE small (a); INSERT INTO small VALUES (1); CREATE TABLE large (a); ' +
        'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO large SELECT hex(randomblob(20)) FROM n',
    )
    const torn = join(folder, 'torn.db')
    const bytes = readFileSync(whole)
    writeFileSync(torn, bytes.fill(0x5a, 4 * 4096, 12 * 4096))
    const pair = await askForTables({ before: whole, after: torn })
    expect(pair.kind === 'tables' ? pair.tables.map(({ problem }) => problem !== null) : pair).toEqual([true, false])
  })

  /** It takes for ever, by functions that every schema may call; of each row anew, as it is another of each. */
  const hostile = () =>
    database(
      'CREATE TABLE a_fine (a); INSERT INTO a_fine VALUES (1); CREATE TABLE hostile (id INTEGER PRIMARY KEY);' +
        'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO hostile SELECT i FROM n;' +
        "ALTER TABLE hostile ADD COLUMN x GENERATED ALWAYS AS (length(replace(hex(zeroblob(20000000 + id)), '00', '1'))) VIRTUAL",
    )
  /** Whether a process has that file open, once it does as expected or the time is over. */
  const isRead = async (file: string, expected: boolean, withinMs: number) => {
    const isNow = () =>
      readdirSync('/proc').some((pid) => {
        try {
          return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === file)
        } catch {
          return false
        }
      })
    for (const end = Date.now() + withinMs; isNow() !== expected && Date.now() < end; ) await setTimeout(20)
    return isNow()
  }

  it('is ended by who asked, within a query too', async () => {
    const slow = hostile()
    const off = new AbortController()
    const asked = askForTables({ before: slow, after: slow }, { signal: off.signal })
    expect(await isRead(slow, true, 5_000)).toBe(true)
    // For it to come to the rows.
    await setTimeout(300)
    const began = Date.now()
    off.abort()
    await asked
    expect(Date.now() - began).toBeLessThan(1_000)
    expect(await isRead(slow, false, 1_000)).toBe(false)
  }, 20_000)

  it('ends by itself where who asked was killed', async () => {
    const slow = hostile()
    const code = `import { askForTables } from ${JSON.stringify(join(import.meta.dirname, 'ask.ts'))}
      await askForTables(${JSON.stringify({ before: slow, after: slow })}, { timeMs: 60_000 })`
    const host = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: 'ignore' })
    try {
      expect(await isRead(slow, true, 10_000)).toBe(true)
      await setTimeout(300)
    } finally {
      host.kill('SIGKILL')
    }
    expect(await isRead(slow, false, 3_000)).toBe(false)
  }, 20_000)

  it('ends what takes for ever or all memory, and tells what it knows by then', async () => {
    const slow = hostile()
    const began = Date.now()
    const pair = await askForTables({ before: slow, after: slow }, { timeMs: 10_000 })
    expect(Date.now() - began).toBeLessThan(40_000)
    expect(pair).toMatchObject({
      tables: [
        { name: 'a_fine', status: 'same' },
        { name: 'hostile', problem: 'Its rows were not compared: it takes too long.', before: 5000 },
      ],
    })
    expect(await askForTables({ before: slow, after: null }, { memoryBytes: 20 << 20 })).toMatchObject({
      kind: 'unreadable',
      reason: 'it takes too much memory',
    })
  }, 60_000)
})
