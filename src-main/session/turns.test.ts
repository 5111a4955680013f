import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, run, type TestHome, testHome } from './testing.ts'
import { AGENT, programOf } from './turns.ts'

suiteNeeding(['local'], 'turns of an agent', () => {
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

  /** Each file that it is told is one turn: it goes on when the file `next` is there. */
  const AGENT_SCRIPT = `for turn in 1 2; do
    echo $turn >work; while [ ! -e /tmp/next-$turn ]; do sleep 0.1; done
  done; echo last >work; exit 3`

  const start = (tool: string | null) =>
    session.startCommand({
      id: 'agent',
      command: ['sh', '-c', AGENT_SCRIPT],
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool,
    })

  const points = () => session.timeline().points.filter(({ kind }) => kind === 'checkpoint')
  const work = async (at: string) => (await session.read({ path: 'work', at, encoding: null })).content

  test('each gets a point once its files are quiet, and so does its end', { timeout: 60_000 }, async () => {
    await start(AGENT)
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(1)
    await run(session, 'touch /tmp/next-1')
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(2)
    await run(session, 'touch /tmp/next-2')
    expect(await session.waitCommand({ id: 'agent' })).toMatchObject({ code: 3 })
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(3)
    expect(points().map(({ label, why, takenBy }) => ({ label, why, takenBy }))).toEqual(
      [1, 2, 3].map((n) => ({ label: `auto_000${n}_turn`, why: 'sh', takenBy: 'auto' })),
    )
    expect(await Promise.all(points().map(({ id }) => work(id)))).toEqual(['1\n', '2\n', 'last\n'])
    // It is no tool call: its failure sets nothing off, and it took no point before it began.
    expect(session.lastAutoRollback()).toBe(null)
  })

  test('quiet files that were not touched since are no turn', { timeout: 60_000 }, async () => {
    await start(AGENT)
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(1)
    await sleep(3_500)
    expect(points().length).toBe(1)
    await session.stopCommand({ id: 'agent' })
    await sleep(1_000)
    expect(points().length).toBe(1)
  })

  test('the next host goes on watching', { timeout: 60_000 }, async () => {
    await start(AGENT)
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(1)
    const { notes } = session.summary()
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await run(session, 'touch /tmp/next-1')
    await expect.poll(() => points().length, { timeout: 20_000 }).toBe(2)
    expect(session.summary().notes).toEqual(notes)
    await session.stopCommand({ id: 'agent' })
  })

  test('none are taken where they were not asked for', { timeout: 60_000 }, async () => {
    await start(null)
    await sleep(4_000)
    expect(points()).toEqual([])
    await session.stopCommand({ id: 'agent' })
  })
})

test('an agent is called as its program', () => {
  expect(programOf({ command: ['/usr/bin/claude', '-p', 'x'] })).toBe('claude')
  expect(programOf({ command: '  codex exec "do it"' })).toBe('codex')
  expect(programOf({ command: '' })).toBe('program')
})
