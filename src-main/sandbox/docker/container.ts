/**
 * The container of one sandbox and the volume with its layers: made, started, removed. The container is replaceable: all
 * that counts is in the volume, whose labels say how another one is made over it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import { EngineUnavailableError, SandboxNotFoundError } from '../../contract/index.ts'
import type { SandboxSpec } from '../sandbox.ts'
import { engineBundle } from './bundle.ts'
import { asDockerError, hasStatus } from './connect.ts'
import { SOURCE, VOLUME } from './protocol.ts'

/** For the agent's root: what the image's own root may do. */
const FOR_COMMANDS = [...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETUID', 'SETGID', 'NET_BIND_SERVICE']]
/** For the engine, which mounts layers, enters namespaces and drops rights. */
const FOR_ENGINE = ['SETPCAP', 'SYS_CHROOT', 'MKNOD', 'SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_TIME', 'IPC_OWNER']

export const CAPABILITIES: readonly string[] = [...FOR_COMMANDS, ...FOR_ENGINE]

const STORE = 'rewind.store'
const SANDBOX = 'rewind.sandbox'
const RECIPE = 'rewind.recipe'

/** What a container is made of, as its volume's label has it. Nothing secret: everybody who may use docker reads it. */
export interface Recipe {
  /** The image's id: its name may come to mean another one. */
  image: string
  /** The host's folder. */
  workspace: string
  network: boolean
}

export const recipeOf = (spec: SandboxSpec, image: string): Recipe => ({
  image,
  workspace: spec.workspace,
  network: spec.network,
})

/** A container on its way up or down is waited for. */
const SETTLES_MS = 15_000

export class SandboxContainer {
  readonly id: string
  readonly #docker: Docker
  readonly #store: string

  /**
   * @param store the data folder's id: what bears another one is not ours
   * @param id the sandbox's
   */
  constructor(docker: Docker, store: string, id: string) {
    this.#docker = docker
    this.#store = store
    this.id = id
  }

  /** Ids of all sandboxes of a data folder of which anything is there. */
  static async list(docker: Docker, store: string): Promise<string[]> {
    const filters = { label: [`${STORE}=${store}`] }
    const [containers, volumes] = await Promise.all([
      docker.listContainers({ all: true, filters }),
      docker.listVolumes({ filters }),
    ])
    const labels = [...containers, ...(volumes.Volumes ?? [])].map(({ Labels }) => Labels?.[SANDBOX])
    return [...new Set(labels.filter((id) => id !== undefined))]
  }

  get name(): string {
    return `rewind-${this.#store.slice(0, 12)}-${this.id}`
  }

  get handle(): Docker.Container {
    return this.#docker.getContainer(this.name)
  }

  /** @throws EngineUnavailableError, InvalidPathError; what was made by then is the caller's to remove */
  async create(recipe: Recipe): Promise<void> {
    const labels = { [STORE]: this.#store, [SANDBOX]: this.id, [RECIPE]: JSON.stringify(recipe) }
    await this.#docker.createVolume({ Name: this.name, Labels: labels })
    await this.#make(recipe)
    await this.start()
  }

  /**
   * Sees that it runs: starts one that was stopped, makes one anew over its volume.
   * @throws SandboxNotFoundError where the volume is gone too, EngineUnavailableError
   */
  async revive(): Promise<void> {
    try {
      await this.start()
    } catch (error) {
      if (!hasStatus(error, 404)) throw this.#failure(error)
      const recipe = await this.#recipe()
      await this.#make(recipe)
      await this.start()
    }
  }

  /** Starts it where it does not run. @throws EngineUnavailableError; dockerode's error where there is none */
  async start(): Promise<void> {
    let started = false
    for (const end = Date.now() + SETTLES_MS; ; await sleep(100)) {
      const { State } = await this.handle.inspect()
      if (State.Running && !State.Paused) return
      if (started) throw endsAtOnce(State.ExitCode)
      try {
        if (State.Paused) await this.handle.unpause()
        else await this.handle.start()
        started = true
      } catch (error) {
        // It is ending still.
        if (!(hasStatus(error, 304) || hasStatus(error, 409)) || Date.now() > end) throw this.#failure(error)
      }
    }
  }

  /** Whether its volume is there. */
  async exists(): Promise<boolean> {
    try {
      const { Labels } = await this.#docker.getVolume(this.name).inspect()
      return Labels?.[STORE] === this.#store
    } catch (error) {
      if (hasStatus(error, 404)) return false
      throw error
    }
  }

  /** Removes all of it, whatever state it is in. @throws EngineUnavailableError */
  async remove(): Promise<void> {
    try {
      for (const end = Date.now() + SETTLES_MS; ; await sleep(100)) {
        try {
          await unlessGone(this.handle.remove({ force: true, v: true }))
          await unlessGone(this.#docker.getVolume(this.name).remove())
          return
        } catch (error) {
          // Somebody else is removing it, or docker goes on making what a host asked for that is dead by now.
          if (!hasStatus(error, 409) || Date.now() > end) throw error
        }
      }
    } catch (error) {
      throw asDockerError(error, `The container of sandbox ${this.id} could not be removed`)
    }
  }

  async #recipe(): Promise<Recipe> {
    try {
      const { Labels } = await this.#docker.getVolume(this.name).inspect()
      return JSON.parse(Labels?.[RECIPE] ?? '') as Recipe
    } catch (error) {
      if (!hasStatus(error, 404)) throw this.#failure(error)
      throw new SandboxNotFoundError(`The container and the volume of sandbox ${this.id} were removed from docker.`, {
        nextStep: 'Its files are gone; the session’s messages, output and ledger are not. Begin a new session.',
        cause: error,
      })
    }
  }

  async #make({ image, workspace, network }: Recipe): Promise<void> {
    try {
      await this.#docker.createContainer({
        name: this.name,
        Image: image,
        Labels: { [STORE]: this.#store, [SANDBOX]: this.id },
        Entrypoint: ['sleep', '100000000'],
        Cmd: [],
        User: '0:0',
        WorkingDir: '/',
        Hostname: 'sandbox',
        Healthcheck: { Test: ['NONE'] },
        HostConfig: {
          Init: true,
          CapDrop: ['ALL'],
          CapAdd: [...CAPABILITIES],
          SecurityOpt: ['no-new-privileges', 'seccomp=unconfined', 'apparmor=unconfined'],
          NetworkMode: network ? 'default' : 'none',
          RestartPolicy: { Name: 'no' },
          LogConfig: { Type: 'none', Config: {} },
          Mounts: [
            { Type: 'volume', Source: this.name, Target: VOLUME },
            { Type: 'bind', Source: workspace, Target: SOURCE, ReadOnly: true },
          ],
        },
      })
      await this.handle.putArchive(engineBundle().archive(), { path: '/' })
    } catch (error) {
      throw this.#failure(error, workspace)
    }
  }

  #failure(error: unknown, workspace?: string): unknown {
    const text = error instanceof Error ? error.message : ''
    if (/bind source path does not exist|not shared|error while creating mount source path/i.test(text)) {
      return new EngineUnavailableError(
        `Docker cannot show the workspace${workspace === undefined ? '' : ` ${workspace}`} to a container: ${text}`,
        {
          nextStep: 'See that the folder is in its place (Docker Desktop: that it is shared with containers).',
          cause: error,
        },
      )
    }
    if (/executable file not found|no such file or directory/i.test(text) && hasStatus(error, 400)) {
      return new EngineUnavailableError(`The image has no whole Linux system in it: ${text}`, {
        nextStep: 'Use the product’s own image, or another one with a shell and coreutils.',
        cause: error,
      })
    }
    return hasStatus(error, 404) ? error : asDockerError(error, `The container of sandbox ${this.id} does not start`)
  }
}

const endsAtOnce = (code: number): EngineUnavailableError =>
  new EngineUnavailableError(`The container ends as soon as it was started (exit code ${code}).`, {
    nextStep: 'Use the product’s own image, or another one with a whole Linux system in it.',
  })

async function unlessGone(removing: Promise<unknown>): Promise<void> {
  try {
    await removing
  } catch (error) {
    if (!hasStatus(error, 404)) throw error
  }
}
