import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AskerKind, Escalation, EscalationRule, Resolution } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { checkpoint, rollback, type TestHome, testHome, tree, write } from './testing.ts'

async function listen(to: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of to);
}

describe('escalations', () => {
  let place: TestHome
  let manager: SessionManager
  let close: () => Promise<void>
  let session: Session
  const leaving = new Set<() => void>()

  beforeEach(async () => {
    place = testHome()
    ;({ manager, close } = await place.open())
  })

  afterEach(async () => {
    for (const leave of leaving) leave()
    leaving.clear()
    await close()
    await place.remove()
  })

  /** A session with a good and a bad file, whose verifier cannot decide. */
  const undecided = async (
    given: { mode?: 'interactive' | 'agent'; escalation?: EscalationRule; to?: string } = {},
  ): Promise<Session> => {
    const { session: begun } = await manager.create({
      name: 'test',
      workspace: place.workspace,
      explicit: true,
      create: false,
      force: false,
      engine: 'auto',
      mode: given.mode ?? 'interactive',
      base: 'auto',
      network: true,
      env: {},
      ...(given.escalation ? { escalation: given.escalation } : {}),
    })
    session = manager.find(begun.id)
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable')
    await write(session, 'a', 'bad')
    session.autoRollback({
      on: true,
      events: ['exception'],
      to: given.to ?? 'stable',
      verifier: { command: 'echo nonsense; echo why >&2', retries: 1, retryDelayMs: 10, timeoutMs: 10_000 },
    })
    return session
  }

  /** Somebody who is there. @returns goes away */
  const there = (as: AskerKind = 'window', of: string | null = null): (() => void) => {
    const abort = new AbortController()
    const waiting = manager.watchEscalations({ as, session: of }, abort.signal)
    void listen(waiting)
    const leave = () => abort.abort()
    leaving.add(leave)
    return leave
  }

  const judge = () => session.runTests({ command: null }).catch((error: unknown) => error)
  const asked = async (): Promise<Escalation> => {
    const open = () => manager.escalations({ session: session.id, open: true })
    await expect.poll(() => open().length, { timeout: 10_000 }).toBeGreaterThan(0)
    const [first] = open()
    if (!first) throw new Error('nothing waits')
    return first
  }
  const answer = (
    id: string,
    resolution: Resolution,
    more: { note?: string; handler?: boolean; error?: string } = {},
  ) =>
    manager.escalated(id).escalations.answer({
      id,
      resolution,
      note: more.note ?? null,
      via: more.handler ? 'sdk' : 'window',
      handler: more.handler ?? false,
      error: more.error ?? null,
    })
  const rows = (type: string) =>
    session
      .ledger({ checkpoint: null, type, status: null })
      .map(({ status, resolution, decidedBy, notes }) => ({ status, resolution, decidedBy, notes }))

  test('escalation:evidence what is asked holds all that a decision needs, and nothing is locked meanwhile', async () => {
    await undecided()
    there()
    const judging = judge()
    const question = await asked()
    expect(question).toMatchObject({
      sessionName: 'test',
      asked: 'everybody',
      status: 'open',
      evidence: {
        checkpoint: 'stable',
        verifierCommand: 'echo nonsense; echo why >&2',
        attempts: 2,
        lastResult: { status: 'unknown', rawOutput: 'nonsense\n', rawStderr: 'why\n' },
        since: session.timeline().head,
        changes: [{ path: 'a', status: 'modified' }],
        counts: { added: 0, modified: 1, deleted: 0 },
      },
    })
    expect(session.summary().pendingEscalations).toBe(1)
    expect(manager.idle()).toBe(false)
    await write(session, 'b', 'goes on')
    await checkpoint(session, 'meanwhile')
    await expect(session.prune({ points: ['stable'], keep: null })).rejects.toThrow(/cannot be pruned/)
    await answer(question.id, 'continue', { note: 'seen by hand' })
    expect(await judging).toMatchObject({
      code: 'VERIFICATION_UNKNOWN',
      data: { resolution: 'continue', autoRollback: null, lastResult: { rawOutput: 'nonsense\n' } },
    })
    expect(session.summary()).toMatchObject({ status: 'running', pendingEscalations: 0 })
    expect(rows('escalation')).toEqual([
      {
        status: 'unknown',
        resolution: 'continue',
        decidedBy: 'you',
        notes: expect.stringContaining('seen by hand'),
      },
    ])
    expect(await tree(session)).toContain('./b: goes on')
  })

  test('escalation:rollback goes back to the rule’s target, and nothing counts as verified', async () => {
    await undecided()
    there()
    const judging = judge()
    const { id } = await asked()
    expect(await answer(id, 'rollback')).toMatchObject({ resolution: 'rollback', answeredBy: 'you', via: 'window' })
    expect(await judging).toMatchObject({
      code: 'VERIFICATION_UNKNOWN',
      data: { resolution: 'rollback', autoRollback: { to: 'stable', status: 'rolled_back' }, epoch: 1 },
    })
    expect(await tree(session)).toContain('./a: good')
    expect(rows('rollback')).toMatchObject([{ status: 'rolled_back', decidedBy: 'you' }])
    expect(session.lastAutoRollback()).toMatchObject({ to: 'stable' })
  })

  test('escalation:stop halts, and says all that a person needs', async () => {
    await undecided()
    there()
    const judging = judge()
    const { id } = await asked()
    await answer(id, 'stop')
    expect(await judging).toMatchObject({
      code: 'VERIFICATION_HALT',
      checkpoint: 'stable',
      sessionName: 'test',
      message: expect.stringMatching(
        /2 attempts[\s\S]*by you \(window\)[\s\S]*checkpoint: stable[\s\S]*command: echo nonsense[\s\S]*details: [\s\S]*inspect: rewind diff --session test[\s\S]*resume: rewind resume --session test/,
      ),
    })
    expect(session.summary().status).toBe('halted')
  })

  test('escalation:once the first answer counts, and later ones are told who decided and when', async () => {
    await undecided()
    there()
    const judging = judge()
    const { id } = await asked()
    const both = await Promise.allSettled([answer(id, 'continue'), answer(id, 'stop')])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await judging
    await expect(answer(id, 'rollback')).rejects.toMatchObject({
      code: 'DECLINED',
      message: expect.stringMatching(/decided at \d{4}-.*by you \(window\): continue/),
      data: { resolution: 'continue', answeredBy: 'you' },
    })
    expect(rows('escalation')).toHaveLength(1)
    expect(session.summary().status).toBe('running')
    expect(() => manager.escalated('esc-nothing')).toThrow(/no escalation/)
  })

  test('escalation:nobody with nobody there it stops at once; the mode agent asks nobody', async () => {
    await undecided()
    expect(await judge()).toMatchObject({
      code: 'VERIFICATION_HALT',
      message: expect.stringContaining('nobody was there'),
    })
    expect(rows('escalation')).toMatchObject([{ resolution: 'stop', decidedBy: 'rule' }])
    await session.destroy()
    await undecided({ mode: 'agent' })
    there()
    expect(await judge()).toMatchObject({ code: 'VERIFICATION_HALT' })
  })

  test('escalation:waits once asked it waits, also when all have gone', async () => {
    await undecided()
    const leave = there('terminal', session.id)
    const judging = judge()
    const { id } = await asked()
    leave()
    expect(await Promise.race([judging, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])).toBe('waits')
    await answer(id, 'continue')
    await judging
  })

  test('escalation:timeout decides as was declared; a rollback that leads nowhere is a stop', async () => {
    await undecided({ escalation: { timeoutMs: 150, onTimeout: 'rollback' } })
    there()
    expect(await judge()).toMatchObject({ code: 'VERIFICATION_UNKNOWN', data: { resolution: 'rollback' } })
    expect(await tree(session)).toContain('./a: good')
    expect(rows('escalation')).toMatchObject([{ resolution: 'rollback', decidedBy: 'timeout' }])
    session.autoRollback({
      on: true,
      events: ['exception'],
      to: 'never taken',
      verifier: { command: 'echo nonsense', retries: 0, retryDelayMs: 10, timeoutMs: 10_000 },
    })
    expect(await judge()).toMatchObject({ code: 'VERIFICATION_HALT' })
    expect(rows('escalation')[1]).toMatchObject({ resolution: 'stop', notes: expect.stringContaining('never taken') })
  })

  test('escalation:no-target a rollback that leads nowhere is refused, and the question waits on', async () => {
    await undecided({ to: 'never taken' })
    there()
    const judging = judge()
    const { id } = await asked()
    await expect(answer(id, 'rollback')).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
    expect(session.escalations.get(id).status).toBe('open')
    await answer(id, 'continue')
    expect(await judging).toMatchObject({ code: 'VERIFICATION_UNKNOWN' })
  })

  test('escalation:withdrawn by a rewind, by a halt, and by the end of the session', async () => {
    await undecided()
    there()
    const judging = judge()
    const first = await asked()
    await rollback(session, 'stable')
    expect(await judging).toMatchObject({ code: 'CANCELLED', message: expect.stringContaining('rewound to stable') })
    expect(session.escalations.get(first.id)).toMatchObject({ status: 'withdrawn', answeredBy: 'you' })
    await expect(answer(first.id, 'continue')).rejects.toMatchObject({
      code: 'DECLINED',
      message: expect.stringContaining('withdrawn'),
    })
    expect(rows('escalation')).toMatchObject([{ resolution: 'withdrawn', decidedBy: 'you' }])

    const two = [judge(), judge()]
    await expect.poll(() => manager.escalations({ session: session.id, open: true }).length).toBe(2)
    const [stopped] = manager.escalations({ session: session.id, open: true })
    await answer(stopped?.id ?? '', 'stop')
    const codes = (await Promise.all(two)).map((error) => (error as { code: string }).code)
    expect(codes.sort()).toEqual(['SESSION_HALTED', 'VERIFICATION_HALT'])
    await session.resume({ verifier: null, note: null })

    const last = judge()
    const { id } = await asked()
    await session.end()
    expect(await last).toMatchObject({ code: 'CANCELLED' })
    expect(session.escalations.get(id)).toMatchObject({ status: 'withdrawn', note: 'the session ended' })
  })

  test('escalation:handler is asked alone; the others when its program is gone', async () => {
    await undecided({ mode: 'agent' })
    const leave = there('handler', session.id)
    const judging = judge()
    const question = await asked()
    expect(question.asked).toBe('handler')
    expect(manager.idle()).toBe(false)
    await answer(question.id, 'stop', { handler: true, error: 'it threw: no' })
    expect(await judging).toMatchObject({ code: 'VERIFICATION_HALT' })
    expect(rows('escalation')).toMatchObject([{ decidedBy: 'handler', notes: expect.stringContaining('it threw: no') }])
    await session.resume({ verifier: null, note: null })

    const second = judge()
    const { id } = await asked()
    leave()
    expect(await second).toMatchObject({ code: 'VERIFICATION_HALT', message: expect.stringContaining('nobody') })
    expect(session.escalations.get(id)).toMatchObject({ error: expect.stringContaining('gone') })
  })

  test('escalation:handler-gone others who are there are asked instead', async () => {
    await undecided()
    there('window')
    const leave = there('handler', session.id)
    const judging = judge()
    const { id } = await asked()
    leave()
    await expect.poll(() => session.escalations.get(id).asked, { timeout: 10_000 }).toBe('everybody')
    await answer(id, 'continue')
    expect(await judging).toMatchObject({ code: 'VERIFICATION_UNKNOWN' })
  })

  test('escalation:durable the next host has the question, and carries the answer out once', async () => {
    await undecided()
    there()
    const judging = judge()
    const { id, evidence } = await asked()
    await close()
    expect(await judging).toMatchObject({ code: 'CANCELLED' })
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    expect(manager.escalations({ session: null, open: true })).toMatchObject([{ id, evidence, status: 'open' }])
    await answer(id, 'rollback')
    expect(await tree(session)).toContain('./a: good')
    expect(rows('rollback')).toHaveLength(1)
    await expect(answer(id, 'stop')).rejects.toMatchObject({ code: 'DECLINED' })
    expect(session.verifyLedger().whole).toBe(true)
  })

  test('escalation:durable-timeout what ran out while no host was there is decided by the next', async () => {
    await undecided({ escalation: { timeoutMs: 400, onTimeout: 'stop' } })
    there()
    void judge()
    await asked()
    await close()
    await new Promise((resolve) => setTimeout(resolve, 400))
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await expect.poll(() => session.summary().status).toBe('halted')
    expect(rows('escalation')).toMatchObject([{ resolution: 'stop', decidedBy: 'timeout' }])
  })

  test('escalation:paused a time limit stands still while the session is paused, also over its host', async () => {
    const limit = 3_000
    await undecided({ escalation: { timeoutMs: limit, onTimeout: 'rollback' } })
    there()
    void judge()
    const { id, raisedAt } = await asked()
    await session.pause()
    await new Promise((resolve) => setTimeout(resolve, raisedAt.getTime() + limit + 200 - Date.now()))
    expect(session.escalations.get(id).status).toBe('open')
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await session.details()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(session.escalations.get(id)).toMatchObject({ status: 'open', timeoutMs: limit })
    expect(await session.read({ path: 'a', at: 'now', encoding: null })).toMatchObject({ content: 'bad' })
    await session.unpause()
    expect(session.escalations.get(id).timeoutMs).toBeGreaterThan(limit)
    await expect.poll(() => session.escalations.get(id).answeredBy, { timeout: 10_000 }).toBe('timeout')
    await expect.poll(() => tree(session), { timeout: 10_000 }).toContain('./a: good')
  })

  test('resume: a mended verifier that passes, a person’s waiver, a rewind; nothing else', async () => {
    await undecided()
    await expect(session.resume({ verifier: null, note: null })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await judge()
    const printing = (verdict: string) => session.resume({ verifier: { command: `echo '${verdict}'` }, note: null })
    await expect(printing('{"status":"fail","summary":"2 failed"}')).rejects.toMatchObject({
      code: 'VERIFICATION_FAILED',
    })
    await expect(printing('?')).rejects.toMatchObject({ code: 'VERIFICATION_HALT' })
    expect(session.summary().status).toBe('halted')
    expect(await printing('{"status":"pass","summary":"3 tests"}')).toMatchObject({
      text: '3 tests',
      session: { status: 'running' },
    })
    expect(session.rules().autoRollback?.verifier).toMatchObject({ command: expect.stringContaining('3 tests') })
    expect(await session.runTests({ command: null })).toMatchObject({ text: '3 tests' })

    expect(await session.runTests({ command: 'echo ?' }).catch((error: unknown) => error)).toMatchObject({
      code: 'VERIFICATION_HALT',
    })
    await session.resume({ verifier: null, note: 'looked at it' })
    await write(session, 'a', 'goes on')
    await session.runTests({ command: 'echo ?' }).catch(() => {})
    await rollback(session, 'stable')
    expect(rows('resume')).toEqual([
      { status: 'pass', resolution: null, decidedBy: 'you', notes: '3 tests' },
      { status: 'waived', resolution: null, decidedBy: 'you', notes: 'looked at it' },
      { status: 'rolled_back', resolution: null, decidedBy: 'you', notes: null },
    ])
  })
})
