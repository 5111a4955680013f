/** Folders below which agents may begin sessions: kept with the data folder, compared by where paths really lead. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { InvalidPathError } from '../contract/index.ts'

/** Where the list is kept. */
export interface AllowedStorage {
  load(): string | null
  save(value: string): void
}

export class AllowedFolders {
  readonly #storage: AllowedStorage
  #folders: string[]
  /** Called when folders were opened or closed. */
  onChange: () => void = () => {}

  constructor(storage: AllowedStorage) {
    this.#storage = storage
    this.#folders = parse(storage.load())
  }

  get folders(): readonly string[] {
    return this.#folders
  }

  /**
   * Opens a folder and all that is below it.
   * @throws InvalidPathError for what is no folder, and for `/`: that would open everything
   */
  add(path: string): void {
    const folder = leadsTo(path)
    if (!isAbsolute(path) || !existsSync(folder) || !statSync(folder).isDirectory())
      throw new InvalidPathError(`${path} is no folder.`, {
        nextStep: 'Give the whole path of a folder that is there.',
      })
    if (folder === '/')
      throw new InvalidPathError('Allowing / would open the whole machine to agents.', {
        nextStep: 'Name the folder that your projects are in.',
      })
    if (this.#folders.includes(folder)) return
    this.#keep([...this.#folders, folder])
  }

  /** Closes what was opened under this path. */
  remove(path: string): void {
    const folder = leadsTo(path)
    this.#keep(this.#folders.filter((one) => one !== folder && one !== path))
  }

  /** @param more folders that count beside those of the list */
  admits(path: string, more: readonly string[] = []): boolean {
    if (!isAbsolute(path)) return false
    const wanted = leadsTo(path)
    return [...this.#folders, ...more.map(leadsTo)].some((folder) => isBelow(wanted, folder))
  }

  #keep(folders: string[]): void {
    this.#storage.save(JSON.stringify(folders))
    this.#folders = folders
    this.onChange()
  }
}

/** Where a path really leads, also one whose last parts are yet to be made. */
export function leadsTo(path: string): string {
  const missing: string[] = []
  for (let folder = join(path, '.'); ; folder = dirname(folder)) {
    try {
      return join(realpathSync(folder), ...missing)
    } catch {
      if (dirname(folder) === folder) return path
      missing.unshift(basename(folder))
    }
  }
}

function isBelow(inner: string, outer: string): boolean {
  const way = relative(outer, inner)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

function parse(text: string | null): string[] {
  const value: unknown = text === null ? [] : JSON.parse(text)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
