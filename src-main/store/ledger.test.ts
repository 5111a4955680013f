import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Store } from './index.ts'
import { chainHash } from './ledger.ts'
import { storeWith } from './store.fixture.ts'

const add = (store: Store, given: Partial<Parameters<Store['ledger']['append']>[0]> = {}) =>
  store.ledger.append({
    session: 's1',
    eventType: 'verification',
    status: 'pass',
    checkpoint: 'stable',
    point: 'agent-ckpt-1',
    rawOutput: '{"status":"pass"}\0\u001b[0m',
    notes: null,
    resolution: null,
    decidedBy: null,
    ...given,
  })

/** Someone with the file and another program; without the triggers where they are removed first. */
function tamper(file: string, statement: string, triggers: 'kept' | 'removed' = 'removed'): void {
  const db = new SQLite(file)
  try {
    if (triggers === 'removed')
      for (const name of db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all())
        db.exec(`DROP TRIGGER ${name}`)
    db.exec(statement)
  } finally {
    db.close()
  }
}

describe('ledger', () => {
  it('numbers its rows and chains them, each session for itself', () => {
    const { store } = storeWith('s1', 's2')
    const rows = [add(store), add(store, { status: 'fail', notes: 'two tests' })]
    const other = add(store, { session: 's2' })
    expect(rows.map(({ id }) => id)).toEqual([1, 2])
    expect(other.id).toBe(1)
    expect(store.ledger.list('s1')).toEqual(rows)
    expect(store.ledger.verify('s1')).toEqual({
      whole: true,
      rows: 2,
      head: rows[1]?.hash,
      brokenAt: null,
      anchor: 'missing',
    })
    expect(store.ledger.verify('nobody')).toMatchObject({ whole: true, rows: 0, anchor: 'missing' })
  })

  it('filters by checkpoint, type and status', () => {
    const { store } = storeWith('s1')
    add(store)
    add(store, { status: 'fail' })
    add(store, { eventType: 'rollback', status: null, checkpoint: 'other' })
    const ids = (filter: Parameters<Store['ledger']['list']>[1]) => store.ledger.list('s1', filter).map(({ id }) => id)
    expect(ids({ checkpoint: 'stable' })).toEqual([1, 2])
    expect(ids({ type: 'rollback' })).toEqual([3])
    expect(ids({ checkpoint: 'stable', status: 'fail' })).toEqual([2])
    expect(ids({ checkpoint: null, type: null, status: null })).toEqual([1, 2, 3])
    expect(ids({ checkpoint: 'nothing' })).toEqual([])
    expect(ids({ since: new Date(Date.now() + 60_000) })).toEqual([])
    expect(ids({ since: store.ledger.list('s1')[0]?.timestamp })).toEqual([1, 2, 3])
    expect(store.ledger.after('s1', 1, 1).map(({ id }) => id)).toEqual([2])
    expect(store.ledger.after('s1', 3, 5)).toEqual([])
  })

  it.each([
    ["UPDATE ledger SET status = 'pass'"],
    ['DELETE FROM ledger'],
    [
      `INSERT OR REPLACE INTO ledger SELECT session, id, timestamp, eventType, 'pass', checkpoint, point, rawOutput,
      notes, resolution, decidedBy, hash FROM ledger`,
    ],
    ['UPDATE ledgerHeads SET rows = 0'],
    ["UPDATE ledgerHeads SET rows = rows + 1, hash = '00'"],
    ["UPDATE ledgerHeads SET session = 's2'"],
    ['DELETE FROM ledgerHeads'],
    ["INSERT OR REPLACE INTO ledgerHeads VALUES ('s1', 0, '00')"],
  ])('is closed by the database itself against %s', (statement) => {
    const { store, file } = storeWith('s1', 's2')
    const row = add(store, { status: 'fail' })
    expect(() => tamper(file, statement, 'kept')).toThrow('the ledger is append-only')
    expect(store.ledger.list('s1')).toEqual([row])
    expect(store.ledger.verify('s1')).toMatchObject({ whole: true, rows: 1 })
  })

  it.each([
    ['a status', "UPDATE ledger SET status = 'pass' WHERE id = 2", 2],
    ['raw output', 'UPDATE ledger SET rawOutput = NULL WHERE id = 1', 1],
    ['a time', 'UPDATE ledger SET timestamp = timestamp + 1 WHERE id = 3', 3],
    ['a hash', "UPDATE ledger SET hash = '00' WHERE id = 2", 2],
    ['a row taken out', 'DELETE FROM ledger WHERE id = 2', 3],
    ['the first row taken out', 'DELETE FROM ledger WHERE id = 1', 2],
    ['the last row taken out', 'DELETE FROM ledger WHERE id = 4', 4],
    ['the last rows taken out', 'DELETE FROM ledger WHERE id > 2', 3],
    ['all rows taken out', 'DELETE FROM ledger', 1],
    ['the note of its end taken out', 'DELETE FROM ledgerHeads', 1],
    ['a row moved to another session', "UPDATE ledger SET session = 's2' WHERE id = 1", 2],
    ['a type that does not exist', "UPDATE ledger SET eventType = 'nonsense' WHERE id = 2", 2],
    [
      'two rows exchanged',
      'UPDATE ledger SET id = 9 WHERE id = 1; UPDATE ledger SET id = 1 WHERE id = 2; UPDATE ledger SET id = 2 WHERE id = 9',
      1,
    ],
  ])('shows %s that was changed behind its back', (_what, statement, brokenAt) => {
    const { store, file } = storeWith('s1', 's2')
    for (let n = 0; n < 4; n++) add(store, { status: 'fail' })
    tamper(file, statement)
    expect(store.ledger.verify('s1')).toMatchObject({ whole: false, brokenAt })
  })

  it('shows a row that was made to look right by itself, at the one after it', () => {
    const { store, file } = storeWith('s1')
    for (let n = 0; n < 3; n++) add(store, { status: 'fail' })
    const [first, second] = store.ledger.list('s1')
    if (!first || !second) throw new Error('no rows')
    const forged = chainHash(first.hash, { ...second, status: 'pass' })
    tamper(file, `UPDATE ledger SET status = 'pass', hash = '${forged}' WHERE id = 2`)
    expect(store.ledger.verify('s1')).toMatchObject({ whole: false, brokenAt: 3 })
  })

  it('shows a last row that was made to look right by itself', () => {
    const { store, file } = storeWith('s1')
    for (let n = 0; n < 2; n++) add(store, { status: 'fail' })
    const [first, last] = store.ledger.list('s1')
    if (!first || !last) throw new Error('no rows')
    const forged = chainHash(first.hash, { ...last, status: 'pass' })
    tamper(file, `UPDATE ledger SET status = 'pass', hash = '${forged}' WHERE id = 2`)
    expect(store.ledger.verify('s1')).toMatchObject({ whole: false, brokenAt: 2 })
  })

  it('takes nothing back with a transaction that another thing failed in', () => {
    const { store } = storeWith('s1')
    const row = add(store)
    expect(() =>
      store.transaction(() => {
        add(store)
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(add(store).id).toBe(2)
    expect(store.ledger.list('s1')[0]).toEqual(row)
    expect(store.ledger.verify('s1')).toMatchObject({ whole: true, rows: 2 })
  })

  describe('the note of its end beside the database', () => {
    const told = (store: Store) => store.ledger.flush()

    /** Someone who knows how rows are chained makes all of them anew, their end too. */
    function forge(file: string, store: Store, status: string): void {
      const rows = store.ledger.list('s1')
      let previous = '0'.repeat(64)
      const statements = rows.map((row) => {
        previous = chainHash(previous, { ...row, status })
        return `UPDATE ledger SET status = '${status}', hash = '${previous}' WHERE session = 's1' AND id = ${row.id}`
      })
      tamper(file, [...statements, `UPDATE ledgerHeads SET hash = '${previous}' WHERE session = 's1'`].join(';'))
    }

    it('shows a chain that was made anew as a whole', () => {
      const { store, file } = storeWith('s1')
      for (let n = 0; n < 3; n++) add(store, { status: 'fail' })
      told(store)
      expect(store.ledger.verify('s1')).toMatchObject({ whole: true, anchor: 'agrees' })
      forge(file, store, 'pass')
      expect(store.ledger.verify('s1')).toMatchObject({ whole: false, brokenAt: 3, anchor: 'differs' })
      // What comes later does not cover it up.
      add(store)
      told(store)
      expect(store.ledger.verify('s1')).toMatchObject({ whole: false, anchor: 'differs' })
    })

    it('may be of an earlier end: a crash came between', () => {
      const { store } = storeWith('s1')
      add(store)
      told(store)
      add(store)
      expect(store.ledger.verify('s1')).toMatchObject({ whole: true, rows: 2, anchor: 'agrees' })
    })

    it('shows rows that are gone with all that told of them', () => {
      const { store, file } = storeWith('s1')
      for (let n = 0; n < 3; n++) add(store)
      told(store)
      tamper(file, 'DELETE FROM ledger; DELETE FROM ledgerHeads')
      expect(store.ledger.verify('s1')).toMatchObject({ whole: false, rows: 0, brokenAt: 1, anchor: 'differs' })
    })

    it('notes nothing of a row that was taken back', () => {
      const { store } = storeWith('s1')
      expect(() =>
        store.transaction(() => {
          add(store)
          throw new Error('no')
        }),
      ).toThrow('no')
      told(store)
      expect(store.ledger.verify('s1')).toMatchObject({ whole: true, rows: 0, anchor: 'missing' })
    })

    it('comes by itself, and with the end of the store', async () => {
      const { store, file } = storeWith('s1')
      add(store)
      await expect.poll(() => store.ledger.verify('s1').anchor).toBe('agrees')
      add(store)
      const other = join(dirname(file), 'ledgers', 's1.json')
      expect(JSON.parse(readFileSync(other, 'utf8'))).toMatchObject({ rows: 1 })
      store.close()
      expect(JSON.parse(readFileSync(other, 'utf8'))).toMatchObject({ rows: 2 })
    })

    it('that cannot be read counts as one that differs; one that was never written as missing', () => {
      const { store, file } = storeWith('s1')
      add(store)
      told(store)
      const note = join(dirname(file), 'ledgers', 's1.json')
      writeFileSync(note, 'nonsense')
      expect(store.ledger.verify('s1')).toMatchObject({ whole: false, brokenAt: 1, anchor: 'differs' })
      rmSync(note)
      expect(store.ledger.verify('s1')).toMatchObject({ whole: true, anchor: 'missing' })
    })
  })
})
