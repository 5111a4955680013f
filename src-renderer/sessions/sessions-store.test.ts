import { describe, expect, test } from 'vitest'
import type { SessionSummary } from '../../src-main/contract/index.ts'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { overChannel } from '../host/link.ts'
import { afterEvent, createSessionsStore, inOrder, matching, type Sessions, toOpen } from './sessions-store.ts'

function summary(id: string, rest: Partial<SessionSummary> = {}): SessionSummary {
  return { ...new FixtureSession(() => undefined, { id, name: id }, {}).summary, createdAt: new Date(1000), ...rest }
}
const state = (sessions: SessionSummary[], open: string | null = null): Sessions => ({
  load: 'ready',
  problem: null,
  sessions,
  open,
})
const event = { id: 1, at: new Date() }
const memory = (value: string | null = null) => ({ get: () => value, set: () => undefined })

describe('the list', () => {
  test('live ones first, then the newest', () => {
    const sessions = [
      summary('old', { createdAt: new Date(1) }),
      summary('gone', { status: 'ended', createdAt: new Date(9) }),
      summary('new', { createdAt: new Date(5) }),
    ]
    expect(inOrder(sessions).map(({ id }) => id)).toEqual(['new', 'old', 'gone'])
  })

  test('search takes every word, in name, folder, engine or state', () => {
    const sessions = [summary('auth', { workspace: '/work/web' }), summary('deps', { status: 'ended' })]
    expect(matching(sessions, 'web AUTH').map(({ id }) => id)).toEqual(['auth'])
    expect(matching(sessions, 'ended').map(({ id }) => id)).toEqual(['deps'])
    expect(matching(sessions, '  ')).toHaveLength(2)
  })

  test('what was open last time is open again; else the newest live one', () => {
    const sessions = [summary('a', { createdAt: new Date(1) }), summary('b', { createdAt: new Date(2) })]
    expect(toOpen(state(sessions), 'a')).toBe('a')
    expect(toOpen(state(sessions), 'deleted')).toBe('b')
    // One that took the window down waits to be asked for.
    const isShut = (id: string) => id === 'b'
    expect(toOpen(state(sessions), 'b', isShut)).toBe('a')
    expect(toOpen(state(sessions), null, () => true)).toBeNull()
    expect(toOpen(state(sessions, 'b'), null, isShut)).toBe('b')
    const changed = { ...event, type: 'sessionChanged', session: 'b', summary: sessions[1] ?? summary('b') } as const
    expect(afterEvent(state([]), changed, isShut).open).toBeNull()
    expect(afterEvent(state([]), changed).open).toBe('b')
    expect(toOpen(state([]), 'a')).toBeNull()
  })

  test('a session that begins elsewhere opens only where nothing was open', () => {
    const told = { ...event, session: 'b', type: 'sessionChanged', summary: summary('b') } as const
    expect(afterEvent(state([]), told).open).toBe('b')
    expect(afterEvent(state([summary('a')], 'a'), told)).toMatchObject({ open: 'a' })
  })
})

describe('over the contract', () => {
  test('the demo and a new session are opened when they begin', async () => {
    const host = new FixtureHost()
    const store = createSessionsStore(overChannel(host.serve()).rpc, memory())
    await store.load()
    expect(store.getState()).toMatchObject({ load: 'ready', open: null })
    await store.demo()
    expect(store.getState().open).toBe('demo')
    await store.create({ workspace: '/work/shop', name: 'shop' })
    expect(store.getState().open).toBe('shop-1')
  })

  test('a failing host is told with its next step, and a second try succeeds', async () => {
    const host = new FixtureHost()
    host.failure = 'No engine.'
    const store = createSessionsStore(overChannel(host.serve()).rpc, memory())
    await store.load()
    expect(store.getState()).toMatchObject({ load: 'failed', problem: { code: 'ENGINE_UNAVAILABLE' } })
    await expect(store.demo()).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', message: 'No engine.' })
    host.failure = null
    await store.load()
    expect(store.getState()).toMatchObject({ load: 'ready', problem: null })
  })
})
