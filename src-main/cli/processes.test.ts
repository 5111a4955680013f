/** What lives in a sandbox, seen, held still and ended at the command line: a real host and real processes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestHost } from '../../e2e/host.ts'
import { suiteNeeding } from '../../e2e/needs.ts'

suiteNeeding(['local'], 'rewind ps, ports, stop and pause', () => {
  let host: TestHost
  const rewind = (...args: string[]) => host.cli('--session', 's', ...args)
  const json = <T>(...args: string[]) => host.json<T>('--session', 's', ...args)

  beforeAll(async () => {
    host = await TestHost.begin()
    await host.json('init', host.folder('project'), '--session', 's')
  })
  afterAll(() => host?.end())

  test('an idle sandbox has nothing to show', async () => {
    expect(await rewind('ps')).toEqual({ code: 0, stdout: 'Nothing runs.\n', stderr: '' })
    expect(await rewind('ports')).toEqual({ code: 0, stdout: 'Nothing listens.\n', stderr: '' })
    const none = await rewind('stop', 'no-such-command')
    expect(none).toMatchObject({ code: 5, stderr: expect.stringContaining('no-such-command') })
  })

  test('a server is named with its command and its port, stands still while paused, and is ended', async () => {
    const serve = 'python3 -m http.server 18123 --bind 127.0.0.1'
    const running = rewind('exec', serve)
    const portsNow = async () => (await json<{ ports: object[] }>('ports')).ports
    await expect.poll(portsNow, { timeout: 20_000 }).toMatchObject([{ port: 18123, address: '127.0.0.1' }])
    const { processes } = await json<{ processes: { command: string; command_id: string | null }[] }>('ps')
    const server = processes.find(({ command }) => command.includes('http.server'))
    const id = server?.command_id ?? ''
    expect(id).not.toBe('')
    expect((await rewind('ps')).stdout).toMatch(/^PID +STARTED +CPU +MEMORY +COMMAND ID +PROCESS\n/)
    expect((await rewind('ports')).stdout).toContain('18123')

    expect(await rewind('pause')).toMatchObject({ code: 0, stdout: 's is paused; `rewind unpause` has it go on\n' })
    expect(await rewind('exec', 'true')).toMatchObject({ code: 6, stderr: expect.stringContaining('paused') })
    // A second time changes nothing.
    expect((await rewind('pause')).code).toBe(0)
    expect(await rewind('unpause')).toMatchObject({ code: 0, stdout: 's goes on\n' })
    expect((await rewind('exec', 'true')).code).toBe(0)

    expect(await rewind('stop', id)).toMatchObject({ code: 0, stdout: `${id} cancelled\n` })
    expect((await running).code).not.toBe(0)
    expect(await portsNow()).toEqual([])
  })
})
