/** What a session keeps: pruned points are gone with their bytes, protected ones stay, and everything else still works. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { begin, checkpoint, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'

suiteNeeding(['local'], 'what a session keeps', () => {
  let place: TestHome
  let opened: Awaited<ReturnType<TestHome['open']>>
  let session: Awaited<ReturnType<typeof begin>>
  beforeEach(async () => {
    place = testHome()
    opened = await place.open()
    session = await begin(opened.manager, place.workspace)
  })
  afterEach(async () => {
    await opened.close()
    await place.remove()
  })

  const labels = (): string[] => session.timeline().points.map(({ label, id }) => label ?? id)
  const fill = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await write(session, 'note', name)
      await run(session, 'head -c 1000000 /dev/urandom >big')
      await checkpoint(session, name)
    }
  }
  const pruneRows = () => session.ledger({ checkpoint: null, type: 'prune', status: null })

  test('all but the newest: bytes are free, the line is whole, a ledger row names what went', async () => {
    await fill('a', 'b', 'c', 'd', 'e')
    const result = await session.prune({ points: [], keep: 2 })
    expect(result).toMatchObject({ removed: expect.arrayContaining(['test-ckpt-1', 'test-ckpt-3']), waits: false })
    expect(result.freed).toBeGreaterThan(2_900_000)
    expect(labels()).toEqual(['base', 'd', 'e'])
    const [base, kept] = session.timeline().points
    expect(kept?.parent).toBe(base?.id)
    expect(pruneRows()).toMatchObject([{ status: 'pruned', notes: '3 points: a, b, c', decidedBy: 'you' }])
    expect(session.verifyLedger().whole).toBe(true)
    const added = () => session.timeline().points.find(({ label }) => label === 'd')?.files?.added
    await expect.poll(added, { message: 'it is counted against the point it hangs below now', timeout: 10_000 }).toBe(2)
    await rollback(session, 'd')
    expect(await tree(session)).toContain('./note: d')
    await session.undo()
    expect(await tree(session)).toContain('./note: e')
    await fill('f')
    await rollback(session, 'd')
    await expect(rollback(session, 'a')).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
  })

  test('base, head, pinned points and targets of undo and of rules stay, whoever asks', async () => {
    await fill('pinned', 'rule', 'gone', 'target', 'left')
    session.pin({ point: 'pinned', on: true })
    session.autoRollback({ on: true, events: ['exception'], to: 'rule', verifier: null })
    await rollback(session, 'target')
    const left = session.timeline().undo
    await session.prune({ points: [], keep: 0 })
    expect(labels()).toEqual(['base', 'pinned', 'rule', 'target', 'left'])
    expect(session.timeline()).toMatchObject({ undo: left })
    for (const [point, why] of [
      ['base', 'as it was'],
      ['target', 'stands there'],
      ['pinned', 'pinned'],
      ['rule', 'rollback goes there'],
      [left ?? '', 'undo'],
    ])
      await expect(session.prune({ points: [point ?? ''], keep: null })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(why ?? ''),
      })
    session.pin({ point: 'pinned', on: false })
    expect((await session.prune({ points: ['pinned'], keep: null })).removed).toEqual(['test-ckpt-1'])
    await session.undo()
    expect(await tree(session)).toContain('./note: left')
  })

  test('keepLast: older automatic points go by themselves, named ones stay', async () => {
    session.autoCheckpoint({ on: true, keepLast: 2 })
    await fill('named')
    for (let at = 1; at <= 5; at++) {
      await session.onToolCall({ messages: null, tool: 'write' })
      await write(session, 'note', String(at))
    }
    await expect.poll(() => labels().length, { message: 'the older ones are gone', timeout: 10_000 }).toBe(4)
    expect(labels()).toEqual(['base', 'named', 'auto_0004_write', 'auto_0005_write'])
    expect(pruneRows().every(({ decidedBy }) => decidedBy === 'rule')).toBe(true)
    expect((await session.onToolCall({ messages: null, tool: 'write' })).checkpoint).toBe('auto_0006_write')
    await rollback(session, 'named')
    expect(await tree(session)).toContain('./note: named')
  })

  test('a later host knows what is left, and frees what an earlier one could not', async () => {
    await fill('a', 'b', 'c')
    const id = 'holder'
    await session.startCommand({
      id,
      command: 'exec sleep 300 >held',
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      tool: null,
      asTool: false,
    })
    await expect.poll(() => tree(session), { message: 'it holds', timeout: 10_000 }).toContain('held')
    expect(await session.prune({ points: ['a', 'b'], keep: null })).toMatchObject({ freed: 0, waits: true })
    expect(labels()).toEqual(['base', 'c'])
    await opened.close()
    opened = await place.open()
    session = opened.manager.find('test')
    await session.stopCommand({ id })
    // Whether by this or in the background a moment earlier: of three megabytes one is left.
    await session.gc()
    expect((await session.details()).bytes).toBeLessThan(1_900_000)
    expect(await tree(session)).toContain('./note: c')
    await rollback(session, 'base')
    await rollback(session, 'test-ckpt-3')
    expect(await tree(session)).toContain('./note: c')
  })

  test('an ended session can be pruned too', async () => {
    await fill('a', 'b', 'c')
    await session.end()
    expect((await session.prune({ points: [], keep: 1 })).freed).toBeGreaterThan(1_900_000)
    expect(labels()).toEqual(['base', 'c'])
    expect((await session.read({ path: 'note', at: 'c', encoding: null })).content).toBe('c')
  })

  test('a point that branches went out from: they hang below what it hung below, and are whole', async () => {
    await fill('trunk', 'one')
    await rollback(session, 'trunk')
    await fill('two')
    await rollback(session, 'trunk')
    await fill('three')
    await session.prune({ points: ['trunk'], keep: null })
    const { points } = session.timeline()
    expect(new Set(points.slice(1).map(({ parent }) => parent))).toEqual(new Set([points[0]?.id]))
    for (const label of ['one', 'two', 'three']) {
      const point = points.find((one) => one.label === label)
      await rollback(session, point?.id ?? '')
      expect(await tree(session)).toContain(`./note: ${label}`)
    }
  })

  const restrict = (budgetBytes: number | null) => session.setRetention({ budgetBytes })
  const notice = () => session.summary().notes.find((note) => note.includes('on disk')) ?? ''

  test('over its budget: automatic points go first, and named ones when that was said', async () => {
    restrict(6_500_000)
    session.autoCheckpoint({ on: true, keepLast: null })
    for (const name of ['a', 'b', 'c']) {
      await fill(name)
      await run(session, 'head -c 1000000 /dev/urandom >big')
      await session.onToolCall({ messages: null, tool: 'write' })
    }
    session.pin({ point: 'a', on: true })
    await expect.poll(notice, { timeout: 10_000 }).toMatch(/these points are pruned: auto_0001_write/)
    expect(labels()).toHaveLength(7)
    await fill('d')
    await expect.poll(() => labels().includes('auto_0001_write'), { timeout: 10_000 }).toBe(false)
    expect(labels()).toEqual(expect.arrayContaining(['base', 'a', 'b', 'c', 'd']))
    expect(pruneRows().at(-1)).toMatchObject({
      decidedBy: 'rule',
      notes: expect.stringContaining('more than its 6.5 MB'),
    })
    await fill('e', 'f', 'g')
    const look = () => {
      // Each time it is measured: named points go at the second look that finds too much.
      restrict(6_500_000)
      return labels()
    }
    await expect.poll(look, { timeout: 15_000, interval: 500 }).not.toContain('b')
    await expect.poll(() => session.summary().bytes, { timeout: 10_000 }).toBeLessThan(6_500_000)
    expect(labels()).toEqual(expect.arrayContaining(['base', 'a', 'g']))
    await rollback(session, 'a')
    expect(await tree(session)).toContain('./note: a')
  })

  test('a budget without anything that may go says so, one without a limit says nothing', async () => {
    await fill('a', 'b')
    for (const point of ['a', 'b']) session.pin({ point, on: true })
    restrict(100_000)
    await expect.poll(notice, { timeout: 10_000 }).toContain('Nothing is left that may be pruned')
    expect(labels()).toEqual(['base', 'a', 'b'])
    expect(restrict(null).retention).toEqual({ budgetBytes: null })
    await expect.poll(notice, { timeout: 10_000 }).toBe('')
  })
})
