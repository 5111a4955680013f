/**
 * Looks up many paths of one stack. The folders on the way to the last one are kept, so that paths in order cost one
 * lookup each, and no more descriptors are open than the deepest path has folders.
 */
import type { ByteString } from './names.ts'
import { closeFolder, type Stack, type TreeEntry, type TreeFolder } from './stack.ts'

interface Step {
  name: ByteString
  folder: TreeFolder
}

export class PathWalk {
  readonly #stack: Stack
  readonly #root: TreeFolder | null
  #trail: Step[] = []

  constructor(stack: Stack) {
    this.#stack = stack
    this.#root = stack.root()
  }

  /**
   * What the stack has at a path; no symlink is followed. A folder is closed by whoever asked.
   * @param path relative, without '.' and '..'
   */
  async find(path: ByteString): Promise<TreeEntry | null> {
    const names = path.split('/')
    const last = names.pop() ?? ''
    const known = this.#trail.findIndex(({ name }, at) => name !== names[at])
    const kept = known === -1 ? Math.min(this.#trail.length, names.length) : known
    for (const { folder } of this.#trail.splice(kept)) closeFolder(folder)
    for (const name of names.slice(kept)) {
      const folder = this.#here()
      const entry = folder && (await this.#stack.lookup(folder, name))
      if (entry?.kind !== 'folder') return null
      this.#trail.push({ name, folder: entry })
    }
    const folder = this.#here()
    return folder && this.#stack.lookup(folder, last)
  }

  close(): void {
    for (const { folder } of this.#trail.splice(0)) closeFolder(folder)
  }

  #here(): TreeFolder | null {
    return this.#trail.at(-1)?.folder ?? this.#root
  }
}
