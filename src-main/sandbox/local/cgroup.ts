/**
 * Control groups of a sandbox, where this user may make some (cgroup v2, also beside v1 hierarchies): one per command,
 * so that a whole tree of processes, however it daemonised, is frozen or killed at one stroke.
 *
 * Moving a process into a group may cost 10 ms after a pause, so the launcher is moved ahead of time: it always sits
 * in the group of the command that comes next, and what it starts is born there.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMounts } from './mountinfo.ts'

export class ControlGroups {
  readonly #folder: string
  #serial = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.#serial = Math.max(0, ...this.#names().map(Number).filter(Number.isFinite))
  }

  /** @returns null where no group can be made */
  static open(name: string): ControlGroups | null {
    for (const parent of parents()) {
      const folder = join(parent, name)
      try {
        mkdirSync(folder, { recursive: true })
      } catch {
        // Read-only or not ours: the next place, else signals do the same work.
        continue
      }
      // Without these two files (Linux 5.2, 5.14) a group is of no use here.
      if (['cgroup.freeze', 'cgroup.kill'].every((file) => existsSync(join(folder, file)))) {
        return new ControlGroups(folder)
      }
      removeGroup(folder)
    }
    return null
  }

  /**
   * Removes what is left of a sandbox's groups, whoever made them. A process that was killed leaves its namespaces a
   * moment before it leaves its group, which cannot be removed until then.
   */
  static async remove(name: string, limitMs = 2_000): Promise<void> {
    for (const path of parents().map((parent) => join(parent, name))) {
      for (const end = Date.now() + limitMs; existsSync(path) && Date.now() < end; await sleep(1)) removeTree(path)
    }
  }

  /** A new group with this process in it. @returns its name */
  async moveToNew(pid: number): Promise<string> {
    this.#sweep()
    const name = String(++this.#serial)
    mkdirSync(join(this.#folder, name))
    await writeFile(join(this.#folder, name, 'cgroup.procs'), String(pid))
    return name
  }

  /** Kills everything in one group, except where the caller says that it holds what must live. */
  async kill(name: string, limitMs = 5_000): Promise<boolean> {
    try {
      writeFileSync(join(this.#folder, name, 'cgroup.kill'), '1')
    } catch (error) {
      if (isGone(error)) return true
      throw error
    }
    const emptied = await this.#until(name, 'populated 0', limitMs)
    removeGroup(join(this.#folder, name))
    return emptied
  }

  names(): string[] {
    return this.#names()
  }

  /** Stops everything that was started in any of the groups. @returns whether it took within the time */
  async freeze(limitMs = 2_000): Promise<boolean> {
    writeFileSync(join(this.#folder, 'cgroup.freeze'), '1')
    return this.#until('.', 'frozen 1', limitMs)
  }

  thaw(): void {
    try {
      writeFileSync(join(this.#folder, 'cgroup.freeze'), '0')
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async #until(name: string, line: string, limitMs: number): Promise<boolean> {
    for (const end = Date.now() + limitMs; ; await sleep(1)) {
      try {
        if (
          readFileSync(join(this.#folder, name, 'cgroup.events'), 'utf8')
            .split('\n')
            .includes(line)
        )
          return true
      } catch (error) {
        if (isGone(error)) return true
        throw error
      }
      if (Date.now() > end) return false
    }
  }

  /** Groups whose processes have all ended. */
  #sweep(): void {
    for (const name of this.#names()) removeGroup(join(this.#folder, name))
  }

  #names(): string[] {
    return folders(this.#folder)
  }
}

/** Where groups may be made: at the top as root, so that they outlive a login; else beneath our own. */
function parents(): string[] {
  const mount = readMounts('self').find(({ fileSystem }) => fileSystem === 'cgroup2')
  if (mount === undefined) return []
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/'
  const beneathOwn = join(mount.point, own)
  return process.getuid?.() === 0 ? [...new Set([mount.point, beneathOwn])] : [beneathOwn]
}

const folders = (path: string): string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

/** A group that still holds processes stays; it is tried again later. */
function removeGroup(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EBUSY' && code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EACCES' && code !== 'EPERM')
      throw error
  }
}

function removeTree(path: string): void {
  for (const name of folders(path)) removeGroup(join(path, name))
  removeGroup(path)
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '')
