/** The relay as a process of this machine's own network: what listens there stands for what listens in a sandbox. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { relaysOf } from '../../../e2e/relays.ts'
import { EngineUnavailableError } from '../../contract/errors.ts'
import { startRelay } from './child.ts'
import { Decoder, encode, type Frame, LONGEST, numberBytes } from './frames.ts'
import { join as joinConnections } from './join.ts'
import { Relay, relayProgram } from './relay.ts'
import { NotConnected, Tunnel, TunnelLost } from './tunnel.ts'

const WORDS = [process.execPath, relayProgram()]
/** A descriptor that a host was given; Node itself sees to the first sixteen. */
const GIVEN = 99
const closing: (() => unknown)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function echo(): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).pipe(socket))
  closing.push(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

/** Where a link of /proc leads; nowhere where it is gone by now. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

const broken = (connection: Duplex): Promise<Error> =>
  new Promise((resolve) => connection.resume().once('error', resolve))

describe('frames', () => {
  test('are taken apart however the stream was cut', () => {
    const bytes = Buffer.concat([
      encode('open', 1, Buffer.from([0, 0, 1, 2])),
      encode('data', 4_000_000_000, Buffer.alloc(2_000, 7)),
      encode('end', 0),
    ])
    for (const size of [1, 8, 9, 10, 1000, bytes.length]) {
      const found: Frame[] = []
      const decoder = new Decoder((frame) => found.push({ ...frame, bytes: Buffer.from(frame.bytes) }))
      for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size))
      expect(found.map(({ kind, id, bytes }) => [kind, id, bytes.length])).toEqual([
        ['open', 1, 4],
        ['data', 4_000_000_000, 2_000],
        ['end', 0, 0],
      ])
    }
  })

  test.each([
    ['a kind that there is not', Buffer.concat([Buffer.from([99]), Buffer.alloc(8)])],
    ['a length that no frame has', Buffer.from([3, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])],
  ])('%s is none', (_, bytes) => {
    expect(() => new Decoder(() => {}).push(bytes)).toThrow('something else')
  })
})

describe('a tunnel', () => {
  test('is lost with its relay, and every connection through it', async () => {
    const { port } = await echo()
    const tunnel = await startRelay(WORDS)
    const connection = await tunnel.connect(port)
    connection.write('x')
    await once(connection, 'data')
    const breaks = broken(connection)
    tunnel.close()
    expect(await breaks).toMatchObject({ code: 'ECONNRESET' })
    expect(tunnel.alive).toBe(false)
    await expect(tunnel.connect(port)).rejects.toBeInstanceOf(TunnelLost)
  })

  test('of a relay that does not start says what it said', async () => {
    const failing = new Relay(() => startRelay(['sh', '-c', 'echo no such network >&2; exit 3']))
    const error = await failing.connect([], 1).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EngineUnavailableError)
    expect(String(error)).toContain('no such network')
  })

  test.each([
    ['says something that is no frame', Buffer.from('rubbish that is no frame')],
    ['sends more than there is room for', encode('data', 0, Buffer.alloc(LONGEST))],
    [
      'sends more single bytes than there is room for',
      Buffer.concat(Array(100).fill(encode('data', 0, Buffer.alloc(1)))),
    ],
    ['makes room that is not its own', encode('credit', 0, Buffer.from([0, 1, 0, 0]))],
  ])('of a relay that %s is lost', async (_, said) => {
    let hungUp = 0
    const tunnel = new Tunnel({ send: () => {}, hangUp: () => hungUp++ })
    const opening = tunnel.connect(80)
    tunnel.receive(encode('opened', 0))
    const connection = await opening
    const breaks = new Promise((resolve) => connection.once('error', resolve))
    // Nobody reads it: there is room for a few and no more.
    for (let times = 0; times < 20; times++) tunnel.receive(said)
    expect(await breaks).toMatchObject({ code: 'ECONNRESET' })
    expect([tunnel.alive, hungUp]).toEqual([false, 1])
  })
})

/** A tunnel whose relay is this test: what it is told, as frames. */
function toldTunnel(): { tunnel: Tunnel; told: Frame[] } {
  const told: Frame[] = []
  const decoder = new Decoder((frame) => told.push(frame))
  return { tunnel: new Tunnel({ send: (bytes) => decoder.push(bytes), hangUp: () => {} }), told }
}

describe('a connection', () => {
  test('that nobody wants any more before it is there is let go of at the other end', async () => {
    const { tunnel, told } = toldTunnel()
    const leaving = new AbortController()
    const opening = tunnel.connect(80, leaving.signal)
    leaving.abort(new Error('nobody wants it'))
    await expect(opening).rejects.toThrow('nobody wants it')
    expect(told.map(({ kind }) => kind)).toEqual(['open', 'cut'])
    // The answer was under way.
    tunnel.receive(encode('opened', 0))
    await expect(tunnel.connect(80, leaving.signal)).rejects.toThrow('nobody wants it')
    const later = new AbortController()
    const there = tunnel.connect(80, later.signal)
    tunnel.receive(encode('opened', 1))
    const connection = await there
    later.abort()
    expect([connection.destroyed, told.length]).toEqual([false, 3])
    tunnel.close()
  })

  test('takes no more single bytes at once than it counts for more', async () => {
    const { tunnel, told } = toldTunnel()
    const opening = tunnel.connect(80)
    tunnel.receive(encode('opened', 0))
    const connection = await opening
    for (let times = 0; times < 1_500; times++) connection.write('x')
    const sent = () => told.filter(({ kind }) => kind === 'data').length
    await expect.poll(sent).toBe(1_024)
    tunnel.receive(encode('credit', 0, numberBytes(256 * 100)))
    await expect.poll(sent).toBe(1_124)
    tunnel.close()
  })

  test('hands on at once what came at once', async () => {
    const { tunnel } = toldTunnel()
    const opening = tunnel.connect(80)
    tunnel.receive(encode('opened', 0))
    const written: number[] = []
    const client = new Duplex({
      read: () => {},
      writev: (chunks, done) => {
        written.push(chunks.length)
        done()
      },
    })
    joinConnections(client, await opening)
    await setImmediate()
    tunnel.receive(Buffer.concat(Array(50).fill(encode('data', 0, Buffer.from('x')))))
    await setImmediate()
    expect(written).toEqual([50])
    tunnel.close()
  })
})

test('a connection that is taken and broken off in one breath takes the one that it is joined with along', async () => {
  const tunnel = new Tunnel({ send: () => {}, hangUp: () => {} })
  const opening = tunnel.connect(80)
  tunnel.receive(Buffer.concat([encode('opened', 0), encode('cut', 0)]))
  const client = new PassThrough()
  joinConnections(client, await opening)
  expect(client.destroyed).toBe(true)
  tunnel.close()
})

describe('the process of a relay', () => {
  test('is none of the host’s terminal, has nothing of what the host was given, and its failing to start ends no host', () => {
    // At its limit of descriptors, with one that it was given by whoever started it.
    const host = `
      import { openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
      import { startRelay } from ${JSON.stringify(join(import.meta.dirname, 'child.ts'))}
      const words = ${JSON.stringify(WORDS)}
      const group = (pid) => readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ').at(-1).split(' ')[2]
      const relay = () => readdirSync('/proc').find((pid) => {
        try {
          const parent = readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ').at(-1).split(' ')[1]
          return parent === String(process.pid) && readFileSync('/proc/' + pid + '/cmdline', 'latin1').includes('port-relay')
        } catch { return false }
      })
      const tunnel = await startRelay(words)
      const pid = relay()
      const found = { apart: group(pid) !== group(process.pid), given: readlinkSync('/proc/' + pid + '/fd/${GIVEN}') }
      tunnel.close()
      try { for (;;) openSync('/dev/null') } catch {}
      const failed = await startRelay(words).then(() => null, (error) => error.code)
      console.log(JSON.stringify({ ...found, failed }))
      process.exit(0)`
    const script = 'ulimit -n 1000; exec "$0" --input-type=module -e "$1"'
    const given = openSync('/etc/passwd', 'r')
    const stdio = ['ignore', 'pipe', 'inherit', ...Array(GIVEN - 3).fill('ignore'), given]
    const said = execFileSync('sh', ['-c', script, process.execPath, host], {
      encoding: 'utf8',
      stdio,
      timeout: 20_000,
    })
    closeSync(given)
    expect(JSON.parse(said)).toEqual({ apart: true, given: '/dev/null', failed: 'EMFILE' })
  })

  test('lets go of a connection that nobody takes, as soon as nobody wants it', async () => {
    // It stands still with more waiting than it can hold.
    const still = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
      require('fs').writeSync(1, String(this.address().port))
      process.kill(process.pid, 'SIGSTOP')
    })`
    const server = spawn(process.execPath, ['-e', still], { stdio: ['ignore', 'pipe', 'inherit'] })
    closing.push(() => server.kill('SIGKILL'))
    const port = Number(String((await once(server.stdout, 'data'))[0]))
    const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    closing.push(() => waiting.map((socket) => socket.destroy()))
    const before = new Set(relaysOf(process.pid))
    const tunnel = await startRelay(WORDS)
    closing.push(() => tunnel.close())
    const [pid = ''] = relaysOf(process.pid).filter((one) => !before.has(one))
    const sockets = () =>
      readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`).startsWith('socket:')).length
    const { port: answering } = await echo()
    await tunnel.connect(answering)
    const none = sockets()
    const leaving = new AbortController()
    const openings = Array.from({ length: 5 }, () => tunnel.connect(port, leaving.signal).catch(() => null))
    await expect.poll(sockets).toBe(none + 5)
    leaving.abort()
    expect(await Promise.all(openings)).toEqual(Array(5).fill(null))
    await expect.poll(sockets).toBe(none)
  })

  test('that hangs while it starts is waited for by nobody who closes it, and closed once it has', async () => {
    const wire = { send: () => {}, hangUp: vi.fn() }
    let start = (_: Tunnel) => {}
    const relay = new Relay(() => new Promise((resolve) => (start = resolve)))
    const connecting = relay.connect([], 1).catch((thrown: unknown) => thrown)
    await setImmediate()
    relay.close()
    start(new Tunnel(wire))
    expect(await connecting).toBeInstanceOf(EngineUnavailableError)
    expect(wire.hangUp).toHaveBeenCalledOnce()
  })
})

describe('the relay of a sandbox', () => {
  test('is one for all connections, and another one where it died or leads elsewhere', async () => {
    const { port } = await echo()
    const started: Tunnel[] = []
    const relay = new Relay(async (words) => {
      const tunnel = await startRelay(words)
      started.push(tunnel)
      return tunnel
    })
    closing.push(() => relay.close())
    await Promise.all([relay.connect(WORDS, port), relay.connect(WORDS, port), relay.connect(WORDS, port)])
    expect(started).toHaveLength(1)
    started[0]?.close()
    await relay.connect(WORDS, port)
    expect(started).toHaveLength(2)
    const left = await relay.connect(WORDS, port)
    const breaks = broken(left)
    await relay.connect([...WORDS, '--'], port)
    expect(started).toHaveLength(3)
    await breaks
    await expect(relay.connect([...WORDS, '--'], 1)).rejects.toBeInstanceOf(NotConnected)
    relay.close()
    await expect(relay.connect(WORDS, port)).rejects.toBeInstanceOf(EngineUnavailableError)
  })
})
