import { beforeEach, describe, expect, test } from 'vitest'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { createHost, type Host } from '../host/host.ts'
import { overChannel } from '../host/link.ts'

let fixture: FixtureHost
let session: FixtureSession
let window: Host

beforeEach(async () => {
  fixture = new FixtureHost()
  session = new FixtureSession(fixture.raise, { id: 's', name: 's' }, { 'a.txt': 'one', 'b.txt': 'one' })
  session.write('a.txt', 'two')
  session.write('b.txt', 'two')
  fixture.sessions.push(session)
  window = createHost(overChannel(fixture.serve()))
  window.start()
  await expect.poll(() => window.session.getState().load).toBe('ready')
  window.commit.ask()
})

const everything = { paths: null, hunks: [], force: false, skipConflicts: false }
const state = () => window.commit.getState()

describe('committing', () => {
  test('writes, says what was written, and takes it back', async () => {
    await window.commit.commit(everything)
    expect(session.onHost.at(-1)).toEqual({ 'a.txt': 'two', 'b.txt': 'two' })
    expect(state()).toMatchObject({ open: true, busy: false, problem: null, result: { status: 'committed' } })
    const known = () => window.session.getState().commits.map(({ undoneAt }) => undoneAt === null)
    await expect.poll(known).toEqual([true])

    await window.commit.undo(session.commits[0]?.id ?? '')
    expect(session.onHost.at(-1)).toEqual({ 'a.txt': 'one', 'b.txt': 'one' })
    expect(state()).toMatchObject({ problem: null, result: { status: 'undone' } })
    await expect.poll(known).toEqual([false])
  })

  test('what was chosen, and nothing else', async () => {
    await window.commit.commit({ ...everything, paths: [{ path: 'b.txt', rawPath: null }] })
    expect(session.onHost.at(-1)).toEqual({ 'a.txt': 'one', 'b.txt': 'two' })
  })

  test('a conflict leaves the sheet open with the reason, and has it look again', async () => {
    const { looks } = state()
    session.standsAgainst = { 'a.txt': { conflict: 'both-changed' } }
    await window.commit.commit(everything)
    expect(state()).toMatchObject({ open: true, busy: false, result: null, problem: { code: 'COMMIT_CONFLICT' } })
    expect(state().looks).toBeGreaterThan(looks)
    expect(session.onHost).toHaveLength(1)
    await window.commit.commit({ ...everything, skipConflicts: true })
    expect(state()).toMatchObject({ problem: null, result: { skipped: [{ path: 'a.txt' }] } })
  })

  test('an undo that fails says so beside what was written', async () => {
    await window.commit.commit(everything)
    fixture.failure = 'The disk is gone.'
    await window.commit.undo('c1')
    expect(state()).toMatchObject({ result: { status: 'committed' }, problem: { message: 'The disk is gone.' } })
  })

  test('one click is one commit, and a sheet at work stays', async () => {
    const first = window.commit.commit(everything)
    void window.commit.commit(everything)
    window.commit.close()
    expect(state()).toMatchObject({ open: true, busy: true })
    await first
    expect(session.commits).toHaveLength(1)
    window.commit.close()
    expect(state()).toMatchObject({ open: false, result: null })
  })

  test('another session shuts it', async () => {
    fixture.sessions.push(new FixtureSession(fixture.raise, { id: 't', name: 't' }, {}))
    await window.sessions.load()
    window.sessions.open('t')
    expect(state().open).toBe(false)
  })
})
