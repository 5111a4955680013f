import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { InvalidOptionError } from '../contract/index.ts'
import { OpenPorts } from './open-ports.ts'
import { freePort } from './testing.ts'

const servers: Server[] = []
const opened: OpenPorts[] = []
/** The host's connections to what listens inside. */
const reached: Socket[] = []

afterEach(() => {
  for (const one of opened.splice(0)) one.end()
  for (const server of servers.splice(0)) server.close()
  reached.length = 0
})

/** Stands for what listens inside, reached by this machine's own loopback. */
async function inside(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => answer(socket.on('error', () => {})))
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function openPorts(stuckMs?: number, isPaused = () => false): OpenPorts {
  const reach = async (port: number): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    reached.push(socket)
    return socket
  }
  const ports = new OpenPorts(reach, isPaused, stuckMs)
  opened.push(ports)
  return ports
}

function client(at: number): Socket {
  return connect({ port: at, host: '127.0.0.1' }).on('error', () => {})
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.resume().once('close', () => resolve()))

async function said(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

test('a port is opened once, at its own number where that is free, and closed with its connections', async () => {
  const port = await inside((socket) => socket.pipe(socket))
  const ports = openPorts()
  const [one, other] = await Promise.all([ports.open(port, null), ports.open(port, null)])
  // Its own is taken here by the server itself.
  expect(one.at).not.toBe(port)
  expect(other).toEqual(one)
  expect(ports.list()).toEqual([{ port, at: one.at, url: `http://127.0.0.1:${one.at}/` }])
  await expect(ports.open(port, one.at === 4000 ? 4001 : 4000)).rejects.toThrow(`open already, at ${one.at}`)

  const speaking = client(one.at)
  speaking.end('hello')
  expect(await said(speaking)).toBe('hello')
  const held = client(one.at)
  held.write('x')
  await once(held, 'data')
  expect(await ports.close(port)).toBe(true)
  await closed(held)
  expect(await ports.close(port)).toBe(false)
  expect(ports.list()).toEqual([])
  const late = client(one.at)
  await closed(late)

  const free = await freePort()
  expect((await ports.open(free, null)).at).toBe(free)
})

test('a port of this machine that is taken is named, and nothing is opened', async () => {
  const port = await inside(() => {})
  const taken = await inside(() => {})
  const ports = openPorts()
  const error = await ports.open(port, taken).catch((refused: unknown) => refused)
  expect(error).toBeInstanceOf(InvalidOptionError)
  expect(error).toMatchObject({ message: `Port ${taken} of this machine is taken.`, data: { at: taken } })
  expect(ports.list()).toEqual([])
  expect((await ports.open(port, null)).port).toBe(port)
})

test('whoever asks for a port at once with somebody who is refused is not refused with them', async () => {
  const port = await inside(() => {})
  const taken = await inside(() => {})
  const ports = openPorts()
  const [refused, opened] = await Promise.allSettled([ports.open(port, taken), ports.open(port, null)])
  expect(refused.status).toBe('rejected')
  expect(opened).toMatchObject({ status: 'fulfilled', value: { port } })
  expect(ports.list()).toHaveLength(1)
})

test('a connection that was broken off by the time it is there is broken off for its client', async () => {
  const gone = new PassThrough().on('error', () => {})
  const ports = new OpenPorts(
    async () => gone.destroy(),
    () => false,
  )
  opened.push(ports)
  const { at } = await ports.open(50_125, null)
  await closed(client(at))
})

test('while nothing listens inside a connection is closed at once, and the port stays', async () => {
  const port = await inside(() => {})
  servers.pop()?.close()
  const ports = openPorts()
  const { at } = await ports.open(port, null)
  const refused = client(at)
  refused.write('anybody?')
  await closed(refused)
  expect(ports.at(port)?.at).toBe(at)
})

test('a client that goes before the other side is found has its search ended, and what is found too late is let go', async () => {
  const asked: { signal: AbortSignal; found(side: PassThrough): void }[] = []
  const ports = new OpenPorts(
    (_, signal) => new Promise((found) => asked.push({ signal, found })),
    () => false,
  )
  opened.push(ports)
  const { at } = await ports.open(50_126, null)
  const hasty = client(at)
  await expect.poll(() => asked.length).toBe(1)
  hasty.resetAndDestroy()
  await expect.poll(() => asked[0]?.signal.aborted).toBe(true)
  const late = new PassThrough()
  asked[0]?.found(late)
  await expect.poll(() => late.destroyed).toBe(true)

  // One that stays has it for as long as it likes: what became of it is no matter of the search any more.
  const staying = client(at)
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.found(new PassThrough())
  staying.end('hello')
  expect(await said(staying)).toBe('hello')
  await sleep(20)
  expect(asked[1]?.signal.aborted).toBe(false)
})

test('a connection that nobody takes waits for the end of a pause, and no longer', async () => {
  let paused = true
  let asked = 0
  const late = () => Promise.reject(Object.assign(new Error('nobody takes it'), { code: 'ETIMEDOUT' }))
  const ports = new OpenPorts(
    () => {
      asked++
      if (asked === 3) paused = false
      return asked < 3 ? late() : asked === 3 ? Promise.resolve(new PassThrough()) : late()
    },
    () => paused,
  )
  opened.push(ports)
  const { at } = await ports.open(50_127, null)
  const waiting = client(at)
  waiting.end('hello')
  expect(await said(waiting)).toBe('hello')
  await closed(client(at))
  expect(asked).toBe(4)
})

test('a client that is never answered or read leaves nothing, once nothing is paused', async () => {
  const deaf = await inside((socket) => socket.resume())
  const silent = await inside((socket) => socket.pause())
  let paused = true
  const ports = openPorts(150, () => paused)
  const { at } = await ports.open(deaf, null)
  // It has said all that it has to say; the other never does.
  const waiting = client(at)
  waiting.end('anybody?')
  // More than is under way: its end is not seen.
  const unread = client((await ports.open(silent, null)).at)
  unread.end(Buffer.alloc(32 << 20))
  const idle = client(at)
  idle.write('later')
  let over = 0
  for (const one of [waiting, unread, idle]) void closed(one).then(() => over++)
  await sleep(400)
  // A pause holds both sides still.
  expect(over).toBe(0)
  paused = false
  await expect.poll(() => over).toBe(2)
  await sleep(200)
  expect([idle.destroyed, reached.filter(({ destroyed }) => !destroyed)]).toEqual([false, [expect.anything()]])
})

test('more connections than it takes are closed, and those there go on', async () => {
  const sides: PassThrough[] = []
  const ports = new OpenPorts(
    async () => {
      const side = new PassThrough()
      sides.push(side)
      return side
    },
    () => false,
  )
  opened.push(ports)
  const { at } = await ports.open(50_123, null)
  const many = Array.from({ length: 256 }, () => client(at))
  await expect.poll(() => sides.length).toBe(256)
  const over = client(at)
  await closed(over)
  many[0]?.write('still here')
  expect(String(await once(many[0] as Socket, 'data'))).toBe('still here')
  ports.end()
  await Promise.all(many.map((one) => one.destroyed || closed(one)))
  await expect(ports.open(50_124, null)).rejects.toThrow('has ended')
})
