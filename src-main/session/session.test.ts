import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import type { Message, SessionEvent, SessionOptions } from '../contract/index.ts'
import { createLocalProvider } from '../sandbox/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, messagesOf, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'
import { resolveWorkspace } from './workspace.ts'

const user = (content: string): Message => ({ role: 'user', content })
const call = (id: string): Message => ({ role: 'assistant', content: '', tool_calls: [{ id }] })

suiteNeeding(['local'], 'a session', () => {
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

  const plain = (id: string, command: string) => ({
    id,
    command,
    cwd: null,
    env: {},
    stdin: null,
    timeoutMs: null,
    asTool: false,
    tool: null,
  })

  const options = (changed: Partial<SessionOptions>): SessionOptions => ({
    name: 'test',
    workspace: place.workspace,
    explicit: false,
    create: false,
    force: false,
    engine: 'auto',
    mode: 'interactive',
    base: 'auto',
    network: true,
    env: {},
    ...changed,
  })

  test('pair:files-and-messages-go-back-together', async () => {
    await write(session, 'a', 'one')
    await checkpoint(session, 'stable', [user('before')])
    await write(session, 'a', 'two')
    await write(session, 'b', 'new')
    await run(session, 'rm kept.txt')
    await session.sync({ messages: [user('before'), call('1')], revision: null })

    const result = await rollback(session, 'stable')
    expect(await tree(session)).toBe('./a: one\n./kept.txt: as it was\n')
    expect(result.messages[0]).toEqual(user('before'))
    expect(result.messages).toHaveLength(2)
    expect(messagesOf(session)).toEqual(result.messages)
    expect(String(result.messages[1]?.content)).toContain('stable')
    expect(readFileSync(join(place.workspace, 'kept.txt'), 'utf8')).toBe('as it was\n')
  })

  test('undo:brings-back-files-and-messages-as-they-were, and undo undoes itself', async () => {
    await checkpoint(session, 'stable', [user('before')])
    await write(session, 'a', 'two')
    const history = [user('before'), call('1')]
    await session.sync({ messages: history, revision: null })
    await rollback(session, 'stable')
    const rewound = messagesOf(session)

    await session.undo()
    expect(await tree(session)).toBe('./a: two\n./kept.txt: as it was\n')
    expect(messagesOf(session)).toEqual(history)

    await session.undo()
    expect(await tree(session)).toBe('./kept.txt: as it was\n')
    expect(messagesOf(session)).toEqual(rewound)
  })

  test('undo:nothing-to-undo', async () => {
    await expect(session.undo()).rejects.toMatchObject({ code: 'ROLLBACK_FAILED' })
  })

  test('rollback:skipped-only-when-nothing-would-change', async () => {
    await write(session, 'a', 'one')
    await checkpoint(session, 'stable', [user('hello')])
    expect(await rollback(session, 'stable')).toMatchObject({ status: 'skipped_noop', epoch: 0 })
    await write(session, 'a', 'two')
    expect(await rollback(session, 'stable')).toMatchObject({ status: 'rolled_back', epoch: 1 })
    expect(await rollback(session, 'stable')).toMatchObject({ status: 'skipped_noop', epoch: 1 })
    await write(session, 'a', 'two')
    expect(await rollback(session, 'stable')).toMatchObject({ status: 'rolled_back', epoch: 2 })
    const rows = session.ledger({ checkpoint: 'stable', type: 'rollback', status: null })
    expect(rows.map((row) => row.status)).toEqual(['skipped_noop', 'rolled_back', 'skipped_noop', 'rolled_back'])
    expect(session.verifyLedger()).toMatchObject({ whole: true, rows: 4 })
  })

  test('rollback:only-files-keeps-messages, only-messages-keeps-files', async () => {
    await write(session, 'a', 'one')
    await checkpoint(session, 'stable', [user('first')])
    await write(session, 'a', 'two')
    await session.sync({ messages: [user('first'), user('second')], revision: null })

    const files = await rollback(session, 'stable', 'files')
    expect(await tree(session)).toContain('./a: one')
    expect(messagesOf(session)).toEqual([user('first'), user('second')])
    expect(files.point.why).toContain('files of stable')

    await session.undo()
    const messages = await rollback(session, 'stable', 'messages')
    expect(await tree(session)).toContain('./a: two')
    expect(messagesOf(session).map((message) => message.role)).toEqual(['user', 'system'])
    expect(messages.point.why).toContain('messages of stable')
    await session.undo()
    expect(messagesOf(session)).toEqual([user('first'), user('second')])
  })

  test('checkpoint:unchanged-shares-the-layer', async () => {
    await write(session, 'a', 'one')
    await checkpoint(session, 'one')
    const again = await checkpoint(session, 'again')
    expect(again).toMatchObject({ bytes: 0, files: { added: 0, modified: 0, deleted: 0 } })
  })

  test('labels: unique on the current line, free again on a branch', async () => {
    await checkpoint(session, 'start')
    await write(session, 'a', '1')
    await checkpoint(session, 'attempt')
    await expect(checkpoint(session, 'attempt')).rejects.toMatchObject({ code: 'CHECKPOINT_EXISTS', exitCode: 3 })
    await rollback(session, 'start')
    await write(session, 'a', '2')
    await checkpoint(session, 'attempt')
    await rollback(session, 'attempt')
    expect(await tree(session)).toContain('./a: 2')
  })

  test.each(['', '   ', 'x'.repeat(257), 'a\nb', 'latest', 'base', 'test-ckpt-7'])(
    'label %j is refused',
    async (label) => {
      await expect(checkpoint(session, label)).rejects.toMatchObject({ code: 'INVALID_OPTION', exitCode: 64 })
      expect(session.timeline().points).toHaveLength(1)
    },
  )

  test('a label may hold what a path may not', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'a:b,c/../d "e" 公共 🙂')
    await write(session, 'a', '2')
    await rollback(session, 'a:b,c/../d "e" 公共 🙂')
    expect(await tree(session)).toContain('./a: 1')
  })

  test('an unknown checkpoint is named with what there is', async () => {
    await checkpoint(session, 'known')
    await expect(rollback(session, 'unknown')).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
      nextStep: expect.stringContaining('known'),
    })
    await expect(rollback(session, 'x'.repeat(10_000))).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
  })

  test('latest: the newest automatic checkpoint on the line, else the newest', async () => {
    await expect(rollback(session, 'latest')).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
    session.autoCheckpoint({ on: true, keepLast: null })
    const { checkpoint: label } = await session.onToolCall({ messages: null, tool: 'write_file' })
    expect(label).toBe('auto_0001_write_file')
    await write(session, 'a', '1')
    await checkpoint(session, 'manual')
    await write(session, 'a', '2')
    expect((await rollback(session, 'latest')).point.label).toBe('auto_0001_write_file')
  })

  test('preview: what is lost is computed, and is what then happens', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'stable', [user('1')])
    await write(session, 'a', '2')
    await write(session, 'b', 'new')
    await session.sync({ messages: [user('1'), user('2')], revision: null })
    const later = await checkpoint(session, 'later')
    const preview = await session.preview({ to: 'stable' })
    expect(preview).toMatchObject({
      messagesLost: 1,
      pointsLeft: [later.id],
      counts: { added: 0, modified: 1, deleted: 1 },
    })
    expect(preview.changes.map(({ path, status }) => [path, status])).toEqual([
      ['a', 'modified'],
      ['b', 'deleted'],
    ])
    const result = await rollback(session, 'stable')
    expect(result.pointsLeft).toEqual(preview.pointsLeft)
    expect(await tree(session)).toBe('./a: 1\n./kept.txt: as it was\n')
  })

  const verifier = (command: string) => ({ command, retries: 1, retryDelayMs: 10, timeoutMs: 10_000 })

  test('verifier:fail rolls back, judges the state that was left, and again when the bad write comes again', async () => {
    await write(session, 'a', 'good')
    await checkpoint(session, 'stable', [user('go')])
    session.autoRollback({
      on: true,
      events: ['test_failure'],
      to: 'stable',
      verifier: verifier(
        `grep -q good a && echo '{"status":"pass"}' || echo '{"status":"fail","errors":["a is bad"]}'`,
      ),
    })
    expect(await session.runTests({ command: null })).toEqual({
      text: 'Verification passed.',
      verdict: { status: 'pass' },
    })
    expect(session.timeline().points.find((point) => point.label === 'stable')?.verdict?.status).toBe('pass')

    for (const epoch of [1, 2]) {
      await write(session, 'a', 'bad')
      await expect(session.runTests({ command: null })).rejects.toMatchObject({
        code: 'VERIFICATION_FAILED',
        message: 'Verification failed:\n  - a is bad',
      })
      expect(await tree(session)).toContain('./a: good')
      const timeline = session.timeline()
      expect(timeline.epoch).toBe(epoch)
      expect(timeline.points.find((point) => point.id === timeline.undo)?.verdict?.status).toBe('fail')
    }
    expect(session.lastAutoRollback()).toMatchObject({ event: 'test_failure', to: 'stable', status: 'rolled_back' })
    expect(session.ledger({ checkpoint: null, type: 'verification', status: 'fail' })).toHaveLength(2)
  })

  test('verifier:unknown halts the session; a rewind lets it go on', async () => {
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: verifier('echo nonsense') })
    await expect(session.runTests({ command: null })).rejects.toMatchObject({ code: 'VERIFICATION_HALT', exitCode: 6 })
    expect(session.summary().status).toBe('halted')
    await expect(write(session, 'a', 'x')).rejects.toMatchObject({ code: 'SESSION_HALTED' })
    await expect(manager.create(options({ force: true }))).rejects.toMatchObject({ code: 'SESSION_HALTED' })
    await session.rollback({ to: 'base', only: null, patchNotes: null })
    expect(session.summary().status).toBe('running')
    await write(session, 'a', 'x')
  })

  test('verifier:a session that is over neither is halted nor goes on', async () => {
    session.autoRollback({ on: true, events: ['exception'], to: 'base', verifier: verifier('echo nonsense') })
    await expect(session.runTests({ command: null })).rejects.toMatchObject({ code: 'VERIFICATION_HALT' })
    for (const [over, status] of [
      [() => session.end(), 'ended'],
      [() => session.destroy(), 'destroyed'],
    ] as const) {
      await over()
      await expect(run(session, 'true')).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
      await expect(session.resume({ verifier: null, note: null })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      expect(session.summary().status).toBe(status)
    }
  })

  test('exception: a failed tool call rolls back; a rule without a target lets the error through', async () => {
    session.autoRollback({ on: true, events: ['exception'], to: 'later', verifier: null })
    expect((await run(session, 'exit 3', { tool: 'execute' })).autoRollback).toBeNull()
    expect(session.ledger({ checkpoint: 'later', type: null, status: 'no_target' })).toHaveLength(1)

    await write(session, 'a', '1')
    await checkpoint(session, 'later')
    const failed = await run(session, 'echo 2 > a; exit 3', { tool: 'execute' })
    expect(failed).toMatchObject({ code: 3, autoRollback: { event: 'exception', to: 'later', status: 'rolled_back' } })
    expect(await tree(session)).toContain('./a: 1')
    expect((await run(session, 'echo 3 > a; exit 3')).autoRollback).toBeNull()
    expect(await tree(session)).toContain('./a: 3')
  })

  test('exception: nothing fires while the session waits for a decision', async () => {
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: verifier('echo nonsense') })
    await session.startCommand({ ...plain('slow', 'sleep 4; exit 3'), tool: 'execute' })
    await expect(session.runTests({ command: null })).rejects.toMatchObject({ code: 'VERIFICATION_HALT' })
    expect((await session.waitCommand({ id: 'slow' })).autoRollback).toBeNull()
    expect(session.summary().status).toBe('halted')
  })

  test('exception: the rule outlives the host that started the tool call', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: null })
    await session.startCommand({ ...plain('over', 'echo 2 > a; sleep 1; exit 3'), tool: 'execute' })
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    expect(await session.waitCommand({ id: 'over' })).toMatchObject({ code: 3, autoRollback: { to: 'stable' } })
    expect(await tree(session)).toContain('./a: 1')
  })

  test('exception: the rule acts on a tool call that failed while no host was there', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'stable')
    session.autoRollback({ on: true, events: ['exception'], to: 'stable', verifier: null })
    await session.startCommand({ ...plain('gap', 'echo 2 > a; sleep 0.3; exit 3'), tool: 'execute' })
    await close()
    await sleep(1_500)
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    expect(await session.waitCommand({ id: 'gap' })).toMatchObject({ code: 3, autoRollback: { to: 'stable' } })
    expect(await tree(session)).toContain('./a: 1')
  })

  test('auto-checkpoint: tool calls side by side each get a point of their own', async () => {
    await checkpoint(session, 'auto_0001_execute')
    session.autoCheckpoint({ on: true, keepLast: null })
    const results = await Promise.all([1, 2, 3].map((n) => run(session, `echo ${n} > ${n}`, { tool: 'execute' })))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    const labels = session
      .timeline()
      .points.flatMap((point) => (point.takenBy === 'auto' && point.tool ? [point.label] : []))
    expect(new Set(labels).size).toBe(3)
  })

  test('sync: a history that comes during a rewind is never lost', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'stable', [user('1')])
    await write(session, 'a', '2')
    const moving = rollback(session, 'stable')
    await session.sync({ messages: [user('during')], revision: null })
    await moving
    const points = session.timeline().points.map((point) => session.conversation({ at: point.id }).messages)
    expect([...points, messagesOf(session)].flat()).toContainEqual(user('during'))
  })

  test('checkpoint: one that fails has changed nothing, messages included', async () => {
    await session.sync({ messages: [user('before')], revision: null })
    await checkpoint(session, 'taken')
    await expect(checkpoint(session, 'taken', [user('after')])).rejects.toMatchObject({ code: 'CHECKPOINT_EXISTS' })
    await expect(checkpoint(session, 'bad', [{ role: 'nobody' }])).rejects.toMatchObject({ code: 'INVALID_MESSAGES' })
    expect(messagesOf(session)).toEqual([user('before')])
  })

  test('rules: test_failure needs a verifier', () => {
    expect(() => session.autoRollback({ on: true, events: ['test_failure'], to: null, verifier: null })).toThrow(
      /verifier/,
    )
  })

  test('commands: a rewind ends what runs, says so, and keeps its output', async () => {
    await checkpoint(session, 'stable')
    const started = await session.startCommand(plain('long', 'echo begun; sleep 300; echo never'))
    expect(started.status).toBe('running')
    await expect
      .poll(async () =>
        Buffer.from(
          (await session.output({ id: 'long', stream: 'stdout', offset: 0, limit: 99 })).bytes,
          'base64',
        ).toString(),
      )
      .toBe('begun\n')
    const result = await rollback(session, 'stable')
    expect(result.stopped.map((process) => process.command).join()).toContain('sleep 300')
    expect(await session.waitCommand({ id: 'long' })).toMatchObject({ stdout: 'begun\n' })
    expect(session.commands().find((command) => command.id === 'long')).toMatchObject({
      status: 'cancelled',
      note: expect.stringContaining('rewind to stable'),
    })
  })

  test('commands: one that is in flight at a checkpoint goes on, its output complete', async () => {
    const id = 'across'
    await session.startCommand({
      id,
      command: 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done',
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool: null,
    })
    const point = await checkpoint(session, 'middle')
    expect(point.running).toHaveLength(1)
    expect(await session.waitCommand({ id })).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n5\n6\n' })
  })

  test('a later host takes over: files, messages, running commands', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'stable', [user('hello')])
    await session.startCommand(plain('over', 'echo begun; sleep 1; echo ended'))
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    expect(await session.waitCommand({ id: 'over' })).toMatchObject({ code: 0, stdout: 'begun\nended\n' })
    expect(await tree(session)).toContain('./a: 1')
    expect(messagesOf(session)).toEqual([user('hello')])
    await write(session, 'a', '2')
    await rollback(session, 'stable')
    expect(await tree(session)).toContain('./a: 1')
  })

  test('events: every change is told once, in order, and a client that was away catches up', async () => {
    const stop = new AbortController()
    const seen: SessionEvent[] = []
    const reading = (async () => {
      for await (const event of manager.events(0, stop.signal)) seen.push(event)
    })()
    await write(session, 'a', '1')
    await checkpoint(session, 'one')
    await expect.poll(() => seen.filter((event) => event.type === 'pointAdded').length).toBe(2)
    stop.abort()
    await reading
    const ids = seen.map((event) => event.id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))

    await checkpoint(session, 'two')
    const again = new AbortController()
    for await (const event of manager.events(ids.at(-1) ?? 0, again.signal))
      if (event.type === 'pointAdded') {
        expect(event.point.label).toBe('two')
        break
      }
  })

  test('sync: a stale revision is refused with the history to use', async () => {
    const { revision } = await session.sync({ messages: [user('1')], revision: null })
    await session.sync({ messages: [user('1'), user('2')], revision })
    await expect(session.sync({ messages: [user('1')], revision })).rejects.toMatchObject({
      code: 'SESSION_REWOUND',
      data: { messages: [user('1'), user('2')] },
    })
  })

  test('create: attaches, refuses another workspace of the same name, begins anew by force', async () => {
    expect(await manager.create(options({}))).toMatchObject({ attached: true, session: { id: session.id } })
    const other = join(place.folder, 'other')
    mkdirSync(other)
    await expect(manager.create(options({ workspace: other }))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    const fresh = await manager.create(options({ force: true }))
    expect(fresh.session.id).not.toBe(session.id)
    expect(session.summary().status).toBe('ended')
    expect(manager.find('test').id).toBe(fresh.session.id)
  })

  test('ended: layers can still be read; destroyed: the record remains', async () => {
    await write(session, 'a', '1')
    await checkpoint(session, 'one', [user('1')])
    await write(session, 'a', '2')
    await checkpoint(session, 'two')
    await session.end()
    const read = () => session.changes({ from: 'one', to: 'two', limit: null })
    expect((await read()).changes.map((change) => change.path)).toEqual(['a'])
    await expect(write(session, 'a', '3')).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND', exitCode: 2 })

    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    expect((await read()).changes.map((change) => change.path)).toEqual(['a'])
    await session.destroy()
    expect(session.timeline().points).toHaveLength(3)
    expect(session.conversation({ at: 'one' }).messages).toEqual([user('1')])
    await expect(read()).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
  })

  test('read: a file that no answer can hold is refused, now and at a point', async () => {
    await run(session, 'truncate -s 200M huge')
    const read = (at: string) => session.read({ path: 'huge', at, encoding: null })
    await expect(read('now')).rejects.toMatchObject({ code: 'INVALID_OPTION', data: { size: 200 << 20 } })
    await checkpoint(session, 'held')
    await expect(read('held')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test('create: two clients who ask at once get one session', async () => {
    const both = await Promise.all([
      manager.create(options({ name: 'twin' })),
      manager.create(options({ name: 'twin' })),
    ])
    expect(new Set(both.map((made) => made.session.id)).size).toBe(1)
  })

  test('create: by force nothing ends before the new one stands', async () => {
    vi.stubEnv('DOCKER_HOST', 'unix:///nowhere/docker.sock')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    await close()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await expect(manager.create(options({ force: true, engine: 'docker' }))).rejects.toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
    })
    expect(session.summary().status).toBe('running')
  })

  test('destroy: the output of what still ran is kept whole', async () => {
    const bytes = 30_000_000
    await session.startCommand(plain('flood', `head -c ${bytes} /dev/zero; sleep 300`))
    await expect
      .poll(async () => (await session.output({ id: 'flood', stream: 'stdout', offset: bytes - 1, limit: 9 })).next)
      .toBe(bytes)
    await session.destroy()
    expect(session.commands()).toMatchObject([{ status: 'cancelled', stdoutBytes: bytes }])
  })

  test('destroy: also where the sandbox cannot be taken hold of, and its name is free again', async () => {
    await close()
    renameSync(join(place.home, 'sandboxes', session.id, 'spec.json'), join(place.home, 'spec-gone'))
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await expect(write(session, 'a', '1')).rejects.toThrow()
    expect(['unreachable', 'destroyed']).toContain(session.summary().status)
    if (session.summary().status === 'unreachable') await session.destroy()
    expect(session.summary().status).toBe('destroyed')
    expect(await manager.create(options({}))).toMatchObject({ attached: false })
  })

  test('ended in the sandbox but not yet in the record: the next host says ended', async () => {
    await close()
    const provider = createLocalProvider({ home: place.home })
    await (await provider.attach(session.id)).end()
    ;({ manager, close } = await place.open())
    session = manager.find('test')
    await expect.poll(() => session.summary().status).toBe('ended')
  })

  test('workspace: home and / are refused unless written out, where the data folder lies elsewhere', () => {
    const refused = (workspace: string, explicit: boolean) => () =>
      resolveWorkspace({ workspace, explicit, create: false }, '/elsewhere/data')
    expect(refused(homedir(), false)).toThrow(/home folder/)
    expect(refused(homedir(), true)).not.toThrow()
    expect(refused('/proc/nowhere/new', false)).toThrow(/no folder/)
    expect(() => resolveWorkspace({ workspace: '/proc/nowhere/new', explicit: true, create: true }, '/x')).toThrow(
      /cannot be made/,
    )
  })

  test('workspace: what cannot be one is refused with the reason', async () => {
    const refused = async (workspace: string) => {
      await expect(manager.create(options({ name: 'other', workspace }))).rejects.toMatchObject({
        code: 'INVALID_PATH',
        exitCode: 5,
      })
    }
    writeFileSync(join(place.folder, 'file'), '')
    await refused(join(place.folder, 'missing'))
    await refused(join(place.folder, 'file'))
    await refused(place.folder)
    await refused(place.home)
    await refused('/')
    await refused('relative')
    await refused('/proc/self/nul\0byte')
    if (process.getuid?.() !== 0) {
      const closed = join(place.folder, 'closed')
      mkdirSync(closed)
      chmodSync(closed, 0)
      await refused(closed)
      chmodSync(closed, 0o700)
    }
    expect(manager.list()).toHaveLength(1)
  })

  test('workspace: made with --create, and said so', async () => {
    const workspace = join(place.folder, 'made', 'new')
    expect(await manager.create(options({ name: 'made', workspace, create: true }))).toMatchObject({ created: true })
  })

  test('demo: the story of the quick start, with real parts', async () => {
    process.env.REWIND_DEMO_PACE_MS = '1'
    const { id } = await manager.demo()
    const demo = manager.find(id)
    await expect.poll(() => manager.idle(), { timeout: 30_000 }).toBe(true)
    const { points, epoch, undo } = demo.timeline()
    expect(epoch).toBe(1)
    expect(points.find((point) => point.label === 'stable')?.verdict?.status).toBe('pass')
    expect(points.find((point) => point.id === undo)?.verdict?.status).toBe('fail')
    const { content } = await demo.read({ path: 'auth.py', at: 'now', encoding: null })
    expect(content).toContain('compare_digest(password, PASSWORD)\n')
    expect(messagesOf(demo).filter((message) => 'tool_calls' in message)).toHaveLength(1)
    expect(String(messagesOf(demo).at(-1)?.content)).toContain('[REWIND]')
    expect(demo.conversation({ at: 'now' }).problems).toEqual([])
  })
})
