/** The tools, driven by the SDKs' own clients of both lines, over stdin and over HTTP: what an agent can do, and what not. */
import { spawn } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root, TestHost } from './host.ts'
import { connect, type ToolClient, type Way, ways } from './mcp-clients.ts'
import { suiteNeeding } from './needs.ts'

const TOOLS = [
  'init_sandbox',
  'get_sandbox_status',
  'destroy_sandbox',
  'execute_sandbox_command',
  'get_command',
  'stop_command',
  'write_sandbox_file',
  'read_sandbox_file',
  'get_sandbox_diff',
  'sync_agent_memory',
  'get_agent_memory',
  'create_sandbox_checkpoint',
  'rollback_sandbox_state',
  'sandbox_checkpoint',
  'sandbox_checkpoint_list',
  'sandbox_rewind',
  'configure_auto_checkpoint',
  'configure_auto_rollback',
  'run_verification',
  'get_escalation',
  'commit_sandbox',
  'get_ledger_history',
]

suiteNeeding(['local'], 'tools for agents', () => {
  let host: TestHost
  let project: string
  const clients: ToolClient[] = []

  beforeEach(async () => {
    host = await TestHost.begin()
    project = host.folder('project')
    writeFileSync(join(project, 'app.py'), 'print("fine")\n')
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
    await host?.end()
  })

  async function agent(way: Way, options: Parameters<typeof connect>[2] = {}): Promise<ToolClient> {
    const client = await connect(way, host, options)
    clients.push(client)
    return client
  }

  /** An agent with a session on the project. */
  async function atWork(way: Way, name = 'work'): Promise<ToolClient> {
    await host.json('allow', project)
    const client = await agent(way)
    const { isError, text } = await client.call('init_sandbox', { path: project, container_name: name })
    expect(isError, text).toBe(false)
    return client
  }

  describe.each(ways)('a client of %s', (way) => {
    test('sees what a commit would write, and is told that the yes is a person’s', async () => {
      const client = await atWork(way)
      await client.call('write_sandbox_file', { path: 'new.py', content: 'x' })
      const seen = await client.call('commit_sandbox')
      expect(seen).toMatchObject({ isError: false, data: { conflicts: 0, counts: { added: 1 } } })
      expect(seen.data).toMatchObject({ changes: [{ path: 'new.py', letter: 'A', conflict: null }] })
      const refused = await client.call('commit_sandbox', { dry_run: false })
      expect(refused.isError).toBe(true)
      expect(refused.text).toContain('rewind commit --session work')
      expect(existsSync(join(project, 'new.py'))).toBe(false)
    })

    test('saves a checkpoint, does damage, goes back with its messages, and goes on', async () => {
      const client = await atWork(way)
      expect(client.revision).toMatch(way.startsWith('2025') ? '2025' : '2026-07-28')
      const messages = [{ role: 'user', content: 'tidy up', unknown: { kept: [1, null] } }]
      const saved = await client.call('create_sandbox_checkpoint', {
        name: 'before tidying',
        messages,
        reason: 'risky',
      })
      expect(saved.data).toMatchObject({ checkpoint: 'before tidying', id: 'work-ckpt-1', message_count: 1 })

      const damage = await client.call('execute_sandbox_command', { cmd: 'rm app.py && echo oops > notes.txt; exit 3' })
      expect(damage).toMatchObject({ isError: true, data: { code: 3, status: 'exited', auto_rollback: null } })
      const changed = await client.call('get_sandbox_diff')
      expect(changed.data).toMatchObject({
        counts: { added: 1, modified: 0, deleted: 1 },
        changes: [
          { path: 'app.py', letter: 'D' },
          { path: 'notes.txt', letter: 'A' },
        ],
      })

      const back = await client.call('rollback_sandbox_state', { name: 'before tidying', patch_notes: 'do not use rm' })
      expect(back).toMatchObject({
        isError: false,
        data: { status: 'rolled_back', checkpoint: 'before tidying', epoch: 1 },
      })
      expect(back.data.messages).toEqual([
        messages[0],
        { role: 'system', content: expect.stringContaining('do not use rm') },
      ])
      expect(JSON.parse(back.text)).toEqual(back.data)

      // Its own rewind is no news to it.
      const read = await client.call('read_sandbox_file', { path: 'app.py' })
      expect(read).toMatchObject({ isError: false, data: { content: 'print("fine")\n', encoding: 'utf-8', epoch: 1 } })
      const written = await client.call('write_sandbox_file', { path: 'new/deep.txt', content: 'on we go\n' })
      expect(written).toMatchObject({ isError: false, data: { status: 'written', bytes: 9 } })
      expect(existsSync(join(project, 'new'))).toBe(false)
    })

    test('keeps a conversation for each agent in its own format, and takes all of them back', async () => {
      const client = await atWork(way)
      const call = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'ls', input: {} }] }
      const messages = [{ role: 'user', content: 'go' }, call]
      expect((await client.call('sync_agent_memory', { messages })).data).toMatchObject({
        format: 'anthropic',
        conversation: 'main',
        message_count: 2,
      })
      const items = JSON.stringify([{ type: 'message', role: 'user', content: 'review', __proto__: null }])
      const sub = { messages_json: items, conversation: 'reviewer', format: 'openai-responses' }
      expect((await client.call('sync_agent_memory', sub)).data).toMatchObject({ format: 'openai-responses' })
      await client.call('create_sandbox_checkpoint', { name: 'both' })
      await client.call('sync_agent_memory', { messages: [{ role: 'user', content: 'compacted' }] })
      await client.call('write_sandbox_file', { path: 'x', content: '1' })
      const back = await client.call('rollback_sandbox_state', { name: 'both' })
      expect(back.data).toMatchObject({
        format: 'anthropic',
        messages: [{ role: 'user', content: [{ text: 'go' }, { text: expect.stringContaining('[REWIND]') }] }],
        repairs: [expect.stringContaining('no result for ls')],
        conversations: [
          { conversation: 'reviewer', format: 'openai-responses', messages: [{}, { role: 'developer' }] },
        ],
      })
      const asked = await client.call('get_agent_memory', { format: 'openai' })
      expect(asked.data).toMatchObject({
        format: 'openai',
        conversations: ['main', 'reviewer'],
        messages: [{ content: 'go' }, { role: 'system' }],
        problems: [],
      })
    })

    test('lists its tools with schemas and what each does to the world', async () => {
      const client = await agent(way)
      const tools = await client.tools()
      expect(tools.map(({ name }) => name)).toEqual(TOOLS)
      for (const tool of tools) {
        expect(tool.inputSchema, tool.name).toMatchObject({ type: 'object', additionalProperties: false })
        expect(tool.outputSchema, tool.name).toMatchObject({ type: 'object' })
        expect(tool.annotations, tool.name).toMatchObject({
          title: expect.any(String),
          readOnlyHint: expect.any(Boolean),
        })
      }
      expect(client.instructions).toContain('init_sandbox')
    })

    test('is told of a rewind by somebody else before it acts on files that are gone', async () => {
      const client = await atWork(way)
      await client.call('sandbox_checkpoint', { label: 'start' })
      await client.call('write_sandbox_file', { path: 'plan.md', content: 'step 1' })
      await host.ask((rpc) => rpc.timeline.rollback({ session: 'work', to: 'start' }))

      const refused = await client.call('execute_sandbox_command', { cmd: 'echo more >> plan.md' })
      expect(refused.isError).toBe(true)
      expect(refused.text).toMatch(
        /^\[REWIND\] This session was rewound since your last call\.\nA person rewound .* to "start" at \d{4}-/,
      )
      expect(refused.text).toContain('1 (0 added, 0 modified, 1 deleted)')
      expect(refused.text).toContain('Read again: plan.md.')
      expect(refused.text).toContain('SESSION_REWOUND')
      const listed = await client.call('get_sandbox_diff')
      expect(listed.text).not.toContain('[REWIND]')
      expect(listed.data.changes).toEqual([])

      // Having heard of it, it may.
      const again = await client.call('execute_sandbox_command', { cmd: 'echo more >> plan.md' })
      expect(again).toMatchObject({ isError: false, data: { epoch: 1 } })
    })

    test('a call that only looks is answered, with the notice first', async () => {
      const client = await atWork(way)
      await client.call('sandbox_checkpoint', { label: 'start' })
      await client.call('write_sandbox_file', { path: 'app.py', content: 'broken' })
      await host.ask((rpc) => rpc.timeline.rollback({ session: 'work', to: 'start' }))
      const read = await client.call('read_sandbox_file', { path: 'app.py' })
      expect(read).toMatchObject({ isError: false, data: { content: 'print("fine")\n', epoch: 1 } })
      expect(read.text).toMatch(/^\[REWIND\]/)
      expect((await client.call('read_sandbox_file', { path: 'app.py' })).text).not.toContain('[REWIND]')
    })

    test('an epoch that it passes counts, older ones and those yet to come', async () => {
      const client = await atWork(way)
      await client.call('sandbox_checkpoint', { label: 'start' })
      await client.call('write_sandbox_file', { path: 'x', content: '1' })
      await client.call('sandbox_rewind')
      expect((await client.call('write_sandbox_file', { path: 'x', content: '2', epoch: 0 })).text).toMatch(
        /^\[REWIND\]/,
      )
      expect((await client.call('write_sandbox_file', { path: 'x', content: '2', epoch: 99 })).isError).toBe(false)
      await host.ask((rpc) => rpc.timeline.rollback({ session: 'work', to: 'start' }))
      expect((await client.call('write_sandbox_file', { path: 'x', content: '3' })).text).toMatch(/^\[REWIND\]/)
    })

    test('failures say what there is and what to do', async () => {
      const client = await agent(way)
      const none = await client.call('get_sandbox_status')
      expect(none).toMatchObject({
        isError: true,
        text: 'INVALID_OPTION: There is no session.\nBegin one with init_sandbox.',
      })
      const lost = await client.call('get_sandbox_status', { session: 'nope' })
      expect(lost.text).toContain('SANDBOX_NOT_FOUND')
      expect(lost.text).toContain('init_sandbox')
      await host.json('allow', project)
      const begun = await client.call('init_sandbox', { path: project, container_name: 'work' })
      expect(begun.isError, begun.text).toBe(false)
      await client.call('create_sandbox_checkpoint', { name: 'good' })
      const unknown = await client.call('rollback_sandbox_state', { session: 'work', name: 'bad' })
      expect(unknown.text).toBe('CHECKPOINT_NOT_FOUND: There is no checkpoint "bad".\nOn the current line: good, base.')
      const twice = await client.call('create_sandbox_checkpoint', { name: 'good' })
      expect(twice.text).toMatch(/^CHECKPOINT_EXISTS/)
      const away = await client.call('read_sandbox_file', { path: '../../etc/passwd' })
      expect(away.text).toMatch(/^INVALID_PATH/)
      const missing = await client.call('read_sandbox_file', { path: 'nope.txt' })
      expect(missing.text).toMatch(/^FILE_NOT_FOUND/)
      const typo = await client.call('read_sandbox_file', { file: 'app.py' })
      expect(typo.text).toContain('Unrecognized key: "file"')
    })

    test('a folder that nobody allowed is refused, with the command that allows it', async () => {
      const client = await agent(way)
      const refused = await client.call('init_sandbox', { path: project })
      expect(refused.isError).toBe(true)
      expect(refused.text).toContain(`rewind allow ${project}`)
      // A link out of an allowed folder leads to one that is not.
      const inside = host.folder('allowed')
      await host.json('allow', inside)
      symlinkSync(project, join(inside, 'link'))
      expect((await client.call('init_sandbox', { path: join(inside, 'link') })).isError).toBe(true)
      expect((await client.call('init_sandbox', { path: join(inside, '..', 'project') })).isError).toBe(true)
      const made = await client.call('init_sandbox', { path: join(inside, 'not/yet') })
      expect(made).toMatchObject({ isError: false, data: { created: true, path: join(inside, 'not/yet') } })
      await host.json('allow', '--remove', inside)
      expect((await client.call('init_sandbox', { path: inside, container_name: 'b' })).isError).toBe(true)
    })

    test('the session of a person is as if it were not there, until it is shared', async () => {
      await host.json('init', '--session', 'mine', project)
      const { id } = await host.ask(async (rpc) => (await rpc.sessions.list())[0] ?? { id: '' })
      const client = await agent(way)
      for (const ref of ['mine', id]) {
        const guessed = await client.call('execute_sandbox_command', { cmd: 'ls', session: ref })
        expect(guessed.text).toMatch(/^SANDBOX_NOT_FOUND/)
        expect(guessed.text).not.toContain(project)
      }
      const taken = await client.call('init_sandbox', { path: project, container_name: 'mine', force: true })
      expect(taken.text).toMatch(/^DECLINED/)
      await host.ask((rpc) => rpc.sessions.share({ session: 'mine' }))
      const shared = await client.call('execute_sandbox_command', { cmd: 'ls', session: 'mine' })
      expect(shared).toMatchObject({ isError: false, data: { stdout: 'app.py\n' } })
      const destroyed = await client.call('destroy_sandbox', { session: 'mine' })
      expect(destroyed.text).toMatch(/^DECLINED/)
    })

    test('progress is told while a command runs; a call that is taken back ends it', async () => {
      const client = await atWork(way)
      const told: string[] = []
      const taking = new AbortController()
      const call = client.call(
        'execute_sandbox_command',
        { cmd: 'for n in 1 2 3 4 5 6 7 8 9; do echo line $n; sleep 1; done; touch finished' },
        {
          signal: taking.signal,
          onProgress: (message) => {
            told.push(message)
            if (/^line \d$/.test(message)) taking.abort()
          },
        },
      )
      await expect(call).rejects.toThrow()
      expect(told.at(-1)).toMatch(/^line \d$/)
      await expect
        .poll(async () =>
          host.ask(async (rpc) => (await rpc.commands.list({ session: 'work' })).map(({ status }) => status)),
        )
        .toEqual(['cancelled'])
    })

    test('long output is shown from its end, and read from any byte, whole characters only', async () => {
      const client = await atWork(way)
      const line = 'é'.repeat(50)
      const long = await client.call('execute_sandbox_command', {
        cmd: `i=0; while [ $i -lt 1000 ]; do echo "${line} $i"; i=$((i+1)); done; echo done >&2`,
      })
      expect(long.data).toMatchObject({ code: 0, more: false, stderr: 'done\n' })
      expect(long.data.stdout).toMatch(/ 999\n$/)
      expect(long.data.stdout_offset).toBeGreaterThan(0)
      let whole = ''
      for (let offset = 0, more = true; more; ) {
        const { data } = await client.call('get_command', { id: long.data.id, offset })
        expect(data.stdout).not.toContain('\ufffd')
        whole += data.stdout
        offset = data.next_offset
        more = data.more
      }
      expect(whole).toBe(Array.from({ length: 1000 }, (_, n) => `${line} ${n}\n`).join(''))
    })

    test('what it does is told to whoever watches: by whom, with what, and how it ended', async () => {
      const client = await atWork(way)
      await client.call('write_sandbox_file', { path: 'x', content: 'y'.repeat(10_000) })
      const args = ['--json', '--session', 'work', 'events', '--follow', '--since', '0']
      const watching = spawn(join(root, 'bin/rewind'), args, { env: host.env, stdio: ['ignore', 'pipe', 'inherit'] })
      try {
        const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]()
        const heard = async (type: string, tool: string) => {
          for (;;) {
            const event = JSON.parse((await lines.next()).value as string) as { type: string; call: { tool: string } }
            if (event.type === type && event.call.tool === tool) return event.call
          }
        }
        const begun = await heard('toolCallStarted', 'write_sandbox_file')
        expect(begun).toMatchObject({
          client: 'test agent 1.2.3',
          status: 'running',
          result: null,
          arguments: expect.stringMatching(/^\{"path":"x","content":"yyy/),
        })
        const result = expect.stringContaining('"status":"written"')
        expect(await heard('toolCallEnded', 'write_sandbox_file')).toMatchObject({ status: 'done', result })
        // And what comes from now on.
        await client.call('sandbox_checkpoint_list')
        expect(await heard('toolCallEnded', 'sandbox_checkpoint_list')).toMatchObject({ status: 'done' })
      } finally {
        watching.kill()
      }
      await client.call('read_sandbox_file', { path: 'nope' })
      await expect
        .poll(() => host.ask(async (rpc) => (await rpc.tools.list({ session: 'work' })).at(-1)))
        .toMatchObject({
          tool: 'read_sandbox_file',
          status: 'failed',
          arguments: expect.stringContaining('"path":"nope"'),
          result: expect.stringContaining('FILE_NOT_FOUND'),
        })
    })

    test('rules, verification and ledger', async () => {
      const client = await atWork(way)
      await client.call('create_sandbox_checkpoint', {
        name: 'stable',
        messages_json: '[{"role":"user","content":"hi"}]',
      })
      const checks = await client.call('configure_auto_checkpoint')
      expect(checks.data).toMatchObject({ status: 'on', trigger: 'before_tool_call', keep_last: 5 })
      const rule = await client.call('configure_auto_rollback', {
        events_json: '["test_failure"]',
        to: 'stable',
        verifier_json:
          '{"command":"test -e app.py && echo {\\\\\\"status\\\\\\":\\\\\\"pass\\\\\\"} || echo {\\\\\\"status\\\\\\":\\\\\\"fail\\\\\\",\\\\\\"summary\\\\\\":\\\\\\"no app\\\\\\"}","retry_delay":0}',
      })
      expect(rule.data).toMatchObject({ status: 'on', events: ['test_failure'], to: 'stable' })
      expect((await client.call('run_verification')).data).toMatchObject({ pending: false, status: 'pass' })
      await client.call('execute_sandbox_command', { cmd: ['rm', 'app.py'] })
      const failed = await client.call('run_verification')
      expect(failed).toMatchObject({
        isError: true,
        data: { status: 'fail', verdict: 'no app', auto_rollback: { to: 'stable', event: 'test_failure' }, epoch: 1 },
      })
      // Its answer told of the rollback: the next call is no surprise.
      const after = await client.call('execute_sandbox_command', { cmd: 'cat app.py' })
      expect(after).toMatchObject({ isError: false, data: { stdout: 'print("fine")\n' } })
      const { data } = await client.call('get_ledger_history', { type: 'rollback' })
      expect(data).toMatchObject({
        count: 1,
        entries: [{ event_type: 'rollback', resolution: 'rollback', decided_by: 'rule' }],
      })
      const points = await client.call('sandbox_checkpoint_list')
      expect(points.data.checkpoints.map(({ label }: { label: string }) => label)).toEqual([
        'stable',
        expect.stringMatching(/^auto_\d{4}_execute_sandbox_command$/),
      ])
    })
  })
})
