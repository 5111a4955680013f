/**
 * The images that sandboxes of the docker engine run in: the product's own, which is built here from its recipe, and any
 * other, which is pulled. Making one takes minutes, so it tells how far it is, and can be called off.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type Docker from 'dockerode'
import tar from 'tar-stream'
import { CancelledError, DiskFullError, EngineUnavailableError, InvalidOptionError } from '../../contract/index.ts'
import { resourceFolder } from '../resources.ts'
import { asDockerError, engineSaid, hasStatus } from './connect.ts'

/** How far the making of an image is. */
export interface ImageProgress {
  /** One line for a person: a step of the recipe, what a package manager says, which layers are being fetched. */
  text: string
  /** Of the whole, from 0 to 1; null where that cannot be known. */
  fraction: number | null
}

export interface MakeImageOptions {
  onProgress?: (progress: ImageProgress) => void
  signal?: AbortSignal
  /** Folder of the recipe that the product's image is built from; the package's own by default. */
  recipe?: string
}

/** What is sent to the engine to build from, in the order that the name is computed in. */
const RECIPE = ['Dockerfile', 'packages'] as const

/** The name of the product's own image. It holds the recipe's hash: another recipe is another image. */
export function productImage(recipe = ownRecipe()): string {
  const hash = createHash('sha256')
  for (const { content } of filesOf(recipe)) hash.update(content)
  return `rewind-sandbox:${hash.digest('hex').slice(0, 12)}`
}

/** Whether the engine holds an image. @throws InvalidOptionError where no image can have that name, EngineUnavailableError */
export async function imageState(docker: Docker, name: string): Promise<'present' | 'absent'> {
  if (!NAME.test(name)) throw noSuchName(name)
  try {
    await docker.getImage(name).inspect()
    return 'present'
  } catch (error) {
    if (hasStatus(error, 404)) return 'absent'
    if (hasStatus(error, 400)) throw noSuchName(name, error)
    throw asDockerError(error, `The docker engine was asked for the image ${name}`)
  }
}

/**
 * Builds the product's image, or pulls another one; does nothing where it is there. What was called off or failed leaves
 * no image of that name, and goes on from what it had when it is asked for again.
 * @throws InvalidOptionError where there is no such image to pull, CancelledError, DiskFullError, EngineUnavailableError
 *   (`data.log`: the last lines that were said)
 */
export async function ensureImage(docker: Docker, name: string, options: MakeImageOptions = {}): Promise<void> {
  if ((await imageState(docker, name)) === 'present') return
  const recipe = options.recipe ?? ownRecipe()
  const own = name === productImage(recipe)
  const said: string[] = []
  const onProgress = (progress: ImageProgress) => {
    said.push(progress.text)
    if (said.length > 40) said.shift()
    options.onProgress?.(progress)
  }
  const { signal } = options
  try {
    signal?.throwIfAborted()
    if (own) await build(docker, name, filesOf(recipe), { onProgress, signal })
    else await pull(docker, name, { onProgress, signal })
  } catch (error) {
    throw asImageError(error, { name, own, said, signal })
  }
  // A stream that ends early ends as one that is through.
  if ((await imageState(docker, name)) === 'absent')
    throw new EngineUnavailableError(`The image ${name} was not finished: the engine stopped in its middle.`, {
      nextStep: 'See whether docker still runs, then try again.',
      data: { log: said },
    })
}

interface Making {
  onProgress: (progress: ImageProgress) => void
  signal: AbortSignal | undefined
}

async function build(
  docker: Docker,
  name: string,
  files: readonly RecipeFile[],
  { onProgress, signal }: Making,
): Promise<void> {
  const context = tar.pack()
  for (const { file, content } of files) context.entry({ name: file, mode: 0o644 }, content)
  context.finalize()
  const stream = await docker.buildImage(context, { t: name, forcerm: true, buildargs: proxies(), ...aborting(signal) })
  let step = 0
  await follow(docker, stream, signal, (event) => {
    for (const text of lines(event.stream ?? event.status)) {
      const [, at, of] = /^Step (\d+)\/(\d+) :/.exec(text) ?? []
      if (at !== undefined) step = (Number(at) - 1) / Number(of)
      onProgress({ text, fraction: step })
    }
  })
}

async function pull(docker: Docker, name: string, { onProgress, signal }: Making): Promise<void> {
  // Without a tag the engine would fetch all of them.
  const wanted = /[:@][^/]+$/.test(name) ? name : `${name}:latest`
  const stream = await docker.pull(wanted, aborting(signal))
  const layers = new Map<string, { got: number; size: number }>()
  await follow(docker, stream, signal, ({ id, status, progressDetail }) => {
    if (status === undefined) return
    const size = progressDetail?.total
    if (id !== undefined && size)
      layers.set(id, { got: status === 'Downloading' ? (progressDetail?.current ?? 0) : size, size })
    onProgress({ text: id === undefined ? status : `${id}: ${status}`, fraction: fractionOf([...layers.values()]) })
  })
}

/** What the engine tells while it makes an image, a line of JSON each. */
interface EngineEvent {
  stream?: string
  status?: string
  id?: string
  progressDetail?: { current?: number; total?: number }
  error?: string
}

/** Follows what the engine tells to its end. @throws what it says went wrong, or the abort's reason */
async function follow(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  signal: AbortSignal | undefined,
  onEvent: (event: EngineEvent) => void,
): Promise<void> {
  // The engine gives up what nobody follows any more.
  const leave = () => (stream as Readable).destroy(signal?.reason)
  signal?.addEventListener('abort', leave)
  try {
    await new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null) => (error === null ? resolve() : reject(error))
      docker.modem.followProgress(stream, settle, (event: EngineEvent) => {
        if (event.error === undefined) onEvent(event)
        else settle(new Error(event.error))
      })
    })
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}

function asImageError(
  error: unknown,
  { name, own, said, signal }: { name: string; own: boolean; said: string[]; signal: AbortSignal | undefined },
): Error {
  const doing = `The image ${name} could not be ${own ? 'built' : 'pulled'}`
  if (signal?.aborted) return new CancelledError(`The making of the image ${name} was called off.`, { cause: error })
  const text = engineSaid(error instanceof Error ? error.message : String(error))
  if (/no space left on device/i.test(text))
    return new DiskFullError(`${doing}: the disk of the docker engine is full.`, {
      nextStep: 'Free some space there (`docker system df` shows what it holds), then try again.',
      cause: error,
    })
  if (!own && (hasStatus(error, 404) || /manifest unknown|not found|access.* denied/i.test(text)))
    return new InvalidOptionError(`There is no image ${name} to be pulled: ${text}`, {
      nextStep: 'Look at its name, or leave it out: the product has its own.',
      cause: error,
    })
  // The engine's own word says the least: "returned a non-zero code: 100".
  const last = said.findLast((line) => /^\W*(E:|error|fatal)/i.test(line)) ?? text
  if (error instanceof Error && 'code' in error) return asDockerError(error, doing)
  return new EngineUnavailableError(`${doing}: ${last}`, {
    nextStep: 'See whether this machine reaches the network, then try again: what was done is kept.',
    data: { log: said },
    cause: error,
  })
}

interface RecipeFile {
  file: string
  content: Buffer
}

const ownRecipe = (): string => resourceFolder('sandbox-image')

const filesOf = (recipe: string): RecipeFile[] =>
  RECIPE.map((file) => ({ file, content: readFileSync(join(recipe, file)) }))

/** The way out to the network that this machine's programs take; an engine passes it to a build, and does not keep it. */
function proxies(): Record<string, string> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

const aborting = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {})

/** What was said, without colours and empty lines; of a line that was written over, its last form. */
function lines(text = ''): string[] {
  const last = (line: string) => line.split('\r').findLast((part) => part.trim() !== '')
  return stripVTControlCharacters(text)
    .split('\n')
    .flatMap((line) => last(line)?.trimEnd() ?? [])
}

function fractionOf(layers: readonly { got: number; size: number }[]): number | null {
  const size = layers.reduce((sum, layer) => sum + layer.size, 0)
  return size === 0 ? null : layers.reduce((sum, layer) => sum + layer.got, 0) / size
}

/** What an image's name is made of; the engine knows the rest of the rules. */
const NAME = /^[A-Za-z0-9][\w./:@-]*$/

const noSuchName = (name: string, cause?: unknown) =>
  new InvalidOptionError(`${JSON.stringify(name)} is not the name of an image.`, {
    nextStep: 'An image is named as in `docker pull`: debian:sid-slim, ghcr.io/someone/something.',
    cause,
  })
