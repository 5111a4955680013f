import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { SessionPausedError } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'

suiteNeeding(['local'], 'a paused session', () => {
  let place: TestHome
  let manager: SessionManager
  let close: () => Promise<void>
  let session: Session
  beforeEach(async () => {
    place = testHome()
    ;({ manager, close } = await place.open())
    session = await begin(manager, place.workspace)
  })
  afterEach(async () => {
    await close()
    await place.remove()
  })

  const server = () =>
    session.startCommand({
      id: 'server',
      command: 'exec sleep 300',
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool: null,
    })

  test('pause:takes-no-work-and-can-be-looked-at', async () => {
    await write(session, 'note', 'one')
    await checkpoint(session, 'first')
    await write(session, 'note', 'two')
    await server()
    expect((await session.pause()).status).toBe('paused')
    for (const refused of [
      () => write(session, 'note', 'three'),
      () => run(session, 'true'),
      () => session.runTests({ command: 'true' }),
      () => session.onToolCall({ messages: null, tool: 'write' }),
    ])
      await expect(refused()).rejects.toBeInstanceOf(SessionPausedError)
    const details = await session.details()
    expect(details.processes.map(({ command }) => command)).toEqual(['sleep 300'])
    expect(details.uncommitted).toEqual({ added: 0, modified: 1, deleted: 0 })
    expect(await session.read({ path: 'note', at: 'now', encoding: null })).toMatchObject({ content: 'two' })
    expect((await checkpoint(session, 'second')).running).toEqual(['exec sleep 300'])

    const { stopped } = await rollback(session, 'first')
    expect(stopped.map(({ command }) => command)).toEqual(['sleep 300'])
    expect(session.summary().status).toBe('paused')
    expect(await session.waitCommand({ id: 'server' })).toMatchObject({ signal: 'SIGKILL' })
    expect((await session.unpause()).status).toBe('running')
    expect(await tree(session)).toBe('./kept.txt: as it was\n./note: one\n')
  })

  test('pause:a-command-is-stopped-all-the-same', async () => {
    await server()
    await session.pause()
    expect((await session.stopCommand({ id: 'server' })).status).toBe('cancelled')
    expect((await session.details()).processes).toEqual([])
  })

  test('pause:stays-halted-under-it', async () => {
    const verifier = { command: 'echo nonsense', retries: 0, retryDelayMs: 0, timeoutMs: null }
    session.autoRollback({ on: true, events: ['test_failure'], to: 'base', verifier })
    await expect(session.runTests({ command: null })).rejects.toThrow()
    expect(await session.pause()).toMatchObject({ status: 'paused', halted: true })
    await expect(run(session, 'true')).rejects.toMatchObject({ nextStep: expect.stringContaining('rewind resume') })
    expect(await session.unpause()).toMatchObject({ status: 'halted', halted: true })
    await session.pause()
    await rollback(session, 'base')
    expect(session.summary().status).toBe('paused')
    expect(await session.unpause()).toMatchObject({ status: 'running', halted: false })
  })

  test('pause:no-agent-replaces-it, a person does', async () => {
    const options = {
      name: 'own',
      workspace: place.workspace,
      explicit: true,
      create: false,
      force: true,
      engine: 'auto',
      mode: 'agent',
      base: 'auto',
      network: true,
      env: {},
    } as const
    const agent = { scope: 'agent', mayUse: () => true } as const
    const own = manager.find((await manager.create(options, agent)).session.id)
    await own.pause()
    await expect(manager.create(options, agent)).rejects.toBeInstanceOf(SessionPausedError)
    expect(own.summary().status).toBe('paused')
    await manager.create(options)
    expect(own.summary().status).toBe('ended')
  })

  test('pause:no-rule-rewinds-it', async () => {
    await checkpoint(session, 'stable')
    await write(session, 'note', 'looked at')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: null })
    await session.pause()
    expect(await session.onToolResult({ messages: null, error: 'no such table', tool: 'sql' })).toEqual({
      messages: null,
      autoRollback: null,
    })
    expect(await session.read({ path: 'note', at: 'now', encoding: null })).toMatchObject({ content: 'looked at' })
    expect(session.ledger({ checkpoint: null, type: 'rollback', status: null })).toMatchObject([
      {
        status: 'skipped_paused',
        checkpoint: 'stable',
        decidedBy: 'rule',
        notes: expect.stringContaining('no such table'),
      },
    ])
  })

  test('pause:is-found-again-and-ends', async () => {
    await server()
    await session.pause()
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await session.details()
    expect(session.summary().status).toBe('paused')
    await expect(write(session, 'note', 'x')).rejects.toBeInstanceOf(SessionPausedError)
    expect((await session.end()).status).toBe('ended')
    expect(session.command({ id: 'server' }).status).toBe('cancelled')
    expect((await session.destroy()).status).toBe('destroyed')
  })
})
