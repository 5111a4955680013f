/** The docker engine: a container and a volume for each sandbox, the local engine within. */
import { randomUUID } from 'node:crypto'
import { EngineUnavailableError, InvalidOptionError, SandboxNotFoundError } from '../../contract/index.ts'
import { checkedWorkspace, SANDBOX_ID } from '../local/index.ts'
import type { Availability, Leftover, Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { asDockerError, connectDocker, type DockerEngine, hasStatus } from './connect.ts'
import { recipeOf, SandboxContainer } from './container.ts'
import { productImage } from './images.ts'
import { Link } from './link.ts'
import { Notes } from './notes.ts'
import type { Taken } from './protocol.ts'
import { DockerSandbox } from './sandbox.ts'

export interface DockerProviderOptions {
  /** The data folder. */
  home: string
  /** Names that data folder for ever: containers and volumes bear it, and those of others are left alone. */
  storeId: string
}

export function createDockerProvider({ home, storeId }: DockerProviderOptions): SandboxProvider {
  return new DockerProvider(new Notes(home), storeId)
}

class DockerProvider implements SandboxProvider {
  readonly engine = 'docker'
  readonly #notes: Notes
  readonly #store: string
  #connection: Promise<DockerEngine> | null = null

  constructor(notes: Notes, store: string) {
    this.#notes = notes
    this.#store = store
  }

  async available(): Promise<Availability> {
    try {
      const { version } = await this.#connect()
      return { ok: true, detail: `docker ${version}` }
    } catch (error) {
      const { message, nextStep } = asDockerError(error, 'Docker cannot be used')
      return { ok: false, reason: message, remedy: nextStep ?? 'Run `rewind doctor`.' }
    }
  }

  async create(given: SandboxSpec): Promise<Sandbox> {
    if (!SANDBOX_ID.test(given.id)) throw noSandbox(given.id)
    const spec = { ...given, workspace: checkedWorkspace(given) }
    const { docker, ...engine } = await this.#connect()
    const image = await this.#image(spec.image ?? productImage(), { docker, ...engine })
    const container = new SandboxContainer(docker, this.#store, spec.id)
    if (await container.exists()) throw new EngineUnavailableError(`The sandbox ${spec.id} exists already.`)
    try {
      await container.create(recipeOf(spec, image))
      // Where the network is none, the container's is: no other one is needed within.
      return await this.#take({ docker, ...engine }, container, (link, host) =>
        link.call('create', host, { ...spec, network: true }),
      )
    } catch (error) {
      await container.remove().catch(() => {})
      this.#notes.remove(spec.id)
      throw asDockerError(error, 'The sandbox could not be started')
    }
  }

  async attach(id: string): Promise<Sandbox> {
    const engine = await this.#connect()
    const container = await this.#existing(engine, id)
    return this.#reaching(id, async () => {
      await container.revive()
      return this.#take(engine, container, (link, host) => link.call('attach', host))
    })
  }

  async open(id: string): Promise<Sandbox> {
    const engine = await this.#connect()
    const container = await this.#existing(engine, id)
    const facts = this.#notes.read(id)
    if (facts !== null)
      return this.#sandbox(
        engine,
        container,
        { facts, losses: [], restarted: false, ended: true, paused: false },
        null,
        randomUUID(),
      )
    return this.#reaching(id, async () => {
      await container.revive()
      return this.#take(engine, container, (link) => link.call('open'))
    })
  }

  async list(): Promise<string[]> {
    const { docker } = await this.#connect()
    try {
      return await SandboxContainer.list(docker, this.#store)
    } catch (error) {
      throw asDockerError(error, 'Docker was asked for its containers')
    }
  }

  async remove(id: string): Promise<Leftover | null> {
    try {
      const { docker } = await this.#connect()
      await new SandboxContainer(docker, this.#store, id).remove()
      this.#notes.remove(id)
      return null
    } catch (error) {
      return { folder: `docker container and volume of ${id}`, reason: (error as Error).message }
    }
  }

  async #take(
    engine: DockerEngine,
    container: SandboxContainer,
    take: (link: Link, host: string) => Promise<Taken>,
  ): Promise<DockerSandbox> {
    const host = randomUUID()
    const link = await Link.open(engine.docker, container.handle)
    try {
      const taken = await take(link, host)
      this.#notes.write(container.id, taken.facts)
      return this.#sandbox(engine, container, taken, link, host)
    } catch (error) {
      await link.close()
      throw error
    }
  }

  #sandbox(
    { docker }: DockerEngine,
    container: SandboxContainer,
    taken: Taken,
    link: Link | null,
    host: string,
  ): DockerSandbox {
    const forget = () => this.#notes.remove(container.id)
    return new DockerSandbox({ docker, container, host, ...taken, link, forget })
  }

  async #existing({ docker }: DockerEngine, id: string): Promise<SandboxContainer> {
    const container = new SandboxContainer(docker, this.#store, id)
    if (!SANDBOX_ID.test(id) || !(await this.#reaching(id, () => container.exists()))) throw noSandbox(id)
    return container
  }

  async #reaching<T>(id: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw asDockerError(error, `The sandbox ${id} cannot be reached`)
    }
  }

  /** @returns the image's id. @throws EngineUnavailableError where it is not there or not for this machine */
  async #image(name: string, { docker, architecture }: DockerEngine): Promise<string> {
    try {
      const { Id, Architecture, Os } = await docker.getImage(name).inspect()
      if (Architecture === architecture && Os === 'linux') return Id
      throw new InvalidOptionError(
        `The image ${name} is for ${Os}/${Architecture}, and docker runs linux/${architecture}.`,
        {
          nextStep: 'Take a variant of the image for this machine.',
          data: { option: 'image' },
        },
      )
    } catch (error) {
      if (!hasStatus(error, 404)) throw asDockerError(error, `Docker was asked for the image ${name}`)
      throw new EngineUnavailableError(`Docker does not hold the image ${name}.`, {
        nextStep: 'Have it made or pulled first.',
        data: { image: name },
        cause: error,
      })
    }
  }

  /** Asked again each time until it answers: docker may be started any time. */
  #connect(): Promise<DockerEngine> {
    this.#connection ??= connectDocker().catch((error: unknown) => {
      this.#connection = null
      throw error
    })
    return this.#connection
  }
}

const noSandbox = (id: string): SandboxNotFoundError =>
  new SandboxNotFoundError(`There is no sandbox ${JSON.stringify(id)}.`, { nextStep: 'Start a session first.' })
