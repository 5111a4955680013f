/** Clients that lie, flood, break off and come back, and what the host makes of them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root, TestHost } from './host.ts'
import { connect, type ToolClient, type Way, ways } from './mcp-clients.ts'
import { suiteNeeding } from './needs.ts'

const MB = 1 << 20

suiteNeeding(['local'], 'agents that misbehave', () => {
  let host: TestHost
  let project: string
  const clients: ToolClient[] = []
  const children: ChildProcess[] = []

  beforeEach(async () => {
    host = await TestHost.begin()
    project = host.folder('project')
    writeFileSync(join(project, 'app.py'), 'print("fine")\n')
    await host.json('allow', project)
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await Promise.allSettled(clients.splice(0).map((client) => client.close()))
    await host?.end()
  })

  async function atWork(way: Way, options: Parameters<typeof connect>[2] = {}, name = 'work'): Promise<ToolClient> {
    const client = await connect(way, host, options)
    clients.push(client)
    let begun = await client.call('init_sandbox', { path: project, container_name: name })
    // One that waits a second at most may have to come back for it.
    while (begun.data?.pending) begun = await client.call('get_command', { id: begun.data.id })
    expect(begun.isError, begun.text).toBe(false)
    return client
  }

  const commands = () => host.ask((rpc) => rpc.commands.list({ session: 'work' }))
  const statuses = async () => (await commands()).map(({ status }) => status)
  /** What the only command has written by now. */
  const said = async () => {
    const [command] = await commands()
    if (command === undefined) return null
    const { id } = command
    const part = { session: 'work', id, stream: 'stdout' as const, offset: 0, limit: 100 }
    return Buffer.from((await host.ask((rpc) => rpc.commands.output(part))).bytes, 'base64').toString()
  }

  describe('over HTTP', () => {
    interface Asked {
      method?: string
      headers?: Record<string, string>
      body?: string | Buffer
      token?: string | null
    }

    /** One request as it is, without a client that would put it right. */
    let door: { url: string; token: string }
    beforeEach(async () => {
      door = await host.json('token')
    })

    async function ask({ method = 'POST', headers = {}, body = '', token }: Asked) {
      const shown = token === undefined ? door.token : token
      const sent = request(door.url, {
        method,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(shown === null ? {} : { authorization: `Bearer ${shown}` }),
          ...headers,
        },
      })
      // Whoever is refused may find the connection cut; that is met below.
      sent.on('error', () => {})
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
      let text = ''
      for await (const part of answer.setEncoding('utf8')) text += part
      return { status: answer.statusCode, headers: answer.headers, text }
    }

    const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const HELLO = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    })

    test('nobody comes in without the token, nor with one that was renewed', async () => {
      const old = (await host.json<{ token: string }>('token')).token
      for (const token of [null, '', 'wrong', `${old}x`]) {
        const refused = await ask({ body: HELLO, token })
        expect(refused.status).toBe(401)
        expect(refused.headers['www-authenticate']).toBe('Bearer')
      }
      expect((await ask({ body: HELLO })).status).toBe(200)
      door = await host.json('token', '--renew')
      expect((await ask({ body: HELLO, token: old })).status).toBe(401)
      expect((await ask({ body: HELLO })).status).toBe(200)
    })

    test('a browser that a person signed in is no agent', async () => {
      const [url = '', code = ''] = (await host.browserUrl()).split('/#code=')
      const signedIn = await fetch(`${url}/auth`, {
        method: 'POST',
        headers: { origin: url },
        body: JSON.stringify({ code }),
      })
      const { key } = (await signedIn.json()) as { key: string }
      expect(key).not.toBe('')
      expect((await ask({ body: HELLO, token: key, headers: { origin: url } })).status).toBe(401)
    })

    test.each([
      ['a forged Host', { host: 'evil.example' }],
      ['a page from elsewhere', { origin: 'https://evil.example' }],
      ['a page without an origin', { origin: 'null' }],
    ])('%s is turned away, token or not', async (_what, headers) => {
      expect((await ask({ body: HELLO, headers })).status).toBe(403)
    })

    test.each([
      ['no JSON', '{"jsonrpc": "2.0", "id": 1', 400],
      ['nothing', '', 400],
      ['no JSON-RPC', '{"hello": "there"}', 400],
      ['a number', '7', 400],
      ['a call before the handshake', LIST, 400],
    ])('%s is answered as such, and the host goes on', async (_what, body, status) => {
      const answer = await ask({ body })
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
      expect((await ask({ body: HELLO })).status).toBe(200)
    })

    test('a session of the transport that nobody gave out does not exist', async () => {
      for (const method of ['POST', 'GET', 'DELETE'])
        expect(
          (await ask({ method, body: method === 'POST' ? LIST : '', headers: { 'mcp-session-id': 'guess' } })).status,
        ).toBe(404)
    })

    test('a request that is too large is refused before it is read', async () => {
      const answer = await ask({ body: Buffer.alloc(100 * MB, ' ') }).catch((error: Error) => error)
      // The connection may be cut while it is still being sent.
      if (answer instanceof Error) expect(answer.message).toMatch(/EPIPE|ECONNRESET|socket hang up/)
      else expect(answer.status).toBe(413)
      expect((await ask({ body: HELLO })).status).toBe(200)
    })

    test('a flood of handshakes costs no client its work', async () => {
      const client = await atWork('2026-07-28 over HTTP')
      for (let round = 0; round < 10; round++)
        expect(
          new Set(
            (await Promise.all(Array.from({ length: 60 }, () => ask({ body: HELLO })))).map(({ status }) => status),
          ),
        ).toEqual(new Set([200]))
      expect((await client.call('read_sandbox_file', { path: 'app.py' })).isError).toBe(false)
    })

    test('after a restart of the host a client begins anew, and its sandbox goes on', async () => {
      const before = await atWork('2025 over HTTP')
      await before.call('write_sandbox_file', { path: 'kept.txt', content: 'still here' })
      await host.kill()
      await host.start()
      // Another test's host may have taken the port meanwhile: that one knows nobody.
      const refused = /Session not found|404|token is missing or wrong/
      await expect(before.call('read_sandbox_file', { path: 'kept.txt' })).rejects.toThrow(refused)
      const after = await connect('2025 over HTTP', host)
      clients.push(after)
      expect((await after.call('read_sandbox_file', { path: 'kept.txt' })).data.content).toBe('still here')
    })
  })

  describe('over stdin', () => {
    function raw(...args: string[]) {
      const child = spawn(join(root, 'bin/rewind'), ['mcp', ...args], {
        env: host.env,
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      children.push(child)
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      return {
        child,
        say: (line: string) => child.stdin.write(`${line}\n`),
        hear: async () =>
          JSON.parse((await answers.next()).value as string) as { id?: unknown; error?: unknown; result?: unknown },
      }
    }
    const HELLO = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    }

    test('lines that are no messages cost nothing but themselves', async () => {
      const agent = raw()
      agent.say('this is not JSON')
      agent.say('{"jsonrpc": "2.0"}')
      agent.say('')
      agent.say(JSON.stringify(HELLO))
      let answer = await agent.hear()
      while (answer.id !== 1) answer = await agent.hear()
      expect(answer.result).toMatchObject({ serverInfo: { name: 'rewind' } })
    })

    test('it ends when its client hangs up, and the command that was waited for with it', async () => {
      await atWork('2025 over stdin')
      const agent = raw('--session', 'work')
      agent.say(JSON.stringify(HELLO))
      await agent.hear()
      agent.say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
      agent.say(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name: 'execute_sandbox_command', arguments: { cmd: 'sleep 600' } },
        }),
      )
      await expect.poll(statuses).toEqual(['running'])
      agent.child.stdin.end()
      expect((await once(agent.child, 'exit'))[0]).toBe(0)
      await expect.poll(statuses).toEqual(['cancelled'])
    })

    test('one that is killed leaves its command running, to be found again', async () => {
      const first = await atWork('2025 over stdin')
      const agent = raw('--session', 'work')
      agent.say(JSON.stringify(HELLO))
      await agent.hear()
      agent.say(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name: 'execute_sandbox_command', arguments: { cmd: 'sleep 2; echo over' } },
        }),
      )
      await expect.poll(statuses).toEqual(['running'])
      agent.child.kill('SIGKILL')
      const { data } = await first.call('get_sandbox_status')
      expect(data.running).toEqual([{ id: expect.any(String), command: 'sleep 2; echo over' }])
      const found = await first.call('get_command', { id: data.running[0].id })
      expect(found.data).toMatchObject({ status: 'exited', stdout: 'over\n' })
      const calls = await host.ask((rpc) => rpc.tools.list({ session: 'work' }))
      expect(calls.find(({ client }) => client === 'raw 1')).toMatchObject({ status: 'lost', result: null })
    })

    test.each(['2025 over stdin', '2026-07-28 over stdin'] as const)(
      'a host that dies in mid-call: %s',
      async (way) => {
        const client = await atWork(way)
        const call = client.call('execute_sandbox_command', { cmd: 'echo begun; sleep 3; echo over' })
        // Noted down it is before it runs; a host that dies in between has started nothing.
        await expect.poll(said).toBe('begun\n')
        await host.kill()
        await host.start()
        expect(await call).toMatchObject({ isError: false, data: { code: 0, stdout: 'begun\nover\n' } })
        expect((await client.call('read_sandbox_file', { path: 'app.py' })).isError).toBe(false)
      },
    )

    test('what takes longer than the client waits goes on, and is continued', async () => {
      const client = await atWork('2025 over stdin', { args: ['--wait', '1'] })
      const begun = await client.call('execute_sandbox_command', { cmd: 'echo begun; sleep 2.5; echo over' })
      expect(begun).toMatchObject({
        isError: false,
        data: { pending: true, status: 'running', code: null, stdout: 'begun\n' },
      })
      let { data } = begun
      let told = data.stdout
      while (data.pending) {
        data = (await client.call('get_command', { id: data.id, offset: data.next_offset })).data
        told += data.stdout
      }
      expect(data).toMatchObject({ status: 'exited', code: 0 })
      expect(told).toBe('begun\nover\n')

      await client.call('configure_auto_rollback', {
        events: ['test_failure'],
        verifier: { command: 'sleep 2; echo \'{"status":"pass","summary":"all well"}\'' },
      })
      const judging = await client.call('run_verification')
      expect(judging.data).toMatchObject({ pending: true, id: expect.any(String) })
      let judged = judging.data
      while (judged.pending) judged = (await client.call('get_command', { id: judged.id })).data
      expect(judged.result).toMatchObject({ status: 'pass', verdict: 'all well' })
    })

    test('a command that is not waited for any more is stopped by hand', async () => {
      const client = await atWork('2025 over stdin', { args: ['--wait', '1'] })
      const { data } = await client.call('execute_sandbox_command', { cmd: 'sleep 600' })
      expect(data.pending).toBe(true)
      const stopped = await client.call('stop_command', { id: data.id })
      expect(stopped).toMatchObject({ isError: false, data: { status: 'cancelled', pending: false } })
      expect((await client.call('stop_command', { id: 'nobody' })).text).toMatch(/^FILE_NOT_FOUND/)
    })
  })

  describe.each(ways)('%s', (way) => {
    test('50 MB in one argument arrive whole, and others are answered meanwhile', async () => {
      const client = await atWork(way)
      const content = 'x'.repeat(50 * MB)
      const writing = client.call('write_sandbox_file', { path: 'large.txt', content })
      const beside = await host.ask((rpc) => rpc.sessions.list())
      expect(beside).toHaveLength(1)
      expect((await writing).data).toMatchObject({ status: 'written', bytes: 50 * MB })
      const size = await client.call('execute_sandbox_command', { cmd: 'wc -c < large.txt' })
      expect(size.data.stdout.trim()).toBe(String(50 * MB))
      const read = await client.call('read_sandbox_file', { path: 'large.txt' })
      expect(read.text).toMatch(/^INVALID_OPTION.*more than one answer holds[\s\S]*sed -n/)
    })

    test('200 MB of output are kept, and told in parts', async () => {
      const client = await atWork(way)
      const loud = await client.call('execute_sandbox_command', {
        cmd: 'head -c 200000000 /dev/zero | tr "\\0" x; echo; echo end',
      })
      expect(loud.isError, loud.text.slice(0, 500)).toBe(false)
      expect(loud.text.length).toBeLessThan(100_000)
      expect(loud.data.stdout).toMatch(/x\nend\n$/)
      const middle = await client.call('get_command', { id: loud.data.id, offset: 100_000_000 })
      expect(middle.data).toMatchObject({ stdout_offset: 100_000_000, next_offset: 100_030_000, more: true })
    })

    test('a call that is sent twice under one name is one call', async () => {
      const client = await atWork(way)
      const args = { cmd: 'echo once >> log; sleep 1; cat log' }
      const twice = await Promise.all([
        client.call('execute_sandbox_command', args, { key: 'k1' }),
        client.call('execute_sandbox_command', args, { key: 'k1' }),
      ])
      const again = await client.call('execute_sandbox_command', args, { key: 'k1' })
      for (const { data } of [...twice, again]) expect(data.stdout).toBe('once\n')
      const other = await client.call('execute_sandbox_command', args, { key: 'k2' })
      expect(other.data.stdout).toBe('once\nonce\n')
    })

    test('many calls at once are each answered with their own', async () => {
      const client = await atWork(way)
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => client.call('execute_sandbox_command', { cmd: `echo ${n}` })),
      )
      expect(answers.map(({ data }) => data.stdout)).toEqual(Array.from({ length: 40 }, (_, n) => `${n}\n`))
    })

    test('it decides nothing on a session that waits for a person', async () => {
      const client = await atWork(way)
      await client.call('create_sandbox_checkpoint', { name: 'good' })
      await client.call('configure_auto_rollback', {
        events: ['test_failure'],
        verifier: { command: 'true', retries: 0 },
      })
      expect((await client.call('run_verification')).text).toMatch(/^VERIFICATION_HALT/)
      for (const [tool, args] of [
        ['rollback_sandbox_state', { name: 'good' }],
        ['sandbox_rewind', {}],
        ['destroy_sandbox', {}],
        ['execute_sandbox_command', { cmd: 'true' }],
        ['write_sandbox_file', { path: 'x', content: '' }],
        ['init_sandbox', { path: project, container_name: 'work', force: true }],
      ] as const)
        expect((await client.call(tool, args)).text, tool).toMatch(/^SESSION_HALTED/)
      expect((await client.call('read_sandbox_file', { path: 'app.py' })).text).toMatch(/^SESSION_HALTED|"content"/)
      expect((await client.call('get_sandbox_status')).data.status).toBe('halted')
    })

    test('arguments of the wrong kind are named', async () => {
      const client = await atWork(way)
      for (const [tool, args, said] of [
        ['execute_sandbox_command', { cmd: 7 }, 'cmd'],
        ['execute_sandbox_command', { cmd: 'true', timeout: -1 }, 'timeout'],
        ['sync_agent_memory', { messages_json: '{"role"' }, 'messages_json is not JSON'],
        ['sync_agent_memory', { messages_json: '{"role":"user"}' }, 'not a list'],
        ['sync_agent_memory', { messages: [{ content: 'x' }] }, 'messages[0] has no role'],
        ['write_sandbox_file', { path: 'x', content: '%%%', encoding: 'base64' }, 'not base64'],
        ['write_sandbox_file', { path: '../x', content: '' }, 'INVALID_PATH'],
        ['create_sandbox_checkpoint', { name: 'latest' }, 'cannot be "latest"'],
        ['get_command', { id: '../../etc' }, 'no command id'],
        ['init_sandbox', { path: project, container_name: 'a/b' }, 'session name'],
      ] as const) {
        const { isError, text } = await client.call(tool, args)
        expect(isError, tool).toBe(true)
        expect(text).toContain(said)
      }
      expect((await client.call('get_agent_memory')).data.message_count).toBe(0)
    })
  })
})
