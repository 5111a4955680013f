/** Connections from this machine to what listens on the loopback of a sandbox, with its own network and without one. */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { EngineUnavailableError } from '../../contract/errors.ts'
import { type Box, eventually, type ProviderSource, World } from './world.ts'

/** Servers of several manners; each tells its port in a file, and all of them how many connections they hold. */
const SERVERS = `
const net = require('net'), fs = require('fs')
const held = new Set()
const tell = () => { fs.writeFileSync('held.new', String(held.size)); fs.renameSync('held.new', 'held') }
tell()
const serve = (name, host, answer) => {
  const say = (port) => fs.writeFileSync('port-' + name, String(port))
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    held.add(socket)
    tell()
    socket.on('error', () => {}).on('close', () => { held.delete(socket); tell() })
    answer(socket)
  })
  server.on('error', () => say(0)).listen(0, host, () => say(server.address().port))
}
serve('echo', '127.0.0.1', (socket) => socket.pipe(socket))
serve('six', '::1', (socket) => socket.end('six'))
serve('silent', '127.0.0.1', (socket) => socket.resume().on('end', () => socket.destroy()))
serve('cutting', '127.0.0.1', (socket) => { socket.write('half'); socket.on('data', () => socket.resetAndDestroy()) })
`
const NAMES = ['echo', 'six', 'silent', 'cutting'] as const
type Ports = Record<(typeof NAMES)[number], number>

export function portBehaviours(source: ProviderSource): void {
  describe.each([{ network: true }, { network: false }])('network $network', ({ network }) => {
    test('ports:reached-from-this-machine', async () => {
      const world = await World.make(source)
      const box = await world.sandbox({ network })
      const ports = await serve(box)
      const held = async () => Number(await box.read('held'))
      const { processes } = await box.sandbox.activity()

      // Each way is ended by itself: the whole echo comes after our end.
      const bytes = Buffer.alloc(16 << 20)
      for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at)
      const echo = await box.sandbox.connect(ports.echo)
      const coming = everything(echo)
      echo.end(bytes)
      const came = await coming
      expect(came.length).toBe(bytes.length)
      expect(hashOf(came)).toBe(hashOf(bytes))

      // One that nobody reads, and one that never answers, hold up no other.
      const unread = await box.sandbox.connect(ports.echo)
      unread.write(bytes.subarray(0, 1 << 20))
      const silent = await box.sandbox.connect(ports.silent)
      silent.write(bytes.subarray(0, 1 << 20))
      const many = Array.from({ length: 60 }, async (_, index) => {
        const connection = await box.sandbox.connect(ports.echo)
        connection.end(`number ${index}`)
        return (await everything(connection)).toString()
      })
      expect(await Promise.all(many)).toEqual(many.map((_, index) => `number ${index}`))
      await eventually('two are held', async () => (await held()) === 2)
      unread.destroy()
      silent.destroy()
      await eventually('none is held', async () => (await held()) === 0)

      const cut = await box.sandbox.connect(ports.cutting)
      cut.write('x')
      await expect(everything(cut)).rejects.toMatchObject({ code: 'ECONNRESET' })
      if (ports.six !== 0) expect((await everything(await box.sandbox.connect(ports.six))).toString()).toBe('six')
      await expect(box.sandbox.connect(1)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      // Nothing of it runs inside.
      expect((await box.sandbox.activity()).processes.map(({ pid }) => pid)).toEqual(processes.map(({ pid }) => pid))
    })
  })

  test('ports:stand-still-with-a-pause-and-end-with-what-listens', async () => {
    const world = await World.make(source)
    const box = await world.sandbox({ network: false })
    const before = await box.point()
    const ports = await serve(box)
    const open = await box.sandbox.connect(ports.echo)
    await box.sandbox.pause()
    const waiting = await box.sandbox.connect(ports.echo)
    const answers = Promise.all([open, waiting].map(everything))
    open.end('open')
    waiting.end('waiting')
    let answered = false
    void answers.then(() => {
      answered = true
    })
    await sleep(200)
    expect(answered).toBe(false)
    await box.sandbox.unpause()
    expect((await answers).map(String)).toEqual(['open', 'waiting'])

    const held = await box.sandbox.connect(ports.silent)
    const over = settled(held)
    await box.back(before)
    await over
    await expect(box.sandbox.connect(ports.echo)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const again = await serve(box)
    const last = await box.sandbox.connect(again.silent)
    const ended = settled(last)
    await box.sandbox.end()
    await ended
    await expect(box.sandbox.connect(again.echo)).rejects.toBeInstanceOf(EngineUnavailableError)
  })
}

async function serve(box: Box): Promise<Ports> {
  await box.write('servers.js', SERVERS)
  await box.run(['rm', '-f', ...NAMES.map((name) => `port-${name}`)])
  await box.sandbox.exec({ id: `servers-${Math.random()}`, command: 'exec node servers.js' })
  const ports = async () =>
    Promise.all(NAMES.map(async (name) => [name, Number(await box.read(`port-${name}`).catch(() => 'none'))] as const))
  await eventually('all of them listen', async () => (await ports()).every(([, port]) => !Number.isNaN(port)), 30_000)
  return Object.fromEntries(await ports()) as Ports
}

async function everything(connection: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of connection) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** It is over, by its end or broken off. */
const settled = (connection: Duplex): Promise<unknown> => everything(connection).catch(() => null)

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
