/** What lives in a sandbox, seen, held still and ended at the command line: a real host and real processes. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
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

  test('a port of a session with this machine’s network is reached as it is, and only where the session listens', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const others = String((other.address() as AddressInfo).port)
    const refused = await rewind('ports', '--open', others)
    other.close()
    const nothing = `Nothing in the sandbox listens on port ${others}.`
    expect(refused).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining(nothing) })
    const running = rewind('exec', 'python3 -m http.server 18125 --bind 127.0.0.1')
    const opening = async () => (await rewind('ports', '--open', '18125')).stdout
    await expect
      .poll(opening, { timeout: 20_000 })
      .toBe(
        "Port 18125 is reached at http://localhost:18125/: the sandbox has this machine's network, and nothing had to be opened\n",
      )
    expect((await rewind('ports', '--close', '18125')).stdout).toBe('Port 18125 was not opened\n')
    await rewind('stop', (await json<{ processes: { command_id: string }[] }>('ps')).processes[0]?.command_id ?? '')
    await running
  })

  test('a port of a session without a network is opened at this machine, and closed', async () => {
    await host.json('init', host.folder('closed'), '--session', 'closed', '--no-network')
    const inClosed = (...args: string[]) => host.cli('--session', 'closed', ...args)
    const listed = () => host.json<Listed>('--session', 'closed', 'ports')
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const used = String((taken.address() as { port: number }).port)
    try {
      expect((await inClosed('ports', '--open', '18124')).stdout).toMatch(/^Port 18124 is reached at http:/)
      expect((await inClosed('ports')).stdout).toMatch(/^18124 +- +- +http:\S+ +nothing listens$/m)
      void inClosed('exec', 'python3 -m http.server 18124 --bind 127.0.0.1')
      await expect.poll(async () => (await listed()).ports, { timeout: 20_000 }).toMatchObject([{ port: 18124 }])
      const { ports, opened } = await listed()
      const [{ url = '', at = 0 } = {}] = opened
      expect({ ports, opened }).toMatchObject({ ports: [{ url }], opened: [{ port: 18124, listening: true }] })
      expect((await fetch(url)).status).toBe(200)

      const elsewhere = await inClosed('ports', '--open', '18124', '--at', String(at + 1))
      expect(elsewhere).toMatchObject({ code: 64, stderr: expect.stringContaining(`is open already, at ${at}`) })
      const refused = await inClosed('ports', '--open', '18125', '--at', used)
      expect(refused).toMatchObject({
        code: 64,
        stderr: expect.stringContaining(`Port ${used} of this machine is taken`),
      })
      for (const wrong of [
        ['--open', '65536'],
        ['--close', '-1'],
        ['--at', '80'],
      ])
        expect(await inClosed('ports', ...wrong)).toMatchObject({ code: 64, stdout: '' })
      expect((await inClosed('ports', '--open', '1', '--close', '1')).code).toBe(64)

      expect(await inClosed('ports', '--close', '18124')).toMatchObject({ code: 0, stdout: 'Port 18124 is closed\n' })
      await expect(fetch(url)).rejects.toThrow()
      expect((await inClosed('ports', '--close', '18124')).stdout).toBe('Port 18124 was not opened\n')
      expect((await inClosed('ports')).stdout).toContain('inside only')

      // After a crash of the host it is open, and can be closed where the sandbox cannot be reached any more.
      const { url: kept } = await host.json<{ url: string }>('--session', 'closed', 'ports', '--open', '18124')
      const [{ id = '' } = {}] = (await host.ask((rpc) => rpc.sessions.list())).filter(({ name }) => name === 'closed')
      await host.kill()
      const spec = join(host.home, 'sandboxes', id, 'spec.json')
      const told = readFileSync(spec)
      writeFileSync(spec, 'no spec')
      await host.start()
      const unreached = await inClosed('ports')
      expect(unreached).toMatchObject({ code: 0, stderr: '' })
      expect(unreached.stdout).toMatch(/^18124 +- +- +http:\S+ +not known\nWhat listens is not known: /m)
      expect(unreached.stdout).toContain(kept)
      expect((await inClosed('ports', '--close', '18124')).stdout).toBe('Port 18124 is closed\n')
      expect((await inClosed('ports')).code).not.toBe(0)
      writeFileSync(spec, told)
      await expect.poll(async () => (await inClosed('ports')).code, { timeout: 20_000 }).toBe(0)

      // It goes with the session.
      const again = await host.json<{ url: string }>('--session', 'closed', 'ports', '--open', '18124')
      expect((await fetch(again.url)).status).toBe(200)
      await host.json('--session', 'closed', 'destroy', '-y')
      await expect(fetch(again.url)).rejects.toThrow()
    } finally {
      taken.close()
    }
  })
})

interface Listed {
  ports: { url: string | null }[]
  opened: { port: number; at: number; url: string; listening: boolean }[]
}
