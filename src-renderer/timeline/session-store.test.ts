import { describe, expect, test } from 'vitest'
import type { CommandRecord, SessionEvent } from '../../src-main/contract/index.ts'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { point } from '../fixtures/points.ts'
import { overChannel } from '../host/link.ts'
import { afterSessionEvent, createSessionStore, nothingOpen, type OpenSession, upsert } from './session-store.ts'

const envelope = { id: 1, at: new Date(), session: 's' }
const opened: OpenSession = {
  ...nothingOpen,
  id: 's',
  load: 'ready',
  timeline: { session: 's', head: 'base', epoch: 0, points: [point('base', null, 0)], undo: null },
}

describe('what an event does to the open session', () => {
  test('a point is added once, however often it is told', () => {
    const event: SessionEvent = { ...envelope, type: 'pointAdded', point: point('one', 'base', 1) }
    const once = afterSessionEvent(opened, event)
    const twice = afterSessionEvent(once, event)
    expect(twice.timeline?.points.map(({ id }) => id)).toEqual(['base', 'one'])
    expect(opened.timeline?.points).toHaveLength(1)
  })

  test('a changed point is replaced in its place', () => {
    const added = afterSessionEvent(opened, { ...envelope, type: 'pointAdded', point: point('one', 'base', 1) })
    const more = afterSessionEvent(added, { ...envelope, type: 'pointAdded', point: point('two', 'one', 2) })
    const verdict = { status: 'pass' as const, text: 'ok', at: new Date() }
    const judged = afterSessionEvent(more, {
      ...envelope,
      type: 'pointChanged',
      point: point('one', 'base', 1, { verdict }),
    })
    expect(judged.timeline?.points.map(({ id, verdict }) => [id, verdict?.status])).toEqual([
      ['base', undefined],
      ['one', 'pass'],
      ['two', undefined],
    ])
  })

  test('what hung below a pruned point hangs below its parent, to be counted anew', () => {
    const files = { added: 1, modified: 0, deleted: 0 }
    const points = [point('base', null, 0), point('one', 'base', 1), point('two', 'one', 2, { files })]
    const timeline = opened.timeline && { ...opened.timeline, points, head: 'two' }
    const event: SessionEvent = { ...envelope, type: 'pointRemoved', point: 'one', parent: 'base' }
    const once = afterSessionEvent({ ...opened, timeline }, event)
    const after = afterSessionEvent(once, event)
    expect(after.timeline?.points.map(({ id, parent, files }) => [id, parent, files])).toEqual([
      ['base', null, points[0]?.files],
      ['two', 'base', null],
    ])
  })

  test('a rewind moves head, epoch and undo, and what stands at now is another', () => {
    const after = afterSessionEvent(opened, {
      ...envelope,
      type: 'rewound',
      head: 'base',
      epoch: 3,
      undo: 'tip',
      from: 'one',
      by: 'you',
    })
    expect(after.timeline).toMatchObject({ head: 'base', epoch: 3, undo: 'tip' })
    expect([after.files, after.messages]).toEqual([opened.files + 1, opened.messages + 1])
  })

  test('an attempt of the verifier is shown until its verdict is there', () => {
    const running = afterSessionEvent(opened, {
      ...envelope,
      type: 'verifierAttempt',
      attempt: 2,
      of: 4,
      verdict: null,
    })
    expect(running.attempt).toMatchObject({ attempt: 2, of: 4 })
    const verdict = { status: 'fail' as const, text: '', at: new Date() }
    const done = afterSessionEvent(running, { ...envelope, type: 'verifierAttempt', attempt: 2, of: 4, verdict })
    expect(done.attempt).toBeNull()
  })

  test('upsert leaves the list that it was given alone', () => {
    const list = [{ id: 1, text: 'a' }]
    expect(upsert(list, { id: 1, text: 'b' })).toEqual([{ id: 1, text: 'b' }])
    expect(list).toEqual([{ id: 1, text: 'a' }])
  })
})

describe('the open session over the contract', () => {
  test('loads whole, then follows by events alone', async () => {
    const host = new FixtureHost()
    const session = new FixtureSession(host.raise, { id: 's', name: 's' }, { a: 'one' })
    host.sessions.push(session)
    const store = createSessionStore(overChannel(host.serve()).rpc)
    await store.show('s')
    expect(store.getState()).toMatchObject({ load: 'ready', timeline: { head: 'base' } })
    session.write('a', 'two')
    const taken = session.checkpoint({ label: 'first' })
    store.apply({ ...envelope, type: 'pointAdded', point: taken })
    store.apply({ ...envelope, type: 'headMoved', head: taken.id })
    expect(store.getState().timeline).toMatchObject({ head: taken.id })
  })

  test('events that come while it loads are not lost', async () => {
    const host = new FixtureHost()
    const session = new FixtureSession(host.raise, { id: 's', name: 's' }, {})
    host.sessions.push(session)
    const store = createSessionStore(overChannel(host.serve()).rpc)
    const shown = store.show('s')
    store.apply({ ...envelope, type: 'pointAdded', point: point('early', 'base', 7) })
    await shown
    expect(store.getState().timeline?.points.map(({ id }) => id)).toEqual(['base', 'early'])
  })

  test('what a running command writes is seen, though no event tells of it', async () => {
    const host = new FixtureHost()
    const session = new FixtureSession(host.raise, { id: 's', name: 's' }, {})
    session.startCommand({ id: 'c', command: 'make' })
    host.sessions.push(session)
    const store = createSessionStore(overChannel(host.serve()).rpc)
    await store.show('s')
    const { files } = store.getState()
    session.write('built.o', 'x')
    await expect.poll(() => store.getState().details?.uncommitted?.added, { timeout: 5000 }).toBe(1)
    expect(store.getState().files).toBeGreaterThan(files)
    session.write('later.o', 'x')
    await expect.poll(() => store.getState().details?.uncommitted?.added, { timeout: 5000 }).toBe(2)
    session.endCommand('c')
    store.apply({ ...envelope, type: 'commandEnded', command: session.commands[0] as CommandRecord })
    await expect.poll(() => store.getState().details?.running, { timeout: 5000 }).toEqual([])
  })

  test('events of other sessions change nothing', async () => {
    const host = new FixtureHost()
    host.sessions.push(new FixtureSession(host.raise, { id: 's', name: 's' }, {}))
    const store = createSessionStore(overChannel(host.serve()).rpc)
    await store.show('s')
    const before = store.getState()
    store.apply({ ...envelope, session: 'other', type: 'pointAdded', point: point('one', 'base', 1) })
    expect(store.getState()).toBe(before)
  })

  test('a session that is not there is a failed load with the host’s next step', async () => {
    const store = createSessionStore(overChannel(new FixtureHost().serve()).rpc)
    await store.show('nobody')
    expect(store.getState()).toMatchObject({ load: 'failed', problem: { code: 'SANDBOX_NOT_FOUND' } })
    expect(store.getState().problem?.nextStep).toContain('Choose one')
  })
})
