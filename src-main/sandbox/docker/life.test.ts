/** What becomes of a sandbox when docker, its container or its volume go away behind our back; images that will not do. */
import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { renameSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import tar from 'tar-stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { EngineUnavailableError, InvalidOptionError, SandboxNotFoundError } from '../../contract/index.ts'
import { type Box, eventually, World } from '../conformance/world.ts'
import { docker, dockerSource } from './for-tests.ts'

// A container is started in a second, on a loaded machine in ten.
vi.setConfig({ testTimeout: 300_000 })

const source = dockerSource('machine')

const containerOf = (box: Box): string =>
  docker('ps', '-aq', '--filter', `label=rewind.sandbox=${box.sandbox.id}`).trim()

const volumeOf = (box: Box): string =>
  docker('volume', 'ls', '-q', '--filter', `label=rewind.sandbox=${box.sandbox.id}`).trim()

/** A docker engine that can be cut off. */
class Cut {
  readonly path: string
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null

  constructor(folder: string) {
    this.path = join(folder, 'docker.sock')
  }

  async on(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: '/var/run/docker.sock', allowHalfOpen: true })
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
      }
      near.pipe(far).pipe(near)
    })
    this.#server = server
    await new Promise<void>((resolve) => server.listen(this.path, resolve))
  }

  async off(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => (this.#server === null ? resolve(null) : this.#server.close(resolve)))
  }
}

async function throughCut(): Promise<{ world: World; cut: Cut }> {
  const world = await World.make(source)
  const cut = new Cut(world.folder)
  await cut.on()
  onTestFinished(() => cut.off())
  const before = process.env.DOCKER_HOST
  process.env.DOCKER_HOST = `unix://${cut.path}`
  try {
    world.provider = await world.newProvider()
    expect(await world.provider.available()).toMatchObject({ ok: true })
  } finally {
    if (before === undefined) delete process.env.DOCKER_HOST
    else process.env.DOCKER_HOST = before
  }
  return { world, cut }
}

suiteNeeding(['docker'], 'containers that go away', () => {
  test('a container that was killed is started again: files are as they were, what ran is lost', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.write('f', 'kept\n')
    await box.say('echo made >/opt/made', { user: 'root' })
    const point = await box.point()
    await box.say('echo more >g')
    const running = await box.sandbox.exec({ id: 'runs', command: 'echo said; sleep 300' })
    await eventually('it runs', async () => (await running.size('stdout')) > 0)
    docker('kill', containerOf(box))
    expect(await box.say('cat f g /opt/made')).toBe('kept\nmore\nmade')
    expect(await running.ended).toMatchObject({ status: 'lost', code: null })
    expect(box.sandbox.losses.join()).toContain('processes were ended')
    await box.back(point)
    expect(await box.say('ls; cat /opt/made')).toBe('f\nmade')
  })

  test('a container that was removed is made anew over its volume', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.say('echo made >/opt/made; chmod 600 /opt/made', { user: 'root' })
    const point = await box.point()
    await box.say('echo x >f')
    docker('rm', '-f', containerOf(box))
    expect(await box.say('cat f; stat -c %a /opt/made')).toBe('x\n600')
    await box.sandbox.detach()
    docker('rm', '-f', containerOf(box))
    const again = world.box(await world.provider.attach(box.sandbox.id))
    await again.back(point)
    expect(await again.say('ls; stat -c %a /opt/made')).toBe('600')
  })

  test('a sandbox whose volume was removed is no more: that is said, and nothing is left', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const running = await box.sandbox.exec({ id: 'runs', command: 'sleep 300' })
    const volume = volumeOf(box)
    docker('rm', '-f', containerOf(box))
    docker('volume', 'rm', volume)
    await expect(box.say('true')).rejects.toBeInstanceOf(SandboxNotFoundError)
    await expect(box.sandbox.checkpoint('c')).rejects.toThrow(/removed from docker/)
    expect(await running.ended).toMatchObject({ status: 'lost' })
    await expect(world.provider.attach(box.sandbox.id)).rejects.toBeInstanceOf(SandboxNotFoundError)
    await box.sandbox.destroy()
    expect(await world.provider.list()).toEqual([])
  })

  test('while docker is away that is said; when it is back everything goes on', async () => {
    const { world, cut } = await throughCut()
    const box = await world.sandbox()
    const running = await box.sandbox.exec({ id: 'counts', command: 'while [ ! -e stop ]; do sleep 0.1; done; exit 6' })
    await cut.off()
    for (const use of [() => box.say('true'), () => box.sandbox.checkpoint('a'), () => world.provider.list()]) {
      const error = await use().catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(EngineUnavailableError)
      expect((error as EngineUnavailableError).nextStep).toBeTruthy()
    }
    const offline = await world.newProvider()
    const { DOCKER_HOST: before } = process.env
    process.env.DOCKER_HOST = `unix://${cut.path}`
    expect(await offline.available()).toMatchObject({ ok: false })
    if (before === undefined) delete process.env.DOCKER_HOST
    else process.env.DOCKER_HOST = before
    await cut.on()
    expect(await box.sandbox.checkpoint('a')).toMatchObject({ changed: false })
    expect((await box.sandbox.processes()).map(({ command }) => command).join()).toContain('stop')
    await box.write('stop', '')
    expect(await running.ended).toMatchObject({ status: 'exited', code: 6 })
  })

  test('an operation in whose middle docker goes away is done once', async () => {
    const { world, cut } = await throughCut()
    const box = await world.sandbox()
    const { baseState } = box.sandbox.facts
    for (const [at, pauseMs] of [0, 5, 20, 60].entries()) {
      await box.write('f', String(at))
      const operation = randomUUID()
      const asked = box.sandbox.checkpoint(operation).catch((error: unknown) => error)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      await cut.off()
      const said = await asked
      await cut.on()
      const outcome = await box.sandbox.checkpoint(operation)
      expect(outcome.changed).toBe(true)
      if (!(said instanceof Error)) expect(said).toEqual(outcome)
      expect(await box.read('f', outcome.state)).toBe(String(at))
    }
    await box.back(baseState)
    expect(await box.say('ls')).toBe('')
  })

  test('a workspace that was moved away is named, and what was lost meanwhile is not the files', async () => {
    const world = await World.make(source)
    world.host('f', 'host')
    const box = await world.sandbox({ base: 'live' })
    await box.write('g', 'mine')
    docker('kill', containerOf(box))
    const aside = `${world.workspace}-aside`
    renameSync(world.workspace, aside)
    const error = await box.say('true').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(EngineUnavailableError)
    renameSync(aside, world.workspace)
    expect(await box.say('cat f g')).toBe('hostmine')
  })
})

/** An image with nothing in it. */
function emptyImage(architecture: string): string {
  const name = `rewind-test-empty-${randomUUID().slice(0, 8)}:latest`
  const layer = Buffer.alloc(1024)
  const hash = createHash('sha256').update(layer).digest('hex')
  const rootfs = { type: 'layers', diff_ids: [`sha256:${hash}`] }
  const files = {
    'layer.tar': layer,
    'config.json': JSON.stringify({ architecture, os: 'linux', config: {}, rootfs }),
    'manifest.json': JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
  }
  const pack = tar.pack()
  for (const [file, content] of Object.entries(files)) pack.entry({ name: file }, content)
  pack.finalize()
  execFileSync('docker', ['load', '-q'], { input: pack.read() as Buffer, stdio: ['pipe', 'ignore', 'inherit'] })
  onTestFinished(() => void docker('rmi', name))
  return name
}

suiteNeeding(['docker'], 'images that will not do', () => {
  const refused = async (image: string) => {
    const world = await World.make(source)
    const error = await world.provider.create(world.spec({ image })).catch((caught: unknown) => caught)
    expect(await world.traces()).toEqual([])
    return error
  }

  test('what an image lacks is named', async () => {
    const error = await refused('debian:sid-slim')
    expect(error).toBeInstanceOf(EngineUnavailableError)
    expect((error as EngineUnavailableError).data.lacks).toEqual(expect.arrayContaining(['node', 'busybox']))
  })

  const [own, other] = process.arch === 'arm64' ? ['arm64', 'amd64'] : ['amd64', 'arm64']

  test('one with nothing in it', async () => {
    expect(await refused(emptyImage(own))).toBeInstanceOf(EngineUnavailableError)
  })

  test('one for another architecture', async () => {
    expect(await refused(emptyImage(other))).toBeInstanceOf(InvalidOptionError)
  })

  test('one that is not there', async () => {
    expect(await refused('rewind-test-no-such-image')).toBeInstanceOf(EngineUnavailableError)
  })
})
