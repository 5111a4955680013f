import { describe, expect, it } from 'vitest'
import { CheckpointNotFoundError, type SessionEvent } from '../contract/index.ts'
import { sessionRow } from './session-row.fixture.ts'
import { command, point, storeWith } from './store.fixture.ts'

describe('points that are pruned', () => {
  it('leave their children with their parent, and layers that became others bear their numbers', () => {
    const { store } = storeWith('s1', 's2')
    const hold = (workspace: number, machine = 0) => ({
      state: { workspace, machine },
      conversations: [],
    })
    store.points.insert(point(0), hold(0))
    store.points.insert(point(1), hold(1, 3))
    store.points.insert(point(2, { files: { added: 1, modified: 0, deleted: 0 } }), hold(2, 4))
    store.points.insert(point(3), hold(5, 4))
    store.points.insert(point(0, { session: 's2' }), hold(2, 4))
    store.points.remove('s1', 'agent-ckpt-1')
    expect(store.points.list('s1').map(({ id, parent, files }) => [id, parent, files])).toEqual([
      ['base', null, null],
      ['agent-ckpt-2', 'base', null],
      ['agent-ckpt-3', 'agent-ckpt-2', null],
    ])
    expect(() => store.points.remove('s1', 'agent-ckpt-1')).toThrow(CheckpointNotFoundError)
    // Told again after a crash.
    for (let times = 0; times < 2; times++) store.points.renameLayers('s1', { workspace: [[2, 1]], machine: [[4, 3]] })
    expect(store.points.held('s1', 'agent-ckpt-2').state).toEqual({ workspace: 1, machine: 3 })
    expect(store.points.held('s1', 'agent-ckpt-3').state).toEqual({ workspace: 5, machine: 3 })
    expect(store.points.held('s2', 'base').state).toEqual({ workspace: 2, machine: 4 })
    expect(store.points.states('s1')).toEqual([
      { workspace: 0, machine: 0 },
      { workspace: 1, machine: 3 },
      { workspace: 5, machine: 3 },
    ])
    expect(store.points.layerCount('s1')).toBe(5)
    store.points.remove('s1', 'agent-ckpt-3')
    expect(store.points.layerCount('s1')).toBe(4)
  })
})

const nothing = { state: { workspace: 0, machine: 0 }, conversations: [] }

describe('sessions', () => {
  it('come back as they were given, dates, rules and messages included', () => {
    const { store } = storeWith()
    const full = sessionRow({
      demo: true,
      network: false,
      env: { TOKEN: 'secret' },
      endedAt: new Date(5_000),
      undo: 'agent-ckpt-3',
      notes: ['base copied: the workspace is small'],
      rules: {
        autoCheckpoint: { trigger: 'before_tool_call', keepLast: 5 },
        retention: { budgetBytes: 5_000 },
        autoRollback: {
          events: ['exception', 'test_failure'],
          to: 'stable',
          verifier: { command: ['pytest', '-q'], retries: 2, retryDelayMs: 10, timeoutMs: null },
        },
      },
      lastAutoRollback: {
        event: 'test_failure',
        to: 'stable',
        checkpoint: 'agent-ckpt-1',
        status: 'rolled_back',
        messages: [{ content: 'first the content', role: 'user', extra: { b: 1, a: 2 } }],
        format: 'anthropic',
        at: new Date(4_000),
      },
      haltedBy: { checkpoint: null, attempts: 4 },
    })
    store.sessions.insert(full)
    const read = store.sessions.get('s1')
    expect(read).toEqual(full)
    expect(JSON.stringify(read?.lastAutoRollback?.messages)).toBe(JSON.stringify(full.lastAutoRollback?.messages))
  })

  it('change only the fields that are given, null included', () => {
    const { store } = storeWith()
    store.sessions.insert(sessionRow({ undo: 'agent-ckpt-1' }))
    store.sessions.update('s1', { epoch: 2, undo: null, endedAt: new Date(9_000) })
    store.sessions.update('s1', {})
    expect(store.sessions.get('s1')).toEqual(sessionRow({ epoch: 2, undo: null, endedAt: new Date(9_000) }))
  })

  it('are listed oldest first', () => {
    const { store } = storeWith()
    for (const [id, at] of [
      ['young', 9],
      ['old', 3],
    ] as const)
      store.sessions.insert(sessionRow({ id, createdAt: new Date(at) }))
    expect(store.sessions.list().map(({ id }) => id)).toEqual(['old', 'young'])
    expect(store.sessions.get('nobody')).toBeUndefined()
  })
})

describe('points', () => {
  it('come back as they were given', () => {
    const { store } = storeWith('s1')
    const base = point(0)
    const full = point(1, {
      takenBy: 'auto',
      why: 'write_file',
      tool: 'write_file',
      messages: 7,
      files: { added: 1, modified: 2, deleted: 3 },
      running: ['cmd-1', 'cmd-2'],
      verdict: { status: 'fail', text: 'Verification failed', at: new Date(77) },
      bytes: 4096,
    })
    store.points.insert(base, nothing)
    store.points.insert(full, nothing)
    expect(store.points.list('s1')).toEqual([base, full])
    expect(store.points.list('s2')).toEqual([])
  })

  it('take a verdict and counts later', () => {
    const { store } = storeWith('s1')
    store.points.insert(point(0), nothing)
    const patch = {
      verdict: { status: 'pass' as const, text: 'ok', at: new Date(5) },
      files: { added: 0, modified: 1, deleted: 0 },
    }
    expect(store.points.update('s1', 'base', patch)).toEqual(point(0, patch))
    expect(store.points.list('s1')).toEqual([point(0, patch)])
    expect(() => store.points.update('s1', 'agent-ckpt-9', patch)).toThrow(CheckpointNotFoundError)
    expect(() => store.points.held('s1', 'agent-ckpt-9')).toThrow(CheckpointNotFoundError)
  })

  it('give back their file states, which may be shared', () => {
    const { store } = storeWith('s1')
    const node = store.messages.save([{ role: 'user', content: 'hello' }])
    const conversations = [
      { conversation: 'main', node, format: 'anthropic' as const },
      { conversation: 'reviewer', node: null, format: 'vercel' as const },
    ]
    const states = [
      { workspace: 1, machine: 0 },
      { workspace: 4, machine: 2 },
      { workspace: 4, machine: 5 },
      { workspace: 4, machine: 5 },
    ]
    for (const [seq, state] of states.entries()) store.points.insert(point(seq), { state, conversations })
    for (const [seq, state] of states.entries())
      expect(store.points.held('s1', point(seq).id)).toEqual({ state, conversations })
    expect(store.points.states('s1')).toEqual(states.slice(0, 3))
    expect([store.points.layerCount('s1'), store.points.layerCount('s2')]).toEqual([5, 0])
  })

  it('are numbered by name, for ever and over all sessions', () => {
    const { store } = storeWith('s1', 's2')
    expect([store.points.nextNumber('agent'), store.points.nextNumber('agent')]).toEqual([1, 2])
    expect(store.points.nextNumber('other')).toBe(1)
    expect(store.points.nextNumber('agent')).toBe(3)
  })
})

describe('commands', () => {
  it('come back as they were given and change', () => {
    const { store } = storeWith('s1')
    const array = command('b', { command: ['sh', '-c', 'echo "$1"', '', 'ü'], tool: 'execute' })
    store.commands.insert(command('a'))
    store.commands.insert(array)
    const ended = { status: 'exited' as const, code: 3, endedAt: new Date(2_000), stdoutBytes: 12 }
    expect(store.commands.update('s1', 'a', ended)).toEqual(command('a', ended))
    expect(store.commands.get('s1', 'b')).toEqual(array)
    expect(store.commands.list('s1').map(({ id }) => id)).toEqual(['a', 'b'])
    expect(store.commands.running('s1')).toEqual([array])
  })

  it('of two sessions stay apart', () => {
    const { store } = storeWith('s1', 's2')
    store.commands.insert(command('a'))
    store.commands.insert(command('a', { session: 's2', command: 'false' }))
    expect(store.commands.get('s2', 'a')?.command).toBe('false')
    expect(() => store.commands.update('s2', 'b', { code: 1 })).toThrow(/no command b/)
  })
})

describe('journal', () => {
  it('holds what was begun and not closed, in order', () => {
    const { store } = storeWith('s1', 's2')
    const intent = { to: 'agent-ckpt-1', state: { workspace: 2, machine: 0 } }
    store.journal.begin({ operation: 'op-1', session: 's1', kind: 'rollback', intent })
    store.journal.begin({ operation: 'op-2', session: 's2', kind: 'checkpoint', intent: null })
    store.journal.begin({ operation: 'op-3', session: 's1', kind: 'checkpoint', intent: null })
    expect(store.journal.open('s1').map(({ operation }) => operation)).toEqual(['op-1', 'op-3'])
    expect(store.journal.open()[0]).toEqual({
      operation: 'op-1',
      session: 's1',
      kind: 'rollback',
      intent,
      begunAt: expect.any(Date),
    })
    store.journal.close('op-1')
    store.journal.close('op-1')
    expect(store.journal.open().map(({ operation }) => operation)).toEqual(['op-2', 'op-3'])
  })

  it('takes an operation once', () => {
    const { store } = storeWith('s1')
    const row = { operation: 'op', session: 's1', kind: 'checkpoint', intent: {} }
    store.journal.begin(row)
    expect(() => store.journal.begin(row)).toThrow(/UNIQUE/)
  })
})

describe('events', () => {
  const changed = { type: 'filesChanged', session: 's1' } as const

  it('come back as they were raised, dates at every depth included', () => {
    const { store } = storeWith('s1')
    const raised: SessionEvent[] = [
      store.events.append({
        type: 'pointAdded',
        session: 's1',
        point: point(1, { verdict: { status: 'pass', text: 'ok', at: new Date(3) } }),
      }),
      store.events.append({
        type: 'commandEnded',
        session: 's1',
        command: command('a', { command: 'echo {"$date": 1}', endedAt: new Date(9) }),
      }),
      store.events.append({ type: 'filesChanged', session: 'long gone' }),
    ]
    expect(raised.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(store.events.since(0, 10)).toEqual(raised)
    expect(store.events.since(1, 1)).toEqual(raised.slice(1, 2))
    expect(store.events.since(3, 10)).toEqual([])
  })

  it('keep at least the newest 20,000 and never give an id twice', () => {
    const { store } = storeWith('s1')
    expect([store.events.last(), store.events.oldest()]).toEqual([0, 1])
    store.transaction(() => {
      for (let n = 0; n < 21_500; n++) store.events.append(changed)
    })
    expect(store.events.last()).toBe(21_500)
    expect(store.events.oldest()).toBe(1_001)
    expect(store.events.since(0, 1)[0]?.id).toBe(1_001)
    expect(store.events.append(changed).id).toBe(21_501)
  })

  it('take back the id of an append that was not committed', () => {
    const { store } = storeWith('s1')
    expect(() =>
      store.transaction(() => {
        store.events.append(changed)
        throw new Error('no')
      }),
    ).toThrow('no')
    expect([store.events.last(), store.events.append(changed).id]).toEqual([0, 1])
  })
})

describe('settings', () => {
  it('hold the last value', () => {
    const { store } = storeWith()
    store.settings.set('port', '7717')
    store.settings.set('port', '7718')
    expect([store.settings.get('port'), store.settings.get('nothing')]).toEqual(['7718', undefined])
  })
})
