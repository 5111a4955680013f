import { beforeEach, describe, expect, test } from 'vitest'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { undecided } from '../fixtures/scenarios.ts'
import { createHost, type Host } from '../host/host.ts'
import { overChannel } from '../host/link.ts'
import { inFront, keyMeans } from './escalations-store.ts'

let fixture: FixtureHost
let session: FixtureSession
let window: Host

beforeEach(async () => {
  fixture = new FixtureHost()
  session = new FixtureSession(fixture.raise, { id: 's', name: 's' }, { 'a.txt': 'one' })
  fixture.sessions.push(session)
  window = createHost(overChannel(fixture.serve()))
  window.start()
})

const raise = (id: string) => {
  fixture.escalations = [...fixture.escalations, { ...undecided(session), id }]
  fixture.raise({ session: 's', type: 'escalationChanged', escalation: id, status: 'open' })
}
const front = () => inFront(window.escalations.getState())?.id

describe('a verdict that waits', () => {
  test('is put in front, the oldest first, until it is decided', async () => {
    raise('one')
    raise('two')
    await expect.poll(front).toBe('one')
    await window.escalations.answer('one', 'continue')
    expect(fixture.escalations[0]).toMatchObject({ status: 'answered', resolution: 'continue', via: 'window' })
    expect(front()).toBe('two')
  })

  test('is answered once, however fast the clicks are', async () => {
    raise('one')
    raise('two')
    await expect.poll(front).toBe('one')
    await Promise.all([window.escalations.answer('one', 'stop'), window.escalations.answer('two', 'continue')])
    expect(fixture.escalations.map(({ resolution }) => resolution)).toEqual(['stop', null])
  })

  test('goes when it is decided elsewhere, and can be laid aside to look first', async () => {
    raise('one')
    await expect.poll(front).toBe('one')
    window.escalations.layAside('one')
    expect(front()).toBeUndefined()
    expect(window.escalations.getState().waiting).toHaveLength(1)
    window.escalations.takeUp('one')
    expect(front()).toBe('one')
    fixture.escalations = []
    fixture.raise({ session: 's', type: 'escalationChanged', escalation: 'one', status: 'answered' })
    await expect.poll(front).toBeUndefined()
  })

  test('stays with the reason where the answer was refused', async () => {
    raise('one')
    await expect.poll(front).toBe('one')
    fixture.failure = 'decided at 12:00 by you'
    await window.escalations.answer('one', 'rollback')
    expect(window.escalations.getState()).toMatchObject({
      answering: null,
      problem: { message: 'decided at 12:00 by you' },
    })
    expect(front()).toBe('one')
  })
})

describe('keys in the sheet', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    repeat: false,
    ...more,
  })

  test('choose an answer', () => {
    expect(['c', 'R', 's'].map((key) => keyMeans(press(key), 501))).toEqual(['continue', 'rollback', 'stop'])
    expect(['Enter', 'Tab', 'x'].map((key) => keyMeans(press(key), 501))).toEqual([null, null, null])
    expect(keyMeans(press('c', { ctrlKey: true }), 501)).toBeNull()
  })

  test('mean nothing for the first half second, nor does an Enter that is held down', () => {
    expect(['c', 'Enter', 'Escape'].map((key) => keyMeans(press(key), 499))).toEqual(['nothing', 'nothing', 'nothing'])
    expect(keyMeans(press('Enter', { repeat: true }), 2_000)).toBe('nothing')
  })
})
