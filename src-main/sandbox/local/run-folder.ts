/**
 * A command's run folder: inside the sandbox, in the machine layer, so that all of the command, its files too, is
 * there where a later host looks for it. The agent owns it, so it is read as everything that an agent made: never by
 * name alone.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import {
  EngineUnavailableError,
  FileNotFoundError,
  InvalidOptionError,
  InvalidPathError,
} from '../../contract/index.ts'
import { quote } from '../channel/index.ts'
import { openBeneath } from '../layers/index.ts'
import type { CommandSpec } from '../sandbox.ts'
import { entryOf, removeAt } from './remove-at.ts'
import { RUN_FOLDER } from './root-plan.ts'
import type { Agent } from './state.ts'
import { KEYS_FILE, onTerminal, TERMINAL_FILE, TTY_FILE } from './terminal.ts'

/** What a later host must know of a command, beside what its supervisor writes. */
export interface CommandMeta {
  id: string
  /** Milliseconds since 1970. */
  startedAt: number
  /** When it has to end, milliseconds since 1970; null: never. */
  deadline: number | null
}

/** How a command ended, as its supervisor wrote it. */
export interface RecordedEnd {
  code: number
  signalled: boolean
}

/** Who waits for a command's end, as the sandbox numbers it. */
export interface Supervisor {
  pid: number
  /** As the kernel counts it (proc(5), field 22); null where an earlier version of this product started it. */
  startTime: string | null
}

/** The kernel takes 131,072 bytes as one argument of a program. */
const ARGUMENT_BYTES = 120_000

/** A command's id as a folder name: itself where that is safe, else a digest. */
export const folderName = (id: string): string =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(id) ? id : createHash('sha256').update(id).digest('hex')

export class RunFolders {
  /** The folder of run folders, as this process opens it. */
  readonly #root: () => string
  readonly #agent: Agent
  readonly #own: boolean
  readonly #starter: readonly string[]

  /**
   * @param starter the words before each command
   * @param own whether this process is the agent's user already
   */
  constructor(root: () => string, agent: Agent, starter: readonly string[], own: boolean) {
    this.#root = root
    this.#starter = starter
    this.#agent = agent
    this.#own = own
  }

  /**
   * Makes the folder with all that the launcher needs. The agent may be at work beside it, and as an ordinary user it
   * can rename what it likes there: everything is written through the descriptor of the folder that was made, as files
   * that are new. As root the folder becomes the agent's last.
   * @throws InvalidOptionError (the name was used), EngineUnavailableError (the agent meddled); the system's ENOSPC
   */
  create(name: string, meta: CommandMeta, spec: CommandSpec, dir: string, env: Readonly<Record<string, string>>): void {
    this.#inRoot((root) => {
      makeNew(root, name, spec.id)
      try {
        const folder = openOwn(root, name)
        try {
          for (const [file, content] of launchFiles(name, meta, spec, dir, env, this.#starter))
            writeNew(folder, file, content)
          if (!this.#own) fchownSync(folder, this.#agent.uid, this.#agent.gid)
        } finally {
          closeSync(folder)
        }
      } catch (error) {
        removeAt(root, name)
        throw MEDDLED.has((error as NodeJS.ErrnoException).code ?? '') ? meddled(error) : error
      }
    })
  }

  names(): string[] {
    return readdirSync(this.#root(), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  }

  async meta(name: string): Promise<CommandMeta | null> {
    const first = (await this.#text(name, 'launch')).split('\n', 1)[0] ?? ''
    try {
      const { id, startedAt, deadline } = JSON.parse(first.slice(1)) as CommandMeta
      return folderName(id) === name ? { id, startedAt, deadline } : null
    } catch {
      return null
    }
  }

  async recordedEnd(name: string): Promise<RecordedEnd | null> {
    const found = /^(\d{1,3}) (signal)?\n/.exec(await this.#text(name, 'exit'))
    return found ? { code: Number(found[1]), signalled: found[2] !== undefined } : null
  }

  /** Null before it was written down. */
  async supervisor(name: string): Promise<Supervisor | null> {
    const [, pid, startTime = null] = /^(\d{1,9})(?: (\d{1,20}))?\n/.exec(await this.#text(name, 'pid')) ?? []
    return pid === undefined ? null : { pid: Number(pid), startTime }
  }

  /** The FIFO for what is typed, open for writing without waiting; null where the command has none that is read. */
  async keys(name: string): Promise<number | null> {
    try {
      return await openBeneath(this.#root(), `${name}/${KEYS_FILE}`, constants.O_WRONLY, { fifo: true })
    } catch (error) {
      if (error instanceof FileNotFoundError || error instanceof InvalidPathError) return null
      throw error
    }
  }

  /** Where its terminal is, as the sandbox names it; null where it has none yet. */
  async terminal(name: string): Promise<string | null> {
    return /^\/dev\/pts\/\d+(?=\n)/.exec(await this.#text(name, TTY_FILE))?.[0] ?? null
  }

  async size(name: string, file: string): Promise<number> {
    return this.#with(name, file, 0, (fd) => fstatSync(fd).size)
  }

  async read(name: string, file: string, offset: number, limit: number): Promise<Uint8Array> {
    return this.#with(name, file, new Uint8Array(), (fd) => {
      const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(limit, fstatSync(fd).size - offset)))
      let filled = 0
      while (filled < bytes.length) {
        const got = readSync(fd, bytes, filled, bytes.length - filled, offset + filled)
        if (got === 0) break
        filled += got
      }
      return bytes.subarray(0, filled)
    })
  }

  /** As far as the agent lets it be removed; what stays is no run folder, as its `launch` is gone. */
  remove(name: string): void {
    this.#inRoot((root) => removeAt(root, name))
  }

  /** The folder of run folders is a mount point of ours: it alone is opened by name. */
  #inRoot(use: (root: number) => void): void {
    const root = openSync(this.#root(), constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      use(root)
    } finally {
      closeSync(root)
    }
  }

  async #text(name: string, file: string): Promise<string> {
    return Buffer.from(await this.read(name, file, 0, 1 << 16)).toString('utf8')
  }

  async #with<T>(name: string, file: string, absent: T, use: (fd: number) => T): Promise<T> {
    let fd: number
    try {
      fd = await openBeneath(this.#root(), `${name}/${file}`, constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (error) {
      // The agent may do as it likes with its own output, also remove it or put something else in its place.
      if (error instanceof FileNotFoundError || error instanceof InvalidPathError) return absent
      throw error
    }
    try {
      return use(fd)
    } finally {
      closeSync(fd)
    }
  }
}

/** What open(2) and mkdir(2) say where a name is not what it was a moment ago. */
const MEDDLED = new Set(['EEXIST', 'ELOOP', 'ENOTDIR', 'ENOENT'])

const meddled = (cause: unknown): EngineUnavailableError =>
  new EngineUnavailableError(
    'The command was not started: something in the sandbox changed its run folder meanwhile.',
    {
      nextStep: 'Roll back, which ends what runs in the sandbox, or try again.',
      cause,
    },
  )

function makeNew(root: number, name: string, id: string): void {
  try {
    mkdirSync(entryOf(root, name), { mode: 0o755 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new InvalidOptionError(`The command id ${JSON.stringify(id)} was used before.`, {
      nextStep: 'Give each command an id of its own.',
    })
  }
}

/** The folder that was made a moment ago; whatever else is there by now is refused. */
function openOwn(root: number, name: string): number {
  const folder = openSync(entryOf(root, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const [{ uid, dev }, within] = [fstatSync(folder), fstatSync(root)]
  if (uid === process.geteuid?.() && dev === within.dev) return folder
  closeSync(folder)
  throw meddled(null)
}

function writeNew(folder: number, name: string, content: string | Uint8Array): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const fd = openSync(entryOf(folder, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    writeFileSync(fd, content)
  } finally {
    closeSync(fd)
  }
}

/** What becomes the command reads them: its shell lines last, as a folder that holds them is one that was made whole. */
function launchFiles(
  name: string,
  meta: CommandMeta,
  { command, stdin, terminal }: CommandSpec,
  dir: string,
  env: Readonly<Record<string, string>>,
  starter: readonly string[],
): [file: string, content: string | Uint8Array][] {
  const files: [string, string | Uint8Array][] = []
  const inside = `${RUN_FOLDER}/${name}`
  if (stdin !== undefined) files.push(['stdin', stdin])
  let words = typeof command === 'string' ? ['sh', '-c', command] : command
  if (typeof command === 'string' && Buffer.byteLength(command) > ARGUMENT_BYTES) {
    files.push(['script', command])
    words = ['sh', `${inside}/script`]
  }
  const lines = [`#${JSON.stringify(meta)}`]
  const odd: string[] = []
  for (const [key, value] of Object.entries(env)) {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) lines.push(`export ${key}=${quote(value)}`)
    else odd.push(`${key}=${value}`)
  }
  // Names that no shell can export.
  if (odd.length > 0) words = ['env', ...odd, ...words]
  if (terminal !== undefined) {
    const shown = onTerminal(inside, words, terminal, env.SHELL ?? '/bin/sh')
    files.push([TERMINAL_FILE, shown.file])
    words = shown.words
  }
  const input = stdin === undefined ? '/dev/null' : `${inside}/stdin`
  lines.push(`set -- ${[dir, name, input, ...starter, ...words].map(quote).join(' ')}`)
  files.push(['launch', `${lines.join('\n')}\n`])
  return files
}
