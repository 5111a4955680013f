/**
 * A command's run folder: inside the sandbox, in the machine layer, so that all of the command, its files too, is
 * there where a later host looks for it. The agent owns it, so it is read as everything that an agent made: never by
 * name alone.
 */
import { createHash } from 'node:crypto'
import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { quote } from '../channel/index.ts'
import { openBeneath } from '../layers/index.ts'
import type { CommandSpec } from '../sandbox.ts'
import { RUN_FOLDER } from './root-plan.ts'
import type { Agent } from './state.ts'

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

  /** @param own whether this process is the agent's user already */
  constructor(root: () => string, agent: Agent, own: boolean) {
    this.#root = root
    this.#agent = agent
    this.#own = own
  }

  /** Makes the folder with all that the launcher needs. @throws the system's ENOSPC */
  create(name: string, meta: CommandMeta, spec: CommandSpec, dir: string, env: Readonly<Record<string, string>>): void {
    const folder = join(this.#root(), name)
    mkdirSync(folder, { mode: 0o755 })
    if (!this.#own) chownSync(folder, this.#agent.uid, this.#agent.gid)
    if (spec.stdin !== undefined) writeFileSync(join(folder, 'stdin'), spec.stdin, { mode: 0o644 })
    const inside = `${RUN_FOLDER}/${name}`
    let words = typeof spec.command === 'string' ? ['sh', '-c', spec.command] : spec.command
    if (typeof spec.command === 'string' && Buffer.byteLength(spec.command) > ARGUMENT_BYTES) {
      writeFileSync(join(folder, 'script'), spec.command, { mode: 0o644 })
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
    lines.push(`dir=${quote(dir)}`)
    lines.push(`stdin=${quote(spec.stdin === undefined ? '/dev/null' : `${inside}/stdin`)}`)
    lines.push(`set -- ${words.map(quote).join(' ')}`)
    writeFileSync(join(folder, 'launch'), `${lines.join('\n')}\n`, { mode: 0o644 })
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

  /** The supervisor's pid as the sandbox numbers it; null before it wrote it. */
  async supervisor(name: string): Promise<number | null> {
    const pid = Number((await this.#text(name, 'pid')).trim())
    return pid > 0 ? pid : null
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

  remove(name: string): void {
    rmSync(join(this.#root(), name), { recursive: true, force: true })
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
