/** Ports that a person opened outlive the host that opened them: the next one has them at the same numbers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { relaysOf } from '../../e2e/relays.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, freePort, type TestHome, testHome } from './testing.ts'

suiteNeeding(['local'], 'ports that were opened', () => {
  let place: TestHome
  let host: { manager: SessionManager; close(): Promise<void> } | null = null

  const nextHost = async (): Promise<Session> => {
    host = await place.open()
    const [{ id = '' } = {}] = host.manager.list()
    return host.manager.find(id)
  }
  const close = async (): Promise<void> => {
    await host?.close()
    host = null
  }
  afterEach(async () => {
    await close()
    await place.remove()
  })

  test('are open again at the next host, at the same numbers, until they are closed or the session ends', async () => {
    place = testHome()
    host = await place.open()
    const session = await withoutNetwork(host.manager, place.workspace)
    await serve(session, 18_131)
    const { url } = await session.openPort({ port: 18_131, at: null })
    const { at } = await session.openPort({ port: 18_132, at: await freePort() })
    await session.openPort({ port: 18_133, at: null })
    await session.closePort({ port: 18_133 })
    await expect.poll(() => answer(url), { timeout: 20_000 }).toBe('up')
    await close()
    expect(await answer(url)).toBe(null)

    // A host that is killed in the middle of its use.
    const script = `
      import { openSessions } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../store/index.ts'))}
      const home = ${JSON.stringify(place.home)}
      await openSessions({ home, store: openStore(home + '/store.db') })
      process.stdout.write(await (await fetch(${JSON.stringify(url)})).text())
      setInterval(() => {}, 1000)`
    const killed = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    expect(String((await once(killed.stdout, 'data'))[0])).toBe('up')
    const [relay = ''] = relaysOf(killed.pid)
    expect(relay).not.toBe('')
    killed.kill('SIGKILL')
    await once(killed, 'close')
    await expect.poll(() => lives(relay)).toBe(false)

    const taken = createServer().listen(at, '127.0.0.1')
    await once(taken, 'listening')
    const again = await nextHost()
    expect(await answer(url)).toBe('up')
    expect((await again.activity()).opened).toMatchObject([{ port: 18_131, url, listening: true }])
    expect(again.summary().notes.filter((note) => note.includes('18132'))).toEqual([
      `Port 18132 is no longer open to this machine: Port ${at} of this machine is taken. \`rewind ports --open 18132\` opens it again.`,
    ])
    // Opened and closed at once, in every order.
    await Promise.all(
      Array.from({ length: 16 }, async (_, ticks) => {
        const port = await freePort()
        const opening = again.openPort({ port, at: null })
        for (let tick = 0; tick < ticks; tick++) await null
        await again.closePort({ port })
        await opening
      }),
    )
    const open = again.openedPorts()
    await close()
    taken.close()

    const last = await nextHost()
    // What could not be reopened is told once.
    expect(last.openedPorts()).toEqual(open)
    expect(await last.closePort({ port: 18_131 })).toEqual({ closed: true })
    await last.openPort({ port: 18_132, at: null })
    await last.end()
    await close()
    const over = await nextHost()
    expect((await over.activity()).opened).toEqual([])
    expect(await answer(url)).toBe(null)
    expect(over.summary().notes.filter((note) => note.includes('Port '))).toHaveLength(1)
  })

  test('lead to the session alone where it has this machine’s network', async () => {
    place = testHome()
    host = await place.open()
    const session = await begin(host.manager, place.workspace)
    const other = createHttpServer((_, response) => response.end('another’s')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port: others } = other.address() as AddressInfo
    const [one, two, three] = [await freePort(), await freePort(), await freePort()]
    try {
      for (const port of [others, one])
        await expect(session.openPort({ port, at: null })).rejects.toThrow(
          `Nothing in the sandbox listens on port ${port}.`,
        )
      const led = await session.openPort({ port: others, at: three })
      expect(await answer(`http://127.0.0.1:${others}/`)).toBe('another’s')
      expect(await answer(led.url)).toBe(null)
      // Each would lead to the other for ever.
      const to = await session.openPort({ port: one, at: two })
      await session.openPort({ port: two, at: one })
      expect(await answer(to.url)).toBe(null)
    } finally {
      other.close()
    }
    await serve(session, 18_134)
    const opening = () => session.openPort({ port: 18_134, at: null }).catch(() => null)
    const url = 'http://localhost:18134/'
    await expect.poll(opening, { timeout: 20_000 }).toEqual({ port: 18_134, at: 18_134, url, shared: true })
    const elsewhere = await session.openPort({ port: 18_134, at: await freePort() })
    expect([await answer(url), await answer(elsewhere.url), elsewhere.shared]).toEqual(['up', 'up', false])
  })
})

const withoutNetwork = (manager: SessionManager, workspace: string) => begin(manager, workspace, 'test', false)

const serve = (session: Session, port: number) =>
  session.startCommand({
    id: `server-${port}`,
    command: `exec node -e "require('http').createServer((q, r) => r.end('up')).listen(${port}, '127.0.0.1')"`,
    cwd: null,
    env: {},
    stdin: null,
    timeoutMs: null,
    asTool: false,
    tool: null,
  })

/** null where nothing answers. */
const answer = async (url: string): Promise<string | null> =>
  fetch(url, { headers: { connection: 'close' } }).then(
    (found) => found.text(),
    () => null,
  )

/** One that has ended and was not waited for lives no more. */
function lives(pid: string): boolean {
  try {
    return !/^\S+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
