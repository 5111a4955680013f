/**
 * The way to a docker engine: where it listens, and what to do when it does not answer.
 *
 * As docker's own client it takes DOCKER_HOST, else the context that is current, else the usual socket. It must be this
 * machine's engine: another one would see other folders under the same paths.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { EngineUnavailableError, RewindError } from '../../contract/index.ts'

/** Of the engine's API: the first that knows everything that is asked of it (docker 20.10). */
const OLDEST_API = [1, 41] as const
const ANSWER_MS = 5_000
const INSTALL = 'Install docker and start it (Debian: apt install docker.io), or use --engine local.'

export interface DockerEngine {
  docker: Docker
  /** Of the engine: '28.2.2'. */
  version: string
  /** In docker's words: amd64, arm64. */
  architecture: string
}

/**
 * Finds the engine and asks who it is.
 * @throws EngineUnavailableError where none answers within five seconds, it may not be used, is another machine's, is too
 *   old, or does not run Linux containers
 */
export async function connectDocker(env: NodeJS.ProcessEnv = process.env): Promise<DockerEngine> {
  const address = engineAddress(env)
  const path = socketPath(address)
  if (path?.startsWith('/') && !existsSync(path))
    throw new EngineUnavailableError(`No docker engine listens at ${path}.`, { nextStep: INSTALL })
  // A client of gRPC and SSH comes with it: only those who use docker wait for that.
  const { default: Client } = await import('dockerode')
  const target = path === null ? tcpOptions(address, env) : { socketPath: path }
  const about = await whoItIs(new Client({ ...target, timeout: ANSWER_MS }), address)
  const [major = 0, minor = 0] = about.ApiVersion.split('.').map(Number)
  if (major < OLDEST_API[0] || (major === OLDEST_API[0] && minor < OLDEST_API[1]))
    throw new EngineUnavailableError(
      `The docker engine at ${address} is too old: ${about.Version}, API ${about.ApiVersion}.`,
      { nextStep: 'Install docker 20.10 (API 1.41) or newer, or use --engine local.' },
    )
  if (about.Os !== 'linux')
    throw new EngineUnavailableError(`The docker engine at ${address} runs ${about.Os} containers.`, {
      nextStep: 'Switch it to Linux containers.',
    })
  return { docker: new Client(target), version: about.Version, architecture: about.Arch }
}

async function whoItIs(docker: Docker, address: string): Promise<Docker.DockerVersion> {
  const asked = Date.now()
  try {
    return await docker.version()
  } catch (error) {
    // Its own words for one that is silent are "socket hang up".
    if (Date.now() - asked >= ANSWER_MS)
      throw new EngineUnavailableError(`The docker engine at ${address} does not answer.`, {
        nextStep: 'Restart docker, then try again, or use --engine local.',
        cause: error,
      })
    throw asDockerError(error, `The docker engine at ${address} cannot be asked who it is`)
  }
}

/**
 * What went wrong between us and the engine, as one of our errors; ours pass through.
 * @param doing what it was about, as a sentence without its full stop
 */
export function asDockerError(error: unknown, doing: string): RewindError {
  if (error instanceof RewindError) return error
  const { code, statusCode, message } = Object(error) as Partial<NodeJS.ErrnoException & { statusCode: number }>
  const reason = engineSaid(message ?? String(error))
  const why = (text: string, nextStep: string) =>
    new EngineUnavailableError(`${doing}: ${text}`, { nextStep, cause: error })
  if (code === 'EACCES' || code === 'EPERM')
    return why(
      'its socket may not be opened by this user.',
      'Add yourself to the group docker (usermod -aG docker USER), then log in anew.',
    )
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return why('nobody listens there.', INSTALL)
  if (statusCode === undefined && code !== undefined)
    return why(`the connection broke (${code}).`, 'See whether docker still runs, then try again.')
  return why(reason, 'See what the engine has logged about it.')
}

/** An engine's own words, without what its client puts before them: "(HTTP code 500) server error - ". */
export const engineSaid = (text: string): string => text.replace(/^\(HTTP code \d+\) [\w ]+ - /, '').trim()

/** Whether the engine answered with that HTTP status: 404, no such thing; 409, in its way stands another. */
export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof Error && 'statusCode' in error && error.statusCode === status

/** Where the engine listens, in docker's words: `unix:///var/run/docker.sock`. */
export function engineAddress(env: NodeJS.ProcessEnv): string {
  if (env.DOCKER_HOST) return env.DOCKER_HOST.includes('://') ? env.DOCKER_HOST : `tcp://${env.DOCKER_HOST}`
  const folder = env.DOCKER_CONFIG ?? join(homedir(), '.docker')
  const context =
    env.DOCKER_CONTEXT ?? readJson<{ currentContext?: string }>(join(folder, 'config.json'))?.currentContext
  if (context !== undefined && context !== '' && context !== 'default') {
    const id = createHash('sha256').update(context).digest('hex')
    const meta = readJson<{ Endpoints?: { docker?: { Host?: string } } }>(
      join(folder, 'contexts/meta', id, 'meta.json'),
    )
    const host = meta?.Endpoints?.docker?.Host
    if (host) return host
    throw new EngineUnavailableError(`Docker's current context is ${context}, which says no address.`, {
      nextStep: '`docker context use default`, or set DOCKER_HOST.',
    })
  }
  if (process.platform === 'win32') return 'npipe:////./pipe/docker_engine'
  const usual = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')]
  return `unix://${usual.find((path) => existsSync(path)) ?? usual[0]}`
}

/** The socket or pipe of an address; null where it is none. */
function socketPath(address: string): string | null {
  return /^(?:unix|npipe):\/\/(.+)$/.exec(address)?.[1] ?? null
}

function tcpOptions(address: string, env: NodeJS.ProcessEnv): Docker.DockerOptions {
  const url = URL.parse(address)
  if (url?.protocol !== 'tcp:' || !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new EngineUnavailableError(`The docker engine at ${address} is not this machine's.`, {
      nextStep:
        'A sandbox shows a folder of this machine: use an engine that runs here (unset DOCKER_HOST, or `docker context use default`).',
    })
  const read = (name: string) => readFileSync(join(env.DOCKER_CERT_PATH ?? '', name))
  return {
    host: url.hostname,
    port: url.port || 2375,
    ...(env.DOCKER_TLS_VERIFY
      ? { protocol: 'https', ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') }
      : { protocol: 'http' }),
  }
}

/** undefined where it is missing or no JSON: then docker's client too goes on as without it. */
function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return undefined
  }
}
