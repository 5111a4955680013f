/** The relay as a process of this machine's own network: what listens there stands for what listens in a sandbox. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type Duplex, PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { EngineUnavailableError } from '../../contract/errors.ts'
import { startRelay } from './child.ts'
import { Decoder, encode, type Frame, LONGEST } from './frames.ts'
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
