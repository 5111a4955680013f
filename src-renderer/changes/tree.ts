/** The files that differ as a tree of their folders: what is drawn of it, row by row. */
import type { Change } from '../../src-main/contract/index.ts'
import { keyOf } from './path-key.ts'
import type { SeenChange } from './seen.ts'

export interface Row {
  /** Unlike any other row's. */
  key: string
  /** As it stands in the row: of a folder the whole chain that has nothing else in it, such as `src/app/lib`. */
  name: string
  path: string
  /** 1 is the outermost. */
  level: number
  /** Among the rows of the same folder. */
  place: { at: number; of: number }
  /** Null for a folder that is itself as it was. */
  change: SeenChange | null
  /** Of a row with others beneath it; null for one without. */
  folder: { isOpen: boolean; files: number } | null
}

export interface Folder {
  folders: Map<string, Folder>
  files: SeenChange[]
  name: string
  path: string
  key: string
  change: Change | null
  /** Beneath it, at any depth. */
  count: number
}

/** @param changes sorted by path, so that a folder comes before what is in it */
export function treeOf(changes: readonly SeenChange[]): Folder {
  const root = folder('', '', null)
  const holds = foldersIn(changes)
  for (const change of changes) {
    const key = keyOf(change)
    const isFolder = holds.has(key)
    const names = change.path.split('/')
    const keys = key.split('/')
    let at = root
    for (const [level, part] of (isFolder ? keys : keys.slice(0, -1)).entries()) {
      let next = at.folders.get(part)
      if (!next) {
        next = folder(names[level] ?? '', part, at === root ? null : at)
        at.folders.set(part, next)
      }
      if (!isFolder) next.count++
      at = next
    }
    if (isFolder) at.change = change
    else at.files.push(change)
  }
  return root
}

const folder = (name: string, key: string, within: Folder | null): Folder => ({
  folders: new Map(),
  files: [],
  name,
  path: within ? `${within.path}/${name}` : name,
  key: within ? `${within.key}/${key}` : key,
  change: null,
  count: 0,
})

/** The key of every path with something beneath it, whatever it is itself: a file that became a folder, say. */
function foldersIn(changes: readonly Change[]): Set<string> {
  const found = new Set<string>()
  for (const change of changes) {
    const key = keyOf(change)
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
      const parent = key.slice(0, at)
      if (found.has(parent)) break
      found.add(parent)
    }
  }
  return found
}

/** What is drawn: folders before files, each by name; nothing of what is beneath a closed folder. */
export function rowsOf(root: Folder, isClosed: (key: string) => boolean = () => false): Row[] {
  const rows: Row[] = []
  const walk = (within: Folder, level: number) => {
    const folders = [...within.folders.values()].map(joined).sort((a, b) => byName(a.name, b.name))
    const files = within.files.toSorted((a, b) => byName(a.path, b.path))
    const of = folders.length + files.length
    for (const [at, { name, folder: it }] of folders.entries()) {
      const isOpen = !isClosed(it.key)
      rows.push({
        key: it.key,
        name,
        path: it.path,
        level,
        place: { at, of },
        change: it.change,
        folder: { isOpen, files: it.count },
      })
      if (isOpen) walk(it, level + 1)
    }
    for (const [index, change] of files.entries()) {
      const name = change.path.slice(change.path.lastIndexOf('/') + 1)
      const place = { at: folders.length + index, of }
      rows.push({ key: keyOf(change), name, path: change.path, level, place, change, folder: null })
    }
  }
  walk(root, 1)
  return rows
}

/** One row for a chain of folders that have nothing but the next in them, as far as they changed alike. */
function joined(first: Folder): { name: string; folder: Folder } {
  let { name } = first
  let last = first
  while (last.files.length === 0 && last.folders.size === 1) {
    const [next] = last.folders.values()
    if (!next || next.change?.status !== last.change?.status) break
    name = `${name}/${next.name}`
    last = next
  }
  return { name, folder: last }
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The rows of the plain list, in the order of the changes. */
export const listOf = (changes: readonly SeenChange[]): Row[] =>
  changes.map((change, at) => ({
    key: keyOf(change),
    name: change.path.slice(change.path.lastIndexOf('/') + 1),
    path: change.path,
    level: 1,
    place: { at, of: changes.length },
    change,
    folder: null,
  }))

/** What is shown before anything is chosen: the first file, else the first that changed. */
export function firstFile(rows: readonly Row[]): SeenChange | null {
  const changed = rows.map(({ change }) => change).filter((change) => change !== null)
  return changed.find(({ kind }) => kind === 'file') ?? changed[0] ?? null
}

/** The row of the folder that a row is in; -1 for an outermost one. */
export function parentOf(rows: readonly Row[], at: number): number {
  const level = rows[at]?.level ?? 1
  for (let above = at - 1; above >= 0; above--) if ((rows[above]?.level ?? 1) < level) return above
  return -1
}
