/** Which engine a new session gets: the options that say so, and the wait for an image that is not there yet. */
import { type Command, Option } from 'commander'
import { CancelledError } from '../contract/errors.ts'
import type { SessionOptions } from '../contract/index.ts'
import { visibleName } from '../contract/text.ts'
import type { Rpc } from '../serve/client/index.ts'
import type { Cli } from './cli.ts'

export type EngineOptions = Pick<SessionOptions, 'engine' | 'image' | 'scope'>

/** Between two lines of progress where they cannot be written over each other, milliseconds. */
const LINE_MS = 5_000

/** What REWIND_ENGINE says here is passed on: the host may have been started without it. */
export const engineOption = (): Option =>
  new Option('--engine <name>', 'auto: docker where it holds the image of the sandboxes, else local')
    .choices(['auto', 'local', 'docker'])
    .default('auto')
    .env('REWIND_ENGINE')

export const withEngineOptions = (command: Command): Command =>
  command
    .addOption(engineOption())
    .option('--image <name>', "what docker runs; the product's own by default")
    .addOption(
      new Option(
        '--scope <what>',
        'what goes back with a rewind: the whole machine (docker), or the workspace',
      ).choices(['machine', 'workspace']),
    )

/**
 * What a session is to be begun with, once the image that it needs is there. Ctrl-C calls the making of it off.
 * @param options as commander gives them
 */
export async function withImage(cli: Cli, rpc: Rpc, options: EngineOptions): Promise<EngineOptions> {
  const { engine, scope } = options
  // What is set for docker is no wish for docker.
  const image = options.image ?? (engine === 'docker' ? process.env.REWIND_IMAGE || undefined : undefined)
  if (engine === 'docker' || (engine === 'auto' && image !== undefined)) await imageReady(cli, rpc, image ?? null)
  return { engine, image, scope }
}

async function imageReady(cli: Cli, rpc: Rpc, name: string | null): Promise<void> {
  const stop = new AbortController()
  const callOff = () => stop.abort()
  process.once('SIGINT', callOff)
  const show = new Progress(cli)
  try {
    // It is not taken up by a later host: there it would begin anew.
    for await (const { text, fraction } of await rpc.engines.image(
      { name },
      { signal: stop.signal, context: { retry: 0 } },
    ))
      show.tell(visibleName(text), fraction)
  } catch (error) {
    throw stop.signal.aborted ? new CancelledError('The making of the image was called off.', { cause: error }) : error
  } finally {
    process.off('SIGINT', callOff)
    show.end()
  }
}

/** One line that is written over on a terminal, else a line now and then. */
class Progress {
  readonly #cli: Cli
  readonly #overwrite = process.stderr.isTTY === true
  #shown = 0

  constructor(cli: Cli) {
    this.#cli = cli
  }

  tell(text: string, fraction: number | null): void {
    const { out } = this.#cli
    if (this.#shown === 0) out.note('The image that the sandbox needs is not here yet; this takes some minutes, once.')
    if (!this.#overwrite && Date.now() - this.#shown < LINE_MS) return
    this.#shown = Date.now()
    const line = fraction === null ? text : `${String(Math.floor(fraction * 100)).padStart(3)}% ${text}`
    if (this.#overwrite) out.status(line)
    else out.note(line)
  }

  end(): void {
    if (this.#overwrite && this.#shown > 0) this.#cli.out.status('')
  }
}
