import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HostBusyError, HostRunningError } from '../contract/index.ts'
import { connectHost, type HostClient } from './client/index.ts'
import type { Host } from './host.ts'
import { readHostFile } from './host-file.ts'
import { takeOver } from './take-over.ts'
import { FakeSessions, removeHome, startFakeHost, tempHome } from './test-support.ts'

let home: string
const hosts: Host[] = []
const clients: HostClient[] = []

beforeEach(() => {
  home = tempHome()
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  for (const host of hosts.splice(0)) await host.close()
  removeHome(home)
})

const start = async (...args: Parameters<typeof startFakeHost>): Promise<Host> => {
  const host = await startFakeHost(...args)
  hosts.push(host)
  return host
}

const client = async (): Promise<HostClient> => {
  const connected = await connectHost({ home, start: false })
  clients.push(connected)
  return connected
}

describe('a host', () => {
  test('says where it is, to its owner alone', async () => {
    const host = await start(home)
    const { url } = host.info()
    expect(readHostFile(home)).toMatchObject({
      pid: process.pid,
      kind: 'headless',
      version: '0.1.0',
      mcp: `${url}/mcp`,
    })
    expect(readHostFile(home)?.token).toMatch(/^[\w-]{43}$/)
    expect(statSync(join(home, 'host.json')).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'rewind.sock')).mode & 0o777).toBe(0o600)
  })

  test('answers on its socket', async () => {
    const { pid, home: theirs, idle } = await start(home).then(async () => (await client()).rpc.host.info())
    expect({ pid, theirs, idle }).toEqual({ pid: process.pid, theirs: home, idle: true })
  })

  test('leaves nothing behind when it closes, and lets go of the sessions', async () => {
    const sessions = new FakeSessions()
    const host = await start(home, sessions)
    const socket = host.info()
    await host.close()
    expect(await host.closed).toBe('closed')
    expect(sessions.closed).toBe(1)
    expect(existsSync(join(home, 'host.json'))).toBe(false)
    expect(existsSync(join(home, 'rewind.sock'))).toBe(false)
    await expect(fetch(socket.url ?? '')).rejects.toThrow()
    await start(home)
  })

  test('is the only one: a second one is told the pid, and the first goes on', async () => {
    await start(home)
    await expect(startFakeHost(home)).rejects.toMatchObject({ code: 'HOST_RUNNING', data: { pid: process.pid } })
    expect((await (await client()).rpc.host.info()).pid).toBe(process.pid)
  })

  test('of two that start at the same moment exactly one wins', async () => {
    const outcomes = await Promise.allSettled([start(home), start(home), start(home)])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(HostRunningError)
  })

  test('replaces the host.json and the socket that a killed one left', async () => {
    writeFileSync(join(home, 'host.json'), '{"pid": 1, "socket": "/nowhere"}')
    writeFileSync(join(home, 'rewind.sock'), '')
    await start(home)
    expect((await (await client()).rpc.host.info()).pid).toBe(process.pid)
  })

  test('whose start fails midway leaves the data folder free', async () => {
    const { startHostWith } = await import('./host.ts')
    const broken = startHostWith(() => Promise.reject(new Error('no sessions today')), {
      home,
      kind: 'headless',
      version: '1',
    })
    await expect(broken).rejects.toThrow('no sessions today')
    expect(readHostFile(home)).toBeNull()
    await start(home)
  })

  test('with a data folder whose path is too long for a socket has it elsewhere, and is found', async () => {
    const long = join(home, 'x'.repeat(120), 'with a blank: and colon')
    const host = await start(long)
    const socket = readHostFile(host.home)?.socket ?? ''
    expect(socket.startsWith(long)).toBe(false)
    expect(statSync(join(socket, '..')).mode & 0o777).toBe(0o700)
    const connected = await connectHost({ home: long, start: false })
    clients.push(connected)
    expect((await connected.rpc.host.info()).home).toBe(long)
    await host.close()
    expect(existsSync(join(socket, '..'))).toBe(false)
  })
})

describe('its port', () => {
  const portOf = (host: Host) => Number(new URL(host.info().url ?? '').port)
  let other: Server | undefined
  afterEach(() => other?.close())

  test('stays the same for a data folder, also when somebody else sat on it meanwhile', async () => {
    const first = await start(home)
    const port = portOf(first)
    await first.close()
    other = createServer().listen(port, '127.0.0.1')
    await new Promise((resolve) => other?.once('listening', resolve))
    const second = await start(home)
    expect(portOf(second)).not.toBe(port)
    await second.close()
    await new Promise((resolve) => other?.close(resolve))
    expect(portOf(await start(home))).toBe(port)
  })

  test('that was asked for once is not kept', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => free.once('listening', resolve))
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const asked = await start(home, undefined, { port })
    expect(portOf(asked)).toBe(port)
    await asked.close()
    expect(portOf(await start(home))).not.toBe(port)
  })

  test('that is insisted on and taken is an error', async () => {
    other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other?.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await expect(start(home, undefined, { port })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('making way', () => {
  test('an idle host hands over', async () => {
    const old = await start(home)
    const host = await takeOver(home, () => start(home))
    expect(await old.closed).toBe('handed-over')
    expect(host.info().pid).toBe(process.pid)
  })

  test('one at work does not', async () => {
    const sessions = new FakeSessions()
    sessions.busy = true
    const old = await start(home, sessions)
    await expect(takeOver(home, () => start(home))).rejects.toBeInstanceOf(HostBusyError)
    await expect((await client()).rpc.host.handOver({ force: true })).resolves.toEqual({ ok: true })
    expect(await old.closed).toBe('handed-over')
  })

  test('the app does not', async () => {
    await start(home, undefined, { kind: 'app' })
    await expect((await client()).rpc.host.handOver({ force: true })).rejects.toBeInstanceOf(HostBusyError)
  })
})

describe('a headless host', () => {
  test('ends when it has been quiet long enough', async () => {
    const host = await start(home, undefined, { idleMs: 100 })
    expect(await host.closed).toBe('idle')
  })

  test.each<[string, (sessions: FakeSessions) => void]>([
    ['a process lives', (sessions) => (sessions.processes = 1)],
    ['something runs', (sessions) => (sessions.busy = true)],
  ])('stays while %s', async (_title, occupy) => {
    const sessions = new FakeSessions()
    occupy(sessions)
    const host = await start(home, sessions, { idleMs: 60 })
    const first = await Promise.race([host.closed, new Promise((resolve) => setTimeout(() => resolve('alive'), 400))])
    expect(first).toBe('alive')
    sessions.processes = 0
    sessions.busy = false
    expect(await host.closed).toBe('idle')
  })

  test('stays while a client is there', async () => {
    const host = await start(home, undefined, { idleMs: 150 })
    const connected = await client()
    await connected.rpc.host.info()
    const first = await Promise.race([host.closed, new Promise((resolve) => setTimeout(() => resolve('alive'), 500))])
    expect(first).toBe('alive')
    connected.close()
    expect(await host.closed).toBe('idle')
  })

  test('does not outlive its data folder', async () => {
    const sessions = new FakeSessions()
    sessions.processes = 1
    const host = await start(home, sessions, { idleMs: 80 })
    removeHome(home)
    expect(await host.closed).toBe('idle')
  })
})

describe('a slow reader', () => {
  test('makes the stream wait instead of filling the memory', async () => {
    const sessions = new FakeSessions()
    let sent = 0
    const text = 'x'.repeat(100_000)
    sessions.events = async function* () {
      for (;;) yield { id: ++sent, at: new Date(), session: 's', type: 'demoStep', step: 1, of: 1, text }
    }
    await start(home, sessions)
    const socket = connect(join(home, 'rewind.sock'))
    socket.on('error', () => {})
    const request = JSON.stringify({ i: '1', p: { u: '/events', b: { json: { since: null } } } })
    const frame = Buffer.alloc(6 + request.length)
    frame.set([0x81, 0x80 | request.length])
    frame.write(request, 6)
    socket.write(
      'GET /rpc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cmV3aW5kLWxvY2FsLWxpbg==\r\n\r\n',
    )
    await new Promise((resolve) => socket.once('data', resolve))
    socket.write(frame)
    socket.pause()
    await expect.poll(() => sent).toBeGreaterThan(5)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const before = sent
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sent).toBe(before)
    expect(sent * text.length).toBeLessThan(10_000_000)
    // It reads again, and the stream goes on.
    socket.on('data', () => {})
    socket.resume()
    await expect.poll(() => sent).toBeGreaterThan(before + 100)
    socket.destroy()
  })
})

test('host.json never holds half a file: it is replaced in one step', async () => {
  const host = await start(home)
  const text = readFileSync(join(home, 'host.json'), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ url: host.info().url })
})
