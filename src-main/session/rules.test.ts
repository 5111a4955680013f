import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CommandError, type Message } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, messagesOf, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'

const user = (content: string): Message => ({ role: 'user', content })
const asking: Message = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: '1', type: 'function', function: { name: 'write', arguments: '{}' } }],
}

describe('rules', () => {
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

  const verifier = (command: string, retries = 0) => ({ command, retries, retryDelayMs: 10, timeoutMs: 10_000 })
  const onException = (to: string | null = 'stable') =>
    session.autoRollback({ on: true, events: ['exception'], to, verifier: null })
  const rows = (type: string) =>
    session.ledger({ checkpoint: null, type, status: null }).map(({ status, notes }) => ({ status, notes }))
  const point = (label: string) => session.timeline().points.find((one) => one.label === label)

  test('a target that was left out is latest, and warned of; latest by name is not', () => {
    expect(onException(null)).toMatchObject({
      rules: { autoRollback: { to: 'latest' } },
      warnings: [expect.stringContaining('may already hold the damage')],
    })
    expect(onException('latest').warnings).toEqual([])
    const off = session.autoRollback({ on: false, events: ['exception'], to: null, verifier: null })
    expect(off).toMatchObject({ rules: { autoRollback: null }, warnings: [] })
  })

  test('a later rule replaces the one before, and a rule without an event is refused with what there is', () => {
    onException()
    session.autoRollback({ on: true, events: ['test_failure'], to: 'other', verifier: verifier('true') })
    expect(session.rules().autoRollback).toMatchObject({ events: ['test_failure'], to: 'other' })
    expect(() => session.autoRollback({ on: true, events: [], to: 'x', verifier: null })).toThrow(/event/)
    expect(session.rules().autoRollback).toMatchObject({ events: ['test_failure'] })
  })

  test('a guarded command is no tool call: no checkpoint before it, but its failure rolls back, its time-out too', async () => {
    session.autoCheckpoint({ on: true, keepLast: null })
    onException()
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable')
    const before = session.timeline().points.length
    expect((await run(session, 'true', { guarded: true })).autoRollback).toBeNull()
    expect(session.timeline().points).toHaveLength(before)

    const failed = await run(session, 'echo bad > a; exit 3', { guarded: true })
    expect(failed).toMatchObject({ code: 3, autoRollback: { event: 'exception', to: 'stable', status: 'rolled_back' } })
    expect(await tree(session)).toContain('./a: good')

    const late = await run(session, 'echo bad > a; sleep 60', { guarded: true, timeoutMs: 400 })
    expect(late.autoRollback).toMatchObject({ status: 'rolled_back' })
    expect(await tree(session)).toContain('./a: good')
    expect(rows('rollback').map(({ notes }) => notes)).toEqual([
      expect.stringContaining('ended with code 3'),
      expect.stringContaining('timed out'),
    ])
  })

  test('a command that a person stops, or that cannot begin, fires nothing', async () => {
    onException()
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable')
    await write(session, 'a', 'newer')
    const running = run(session, 'sleep 60', { guarded: true })
    await expect.poll(() => session.commands().at(-1)?.status).toBe('running')
    await session.stopCommand({ id: session.commands().at(-1)?.id ?? '' })
    expect((await running).autoRollback).toBeNull()
    expect(await tree(session)).toContain('./a: newer')
  })

  test('a verifier that is tried says its verdict, and nothing comes of it', async () => {
    session.autoRollback({ on: true, events: ['test_failure'], to: 'base', verifier: verifier('exit 1') })
    await write(session, 'a', 'newer')
    await checkpoint(session, 'stable')
    const trial = (command: string) => session.tryVerifier({ verifier: verifier(command, 3) })
    expect(await trial('echo \'{"status":"fail","summary":"no"}\'; echo why >&2')).toEqual({
      status: 'fail',
      text: 'no',
      stdout: '{"status":"fail","summary":"no"}\n',
      stderr: 'why\n',
    })
    // Not asked again, as a rule would.
    expect(await trial('echo run >> runs; echo nonsense')).toMatchObject({ status: 'unknown' })
    expect(await tree(session)).toContain('./runs: run\n')
    expect(await trial('nosuchprogram')).toMatchObject({ text: expect.stringContaining('not found in the sandbox') })
    expect([session.ledger({ checkpoint: null, type: null, status: null }), point('stable')?.verdict]).toEqual([
      [],
      null,
    ])
    expect(session.rules().autoRollback?.verifier?.command).toBe('exit 1')
  })

  test('a verifier that is tried ends when nobody waits for it any more', async () => {
    const leave = new AbortController()
    const trial = session.tryVerifier({ verifier: verifier('touch begun; sleep 60') }, leave.signal)
    await expect.poll(() => session.commands().at(-1)?.status).toBe('running')
    leave.abort()
    await expect(trial).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(session.commands().at(-1)).toMatchObject({ status: 'cancelled' })
    await expect(session.tryVerifier({ verifier: verifier('true') }, leave.signal)).rejects.toMatchObject({
      code: 'CANCELLED',
    })
  })

  test('a command is stopped, typed to and waited for while it is still being started', async () => {
    const request = { cwd: null, env: {}, stdin: null, timeoutMs: null, asTool: false, tool: null, guarded: false }
    const start = (id: string, command: string) => session.startCommand({ ...request, id, command })
    const starting = start('early', 'sleep 60')
    expect((await session.stopCommand({ id: 'early' })).status).toBe('cancelled')
    expect((await starting).id).toBe('early')
    const short = start('short', 'echo done')
    expect(await session.waitCommand({ id: 'short' })).toMatchObject({ code: 0, stdout: 'done\n' })
    await short
  })

  test('a tool’s error rolls back, with its text in the cue, and answers with the history to go on with', async () => {
    onException()
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable', [user('go')])
    await write(session, 'a', 'bad')
    const { messages, autoRollback } = await session.onToolResult({
      messages: [user('go'), asking],
      error: 'no such column: nme',
      tool: 'run_sql',
    })
    expect(autoRollback).toMatchObject({ event: 'exception', to: 'stable', status: 'rolled_back' })
    expect(messages).toEqual(messagesOf(session))
    expect(messages?.slice(0, -1)).toEqual([user('go')])
    expect(String(messages?.at(-1)?.content)).toContain('run_sql failed: no such column: nme')
    expect(await tree(session)).toContain('./a: good')
    // What the agent had said by then is kept with what was left.
    const { undo } = session.timeline()
    expect(session.conversation({ at: undo ?? '' }).messages).toEqual([user('go'), asking])
  })

  test('a tool that answers keeps the history, and rolls nothing back', async () => {
    onException()
    await checkpoint(session, 'stable')
    expect(await session.onToolResult({ messages: [user('1')], error: null, tool: null })).toEqual({
      messages: null,
      autoRollback: null,
    })
    expect(messagesOf(session)).toEqual([user('1')])
    await expect(
      session.onToolResult({ messages: [{ role: 'nobody' }], error: null, tool: null }),
    ).rejects.toMatchObject({ code: 'INVALID_MESSAGES' })
    expect(messagesOf(session)).toEqual([user('1')])
  })

  test('a rule whose target is gone lets the first error through, and says so in the ledger', async () => {
    onException('gone')
    expect(await session.onToolResult({ messages: null, error: 'boom', tool: null })).toEqual({
      messages: null,
      autoRollback: null,
    })
    expect(rows('rollback')).toEqual([{ status: 'no_target', notes: expect.stringContaining('gone') }])
  })

  test('an automatic rollback that fails is told with the error that set it off', async () => {
    onException()
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable')
    await write(session, 'a', 'bad')
    const layers = join(place.home, 'sandboxes', session.id, 'w')
    const holding = readdirSync(layers).filter((name) => existsSync(join(layers, name, 'a')))
    const layer = holding.find((name) => readFileSync(join(layers, name, 'a'), 'utf8') === 'good') ?? ''
    renameSync(join(layers, layer), join(layers, 'hidden'))
    await expect(session.onToolResult({ messages: null, error: 'boom', tool: 'deploy' })).rejects.toMatchObject({
      code: 'ROLLBACK_FAILED',
      cause: { code: 'COMMAND_FAILED', message: 'deploy failed: boom' },
    })
    expect(await tree(session)).toContain('./a: bad')
    renameSync(join(layers, 'hidden'), join(layers, layer))
    await rollback(session, 'stable')
    expect(await tree(session)).toContain('./a: good')
  })

  test('without a verifier the exit code of tests decides, once', async () => {
    onException()
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable')
    expect(await session.runTests({ command: 'echo fine' })).toEqual({ text: 'fine', verdict: null })
    await write(session, 'a', 'bad')
    const failure = await session.runTests({ command: 'echo two failed; exit 2' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CommandError)
    expect(failure).toMatchObject({
      data: { code: 2, stdout: 'two failed\n', autoRollback: { status: 'rolled_back', to: 'stable' } },
    })
    expect(await tree(session)).toContain('./a: good')
    await expect(session.runTests({ command: null })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test('a verdict names the command that was judged, and all that the verifier said', async () => {
    session.autoRollback({ on: true, events: ['exception'], to: 'latest', verifier: verifier('echo nothing') })
    const printed = '{"status":"FAIL","summary":"2 failed","errors":["a","b"],"seed":7}'
    await expect(session.runTests({ command: `echo '${printed}'` })).rejects.toMatchObject({
      code: 'VERIFICATION_FAILED',
      message: '2 failed:\n  - a\n  - b',
      data: {
        errors: ['a', 'b'],
        verdict: { seed: 7 },
        verifierCommand: `echo '${printed}'`,
        result: { status: 'fail', attempts: 1, rawOutput: `${printed}\n` },
        checkpoint: null,
      },
    })
  })

  test('files that were judged before a point held them: the point that freezes them gets the verdict', async () => {
    session.autoRollback({
      on: true,
      events: ['exception'],
      to: 'latest',
      verifier: verifier(`echo '{"status":"pass","summary":"3 tests"}'`),
    })
    await write(session, 'a', 'good')
    await session.runTests({ command: null })
    await checkpoint(session, 'judged')
    expect(point('judged')?.verdict).toMatchObject({ status: 'pass', text: '3 tests' })

    await write(session, 'a', 'better')
    await session.runTests({ command: null })
    await write(session, 'a', 'touched since')
    await checkpoint(session, 'not judged')
    expect(point('not judged')?.verdict).toBeNull()
  })

  test('a rewind while the verifier runs: nothing is judged, and the session does not halt', async () => {
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['test_failure'], to: 'stable', verifier: verifier('sleep 60', 3) })
    await write(session, 'a', '1')
    const judging = session.runTests({ command: null }).catch((error: unknown) => error)
    await expect.poll(() => session.commands().some(({ status }) => status === 'running')).toBe(true)
    await rollback(session, 'stable')
    expect(await judging).toMatchObject({ code: 'CANCELLED', message: expect.stringContaining('stable') })
    expect(session.summary().status).toBe('running')
    expect(rows('verification')).toEqual([])
    expect(rows('escalation')).toEqual([])
  })

  test('a halt where nothing changed since the point: going back to it is a decision too', async () => {
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: verifier('echo nonsense') })
    await expect(session.runTests({ command: null })).rejects.toMatchObject({ code: 'VERIFICATION_HALT' })
    expect(point('stable')?.verdict?.status).toBe('unknown')
    expect(await rollback(session, 'stable')).toMatchObject({ status: 'skipped_noop' })
    expect(session.summary().status).toBe('running')
    await write(session, 'a', 'goes on')
  })

  test('an undo on top of a rewind that the caller has not heard of is refused', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'one')
    await write(session, 'a', '2')
    const { epoch } = await rollback(session, 'one')
    await write(session, 'a', '3')
    await rollback(session, 'one')
    await expect(session.undo({ epoch })).rejects.toMatchObject({ code: 'SESSION_REWOUND' })
    expect(await tree(session)).toContain('./a: 1')
    await session.undo({ epoch: epoch + 1 })
    expect(await tree(session)).toContain('./a: 3')
  })

  test('what failed before a rewind rolls nothing back after it', async () => {
    onException('base')
    await write(session, 'a', '1')
    await checkpoint(session, 'one')
    await write(session, 'a', '2')
    const running = run(session, 'sleep 0.5; exit 3', { guarded: true })
    await expect.poll(() => session.commands().at(-1)?.status).toBe('running')
    await rollback(session, 'one')
    expect((await running).autoRollback).toBeNull()
    expect(await tree(session)).toContain('./a: 1')
  })

  test('nothing of it can be used after the end', async () => {
    await session.end()
    await expect(session.runTests({ command: 'true' })).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
    await expect(session.onToolResult({ messages: null, error: 'x', tool: null })).rejects.toMatchObject({
      code: 'SANDBOX_NOT_FOUND',
    })
    await expect(session.onToolCall({ messages: null, tool: null })).rejects.toMatchObject({
      code: 'SANDBOX_NOT_FOUND',
    })
  })
})
