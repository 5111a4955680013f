/**
 * The engines of a host, and which of them a session gets. Docker is the one that isolates best, and it needs an image
 * that takes minutes to make: so `auto` takes it where that was done, and nobody waits who did not ask for it.
 */
import {
  type Check,
  EngineChoice,
  type EngineName,
  type EnginesOffer,
  EngineUnavailableError,
  InvalidOptionError,
  type SandboxScope,
  type SessionOptions,
} from '../contract/index.ts'
import {
  connectDocker,
  createDockerProvider,
  createLocalProvider,
  ensureImage,
  imageState,
  productImage,
  type SandboxProvider,
} from '../sandbox/index.ts'
import { Images } from './images.ts'

type Wish = Pick<SessionOptions, 'engine' | 'image' | 'scope'>

/** What a session is begun with. */
export type Choice =
  | { engine: 'docker'; image: string; scope: SandboxScope }
  | { engine: 'local'; image: null; scope: 'workspace' }

const MAKE_IT = '`rewind init PATH --engine docker` makes it, which takes some minutes.'

export class Engines {
  readonly #providers: Readonly<Record<EngineName, SandboxProvider>>
  readonly #env: NodeJS.ProcessEnv
  readonly images = new Images(async (name, options) => {
    const { docker } = await connectDocker(this.#env)
    await ensureImage(docker, name, options)
  })

  constructor(providers: Readonly<Record<EngineName, SandboxProvider>>, env: NodeJS.ProcessEnv = process.env) {
    this.#providers = providers
    this.#env = env
  }

  of(engine: EngineName): SandboxProvider {
    return this.#providers[engine]
  }

  /** The image of a sandbox that names none: what REWIND_IMAGE says, else the product's own. */
  get image(): string {
    return this.#env.REWIND_IMAGE || productImage()
  }

  /**
   * @throws InvalidOptionError where the wish is none that an engine could fulfil, EngineUnavailableError where the engine
   *   that it comes to cannot be used here
   */
  async choose({ engine: wished, image, scope }: Wish): Promise<Choice> {
    let engine = wished === 'auto' ? this.#preset() : wished
    if (engine === 'local') assertLocalCan({ image, scope })
    // Only docker has these, so whoever asks for them has chosen.
    if (engine === 'auto' && (image !== undefined || scope === 'machine')) engine = 'docker'
    if (engine === 'auto') {
      const { auto, local, docker } = await this.offer()
      if (auto.engine === null)
        throw new EngineUnavailableError(`No engine can run here. ${auto.why}`, {
          nextStep:
            [local, docker].map((offer) => (offer.ok ? '' : offer.remedy)).find((remedy) => remedy !== '') ?? null,
        })
      engine = auto.engine
    }
    const available = await this.of(engine).available()
    if (!available.ok)
      throw new EngineUnavailableError(`The ${engine} engine cannot run here: ${available.reason}`, {
        nextStep: available.remedy,
      })
    return engine === 'local'
      ? { engine, image: null, scope: 'workspace' }
      : { engine, image: image ?? this.image, scope: scope ?? 'machine' }
  }

  /** What there is, and what `auto` comes to; never throws. */
  async offer(): Promise<EnginesOffer> {
    const [local, docker] = await Promise.all([this.of('local').available(), this.of('docker').available()])
    const present = docker.ok ? await this.#holds(this.image) : null
    const offer = { local, docker, image: { name: this.image, present } }
    const preset = this.#presetOrNone()
    if (preset !== 'auto') return { ...offer, auto: { engine: preset, why: 'REWIND_ENGINE says so.' } }
    if (docker.ok && present)
      return { ...offer, auto: { engine: 'docker', why: 'Docker answers, and holds the image of the sandboxes.' } }
    const lacks = docker.ok ? `Docker does not hold the image ${this.image} yet.` : docker.reason
    return { ...offer, auto: { engine: local.ok ? 'local' : null, why: local.ok ? lacks : `${local.reason} ${lacks}` } }
  }

  /** For `doctor`. */
  async checks(): Promise<Check[]> {
    const { local, docker, image, auto } = await this.offer()
    const lacks = docker.ok && !image.present
    return [
      local.ok
        ? { name: 'local', ok: true, detail: local.detail, remedy: null }
        : { name: 'local', ok: false, detail: local.reason, remedy: local.remedy },
      docker.ok
        ? {
            name: 'docker',
            ok: !lacks,
            detail: `${docker.detail}, ${lacks ? 'without' : 'with'} the image ${image.name}`,
            remedy: lacks ? MAKE_IT : null,
          }
        : { name: 'docker', ok: false, detail: docker.reason, remedy: docker.remedy },
      {
        name: 'engine',
        ok: auto.engine !== null,
        detail: `${auto.engine ?? 'none'}, where nobody says which: ${auto.why}`,
        remedy: auto.engine === null ? 'See the lines local and docker.' : null,
      },
    ]
  }

  async #holds(image: string): Promise<boolean> {
    try {
      const { docker } = await connectDocker(this.#env)
      return (await imageState(docker, image)) === 'present'
    } catch {
      // It answered a moment ago; whoever needs the image meets what is wrong now.
      return false
    }
  }

  /** @throws InvalidOptionError where REWIND_ENGINE names none */
  #preset(): EngineChoice {
    const set = this.#env.REWIND_ENGINE || 'auto'
    const engine = EngineChoice.safeParse(set)
    if (engine.success) return engine.data
    throw new InvalidOptionError(`REWIND_ENGINE is ${JSON.stringify(set)}, which is no engine.`, {
      nextStep: `Set it to ${EngineChoice.options.join(', ')}, or to nothing.`,
    })
  }

  #presetOrNone(): EngineChoice {
    try {
      return this.#preset()
    } catch {
      return 'auto'
    }
  }
}

/** @throws InvalidOptionError for what only docker has */
function assertLocalCan({ image, scope }: Pick<Wish, 'image' | 'scope'>): void {
  const option = image !== undefined ? 'an image' : scope === 'machine' ? 'the scope machine' : null
  if (option === null) return
  throw new InvalidOptionError(`The local engine has no use for ${option}: it shows this machine's own tools.`, {
    nextStep: 'Take the docker engine, or leave that option out.',
    data: { option: image !== undefined ? 'image' : 'scope' },
  })
}

export function createEngines(
  { home, storeId }: { home: string; storeId: string },
  env: NodeJS.ProcessEnv = process.env,
): Engines {
  return new Engines({ local: createLocalProvider({ home }), docker: createDockerProvider({ home, storeId }) }, env)
}
