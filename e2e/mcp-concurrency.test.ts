/** Several agents at once: on one session, on sessions of their own, on one workspace. Nothing is lost, and nothing mixed up. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestHost } from './host.ts'
import { connect, type ToolClient, ways } from './mcp-clients.ts'
import { suiteNeeding } from './needs.ts'

const ROUNDS = 5

suiteNeeding(['local'], 'agents at once', () => {
  let host: TestHost
  const clients: ToolClient[] = []

  beforeEach(async () => {
    host = await TestHost.begin()
  })
  afterEach(async () => {
    await Promise.allSettled(clients.splice(0).map((client) => client.close()))
    await host?.end()
  })

  async function agent(n: number): Promise<ToolClient> {
    const way = ways[n % ways.length] ?? ways[0]
    const client = await connect(way, host, { name: `agent ${n}` })
    clients.push(client)
    return client
  }

  async function project(name: string): Promise<string> {
    const folder = host.folder(name)
    writeFileSync(join(folder, 'app.py'), 'print("fine")\n')
    await host.json('allow', folder)
    return folder
  }

  const data = async (answer: ReturnType<ToolClient['call']>) => {
    const { isError, text, data } = await answer
    expect(isError, text).toBe(false)
    return data
  }

  test('four clients on one session', async () => {
    const folder = await project('shared')
    const four = await Promise.all([0, 1, 2, 3].map(agent))
    const begun = await Promise.all(
      four.map((client) => data(client.call('init_sandbox', { path: folder, container_name: 'shared' }))),
    )
    expect(new Set(begun.map(({ session }) => session)).size).toBe(1)
    expect(begun.filter(({ attached }) => !attached)).toHaveLength(1)

    await Promise.all(
      four.map(async (client, n) => {
        for (let round = 0; round < ROUNDS; round++) {
          const session = 'shared'
          const path = `by-${n}/${round}.txt`
          await data(client.call('write_sandbox_file', { session, path, content: `${n} ${round}` }))
          const seen = await data(client.call('execute_sandbox_command', { session, cmd: `cat ${path}; echo " ${n}"` }))
          expect(seen.stdout).toBe(`${n} ${round} ${n}\n`)
          const saved = await data(client.call('create_sandbox_checkpoint', { session, name: `${n}-${round}` }))
          expect(saved.checkpoint).toBe(`${n}-${round}`)
        }
      }),
    )

    const points = await data((four[0] as ToolClient).call('sandbox_checkpoint_list', { session: 'shared' }))
    expect(points.count).toBe(4 * ROUNDS)
    // Each point holds all that its client had written before it, and nothing that it wrote later.
    for (let n = 0; n < 4; n++)
      for (let round = 0; round < ROUNDS; round++)
        for (const other of [round, round + 1]) {
          const at = { session: 'shared', at: `${n}-${round}`, path: `by-${n}/${other}.txt` }
          const read = await (four[n] as ToolClient).call('read_sandbox_file', at)
          if (other === round) expect(read.data.content).toBe(`${n} ${round}`)
          else expect(read.text).toMatch(/^FILE_NOT_FOUND/)
        }

    // One goes back: it knows, the others are told, each once.
    const [first, ...others] = four as [ToolClient, ...ToolClient[]]
    await data(first.call('rollback_sandbox_state', { session: 'shared', name: '0-0' }))
    expect((await first.call('get_sandbox_status', { session: 'shared' })).text).not.toContain('[REWIND]')
    for (const other of others) {
      expect((await other.call('get_sandbox_status', { session: 'shared' })).text).toMatch(
        /^\[REWIND\][^.]*\.\nAnother agent/,
      )
      expect((await other.call('get_sandbox_status', { session: 'shared' })).text).not.toContain('[REWIND]')
    }
  })

  test('eight sessions at once, two of them on one workspace', async () => {
    const folders = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((n) => project(`p${n}`)))
    folders.push(folders[6] as string)
    const eight = await Promise.all(folders.map((_, n) => agent(n)))
    await Promise.all(
      eight.map(async (client, n) => {
        const session = `s${n}`
        await data(client.call('init_sandbox', { path: folders[n] as string, container_name: session }))
        const messages = [{ role: 'user', content: `I am ${n}` }]
        await data(client.call('create_sandbox_checkpoint', { session, name: 'start', messages }))
        await data(client.call('execute_sandbox_command', { session, cmd: `echo ${n} > who.txt && rm app.py` }))
        const back = await data(client.call('rollback_sandbox_state', { session, name: 'start' }))
        expect(back.messages[0]).toEqual(messages[0])
        await data(client.call('write_sandbox_file', { session, path: 'who.txt', content: `still ${n}` }))
        const files = await data(client.call('execute_sandbox_command', { session, cmd: 'cat who.txt app.py' }))
        expect(files.stdout).toBe(`still ${n}print("fine")\n`)
        const memory = await data(client.call('get_agent_memory', { session }))
        expect(memory).toMatchObject({ message_count: 2, problems: [] })
      }),
    )
    // Without saying which, nobody is guessed.
    const unclear = await (eight[1] as ToolClient).call('get_sandbox_status')
    expect(unclear.text).toContain('Several sessions are live')
  })
})
