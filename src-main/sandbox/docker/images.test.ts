import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { CancelledError, EngineUnavailableError, InvalidOptionError } from '../../contract/index.ts'
import { connectDocker, engineAddress } from './connect.ts'
import { ensureImage, type ImageProgress, imageState, productImage } from './images.ts'
import { Registry } from './registry-for-tests.ts'

suiteNeeding(['docker'], 'the images of the docker engine', () => {
  let docker: Docker
  let folder: string
  const made: string[] = []

  beforeAll(async () => {
    docker = (await connectDocker()).docker
  })

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rewind-image-'))
  })

  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true })
    for (const name of made.splice(0)) await docker.getImage(name).remove({ force: true }).catch(ignore)
  })

  /** A small recipe on top of the product's image, and the name that it has. */
  function recipe(...steps: string[]): { recipe: string; name: string } {
    // Unique, so that no step is remembered from an earlier run.
    const lines = [`FROM ${productImage()}`, `LABEL test=${folder}`, ...steps]
    writeFileSync(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
    writeFileSync(join(folder, 'packages'), 'nothing\n')
    const name = productImage(folder)
    made.push(name)
    return { recipe: folder, name }
  }

  test('what is there is left as it is', async () => {
    const told: ImageProgress[] = []
    await ensureImage(docker, productImage(), { onProgress: (progress) => told.push(progress) })
    expect(told).toEqual([])
  })

  test("the product's image is named after its recipe: another recipe, another name", () => {
    const first = recipe('RUN true').name
    expect(first).toMatch(/^rewind-sandbox:[0-9a-f]{12}$/)
    expect(recipe('RUN true', 'RUN true').name).not.toBe(first)
  })

  test('it is built from the recipe, and tells each step and what was said in it', async () => {
    const { name, ...options } = recipe('COPY packages /packages', 'RUN echo hello from the build')
    expect(await imageState(docker, name)).toBe('absent')
    const told: ImageProgress[] = []
    await ensureImage(docker, name, { ...options, onProgress: (progress) => told.push(progress) })
    expect(await imageState(docker, name)).toBe('present')
    expect(told.map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Step 4\/4 : RUN/), 'hello from the build']),
    )
    expect(told.find(({ text }) => text === 'hello from the build')?.fraction).toBe(3 / 4)
  })

  test('a step that fails says what it said, and leaves no image', async () => {
    const { name, ...options } = recipe('RUN echo "E: no such package" >&2; exit 100')
    const failure = await ensureImage(docker, name, options).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EngineUnavailableError)
    expect(failure).toMatchObject({
      message: expect.stringContaining('E: no such package'),
      nextStep: expect.stringContaining('network'),
      data: { log: expect.arrayContaining(['E: no such package']) },
    })
    expect(await imageState(docker, name)).toBe('absent')
  })

  test('called off in its middle it ends in the engine too, and leaves no image and no container', async () => {
    const { name, ...options } = recipe('RUN echo begun; sleep 600')
    const stop = new AbortController()
    const onProgress = ({ text }: ImageProgress) => {
      if (text === 'begun') stop.abort()
    }
    const failure = await ensureImage(docker, name, { ...options, onProgress, signal: stop.signal }).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(CancelledError)
    expect(await imageState(docker, name)).toBe('absent')
    const building = async () => {
      const all = await docker.listContainers({ all: true })
      return all.filter(({ Labels }) => Labels.test === folder).length
    }
    await expect.poll(building, { timeout: 20_000 }).toBe(0)
  })

  test('called off before it began, nothing is begun', async () => {
    const { name, ...options } = recipe('RUN true')
    const failure = ensureImage(docker, name, { ...options, signal: AbortSignal.abort() })
    await expect(failure).rejects.toBeInstanceOf(CancelledError)
    expect(await imageState(docker, name)).toBe('absent')
  })

  test('an engine that dies in the middle is said to, whatever it said before', async () => {
    const { name, ...options } = recipe('RUN echo begun; sleep 600')
    const between = await Between.begin(folder, engineAddress(process.env).replace('unix://', ''))
    const { docker: cut } = await connectDocker({ DOCKER_HOST: `unix://${between.socket}` })
    const onProgress = ({ text }: ImageProgress) => {
      if (text === 'begun') between.cut()
    }
    const failure = await ensureImage(cut, name, { ...options, onProgress }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EngineUnavailableError)
    expect(failure).toMatchObject({ nextStep: expect.stringContaining('still runs') })
  })

  describe('pulled ones', () => {
    let registry: Registry

    beforeEach(async () => {
      registry = await Registry.begin()
    })

    afterEach(() => registry.end())

    test('another image is pulled, and tells how much of it is there', async () => {
      const name = registry.image('there')
      made.push(name)
      const told: ImageProgress[] = []
      await ensureImage(docker, name, { onProgress: (progress) => told.push(progress) })
      expect(await imageState(docker, name)).toBe('present')
      expect(told.at(-1)).toMatchObject({ fraction: 1 })
    })

    test('a pull that was called off leaves no image, and can be asked for again', async () => {
      const name = registry.image('there')
      made.push(name)
      registry.held = true
      const stop = new AbortController()
      const onProgress = ({ fraction }: ImageProgress) => {
        if (fraction !== null) stop.abort()
      }
      const failure = ensureImage(docker, name, { onProgress, signal: stop.signal })
      await expect(failure).rejects.toBeInstanceOf(CancelledError)
      expect(await imageState(docker, name)).toBe('absent')
      registry.held = false
      await ensureImage(docker, name)
      expect(await imageState(docker, name)).toBe('present')
    })

    test.each([
      ['that no registry has', () => registry.image('missing')],
      ['whose name the engine refuses', () => 'NoSuchImage'],
      ['whose name is none', () => 'no such\nimage'],
    ])('an image %s is a bad option, not a broken engine', async (_, name) => {
      const failure = await ensureImage(docker, name()).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(InvalidOptionError)
      expect(failure).toMatchObject({ message: expect.stringContaining(JSON.stringify(name()).slice(1, -1)) })
    })

    test('a registry that cannot be reached is not taken for a bad name', async () => {
      const name = registry.image('there')
      await registry.end()
      const failure = ensureImage(docker, name)
      await expect(failure).rejects.toBeInstanceOf(EngineUnavailableError)
    })
  })
})

/** Passes a connection to the engine on, until it is cut: to us it is an engine that dies. */
class Between {
  readonly #open = new Set<Socket>()
  readonly socket: string

  static async begin(folder: string, engine: string): Promise<Between> {
    const between = new Between(join(folder, 'between.sock'))
    const server = createServer((client) => {
      const upstream = connect(engine)
      between.#open.add(client).add(upstream)
      client.pipe(upstream).pipe(client)
      for (const one of [client, upstream]) one.on('error', ignore)
      client.once('close', () => upstream.destroy())
    })
    await new Promise<void>((resolve) => server.listen(between.socket, resolve))
    between.#stop = () => server.close()
    return between
  }

  #stop = ignore

  private constructor(socket: string) {
    this.socket = socket
  }

  cut(): void {
    this.#stop()
    for (const one of this.#open) one.destroy()
  }
}

function ignore(): void {}
