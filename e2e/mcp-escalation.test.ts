/** Verdicts that nobody can give, from an agent's side: it hears that a person is asked and what they decide, no more. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectHost, type HostClient } from '../src-main/serve/client/index.ts'
import { TestHost } from './host.ts'
import { connect, type ToolClient, type Way, ways } from './mcp-clients.ts'
import { suiteNeeding } from './needs.ts'

suiteNeeding(['local'], 'escalations over MCP', () => {
  let host: TestHost
  let person: HostClient
  let client: ToolClient

  beforeEach(async () => {
    host = await TestHost.begin()
  })
  afterEach(async () => {
    await client?.close()
    person?.close()
    await host?.end()
  })

  /** Also for a client that does not wait long. */
  async function begin(project: string): Promise<void> {
    let { data, text } = await client.call('init_sandbox', { path: project, container_name: 'work' })
    while (data?.pending) ({ data, text } = await client.call('get_command', { id: data.id }))
    if (!data) throw new Error(text)
  }

  /** An agent whose verifier cannot decide. */
  async function undecided(options: Parameters<typeof connect>[2], way: Way) {
    const project = host.folder('project')
    await host.json('allow', project)
    client = await connect(way, host, options)
    await begin(project)
    await client.call('write_sandbox_file', { path: 'a', content: 'good' })
    await client.call('create_sandbox_checkpoint', { name: 'stable' })
    await client.call('write_sandbox_file', { path: 'a', content: 'bad' })
    await client.call('configure_auto_rollback', {
      events: ['test_failure'],
      to: 'stable',
      verifier: { command: 'echo nonsense; echo ran >> runs', retries: 0 },
    })
  }

  describe.each(['2025 over stdin', '2026-07-28 over stdin'] as const)('elicitation, %s', (way) => {
    test('where a person switched it on they are asked through the client, and the verifier runs once', async () => {
      const asked: string[] = []
      const onQuestion = (message: string) => {
        asked.push(message)
        return { decision: 'continue' }
      }
      await undecided({ args: ['--elicit'], onQuestion }, way)
      expect(await client.call('run_verification')).toMatchObject({
        isError: true,
        data: { pending: false, status: 'unknown', resolution: 'continue' },
      })
      expect(asked).toEqual([expect.stringMatching(/session work could not decide in 1 attempt[\s\S]*echo nonsense/)])
      expect((await client.call('read_sandbox_file', { path: 'runs' })).data.content).toBe('ran\n')
      const { escalations } = await host.json<{ escalations: object[] }>('escalations', '--all')
      expect(escalations).toMatchObject([{ resolution: 'continue', via: 'elicitation', answered_by: 'you' }])
    })

    test('who declines, or answers nonsense, leaves it to others', async () => {
      let times = 0
      const onQuestion = () => (times++ === 0 ? null : { decision: 'perhaps' })
      await undecided({ args: ['--elicit', '--wait', '1'], onQuestion }, way)
      for (const resolution of ['continue', 'stop'] as const) {
        const { data, text } = await client.call('run_verification')
        expect(data, text).toMatchObject({ pending: true, continue_with: 'get_escalation' })
        await host.json('answer', data.id, resolution)
        expect((await client.call('get_escalation', { id: data.id })).data).toMatchObject({
          pending: false,
          resolution,
        })
      }
      expect(times).toBe(2)
    })

    test('not switched on, nobody is asked: it halts', async () => {
      let times = 0
      const onQuestion = () => {
        times++
        return { decision: 'continue' }
      }
      await undecided({ onQuestion }, way)
      expect((await client.call('run_verification')).text).toMatch(/^VERIFICATION_HALT/)
      expect(times).toBe(0)
    })
  })

  describe.each(ways)('%s', (way) => {
    test('the agent waits for what a person decides, and cannot decide itself', async () => {
      const project = host.folder('project')
      await host.json('allow', project)
      // Over HTTP a call waits its 50 seconds: there the person is quicker.
      const overHttp = way.endsWith('HTTP')
      client = await connect(way, host, overHttp ? {} : { args: ['--wait', '1'] })
      await begin(project)
      await client.call('write_sandbox_file', { path: 'a', content: 'good' })
      await client.call('create_sandbox_checkpoint', { name: 'stable' })
      await client.call('write_sandbox_file', { path: 'a', content: 'bad' })
      await client.call('configure_auto_rollback', {
        events: ['test_failure'],
        to: 'stable',
        verifier: { command: 'echo nonsense', retries: 0 },
      })
      person = await connectHost({ home: host.home, start: false })
      const waiting = await person.rpc.escalations.watch({ as: 'window' })
      await waiting.next()
      const judging = client.call('run_verification')
      const question = await (async () => {
        for await (const [first] of waiting) if (first) return first
        throw new Error('nobody was asked')
      })()
      expect(question).toMatchObject({ sessionName: 'work', evidence: { checkpoint: 'stable', attempts: 1 } })
      const { id } = question
      // What would answer it is a person's, too.
      for (const [tool, args] of [
        ['rollback_sandbox_state', { name: 'stable' }],
        ['destroy_sandbox', {}],
        ['init_sandbox', { path: project, container_name: 'work', force: true }],
      ] as const) {
        const refused = await client.call(tool, { ...args, ...(tool === 'init_sandbox' ? {} : { session: 'work' }) })
        expect(refused.text, tool).toMatch(/^DECLINED/)
      }
      if (!overHttp) {
        expect((await judging).data).toMatchObject({ pending: true, id, continue_with: 'get_escalation' })
        expect((await client.call('get_escalation', { id })).data).toMatchObject({
          id,
          pending: true,
          status: 'open',
          resolution: null,
          verifier: 'echo nonsense',
          raw_output: 'nonsense\n',
          checkpoint: 'stable',
        })
      }
      await person.rpc.escalations.answer({ id, resolution: 'rollback', via: 'window', note: 'not this way' })
      if (overHttp)
        expect(await judging).toMatchObject({
          isError: true,
          data: { status: 'unknown', resolution: 'rollback', auto_rollback: { to: 'stable' }, epoch: 1 },
        })
      const told = await client.call('get_escalation', { id, session: 'work' })
      expect(told.data).toMatchObject({
        pending: false,
        resolution: 'rollback',
        answered_by: 'you',
        note: 'not this way',
      })
      // Whoever was not told by the call itself hears of the rewind now.
      if (!overHttp) expect(told.text).toMatch(/^\[REWIND\]/)
      expect((await client.call('read_sandbox_file', { path: 'a', session: 'work' })).data.content).toBe('good')
      expect((await client.call('get_escalation', { id: 'esc-nothing', session: 'work' })).text).toMatch(
        /^INVALID_OPTION: There is no escalation/,
      )
    })
  })
})
