/**
 * Which of the changes a repository ignores, by its rules as they are with the changes made.
 *
 * git asks for rules along the path and is told no kind of what it names but by the name. So it is shown a tree that
 * holds nothing but the rules: asked in the work tree itself it gives up at the first path that a symlink or another
 * repository stands in.
 */
import { copyFile, lstat, mkdir } from 'node:fs/promises'
import { git } from './git.ts'
import type { GitRepository } from './git-repository.ts'

export interface Ignorable {
  path: Uint8Array
  content: { file: string } | { target: Uint8Array } | null
}

const RULES = '.gitignore'
/** Nobody writes rules of this size; git would hold all of them in memory. */
const MOST_BYTES = 16 << 20
/** Longer paths cannot be opened in one piece; what git does not find it takes for no rules. */
const MOST_PATH_BYTES = 3800

/**
 * @param tree an empty folder for this alone
 * @param index environment with the index that says what is no longer asked about: what the commit below holds
 */
export async function ignoredOf<T extends Ignorable>(
  entries: readonly T[],
  repository: GitRepository,
  tree: string,
  index: Record<string, string>,
): Promise<Set<T>> {
  const asked = new Map<string, T>()
  const rules = new Map<string, T>()
  const folders = new Set([''])
  for (const entry of entries) {
    const name = repository.pathOf(entry.path).toString('latin1')
    // No name is taken for a pattern behind a dot and a slash.
    if (entry.content !== null) asked.set(`./${name}`, entry)
    if (entry.content !== null)
      for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) folders.add(name.slice(0, at))
    if (name === RULES || name.endsWith(`/${RULES}`)) rules.set(name, entry)
  }
  await layRules(folders, rules, repository.top, Buffer.from(tree))
  const { stdout } = await git(['check-ignore', '-z', '--stdin'], {
    cwd: tree,
    env: { ...index, GIT_WORK_TREE: tree },
    stdin: [...asked.keys()].map((name) => Buffer.from(`${name}\0`, 'latin1')),
    answers: [0, 1],
  })
  return new Set(
    stdout
      .toString('latin1')
      .split('\0')
      .flatMap((name) => asked.get(name) ?? []),
  )
}

async function layRules(
  folders: ReadonlySet<string>,
  changed: ReadonlyMap<string, Ignorable>,
  top: Buffer,
  tree: Buffer,
): Promise<void> {
  /** Folders of the work tree that are reached through nothing but folders. */
  const real = new Set<string>()
  // A folder comes after those that it lies in.
  for (const folder of [...folders].sort()) {
    if (folder.length > MOST_PATH_BYTES) continue
    const isBelowReal = folder === '' || real.has(folder.slice(0, Math.max(0, folder.lastIndexOf('/'))))
    if (isBelowReal && (await lstat(beneath(top, folder)).catch(() => null))?.isDirectory()) real.add(folder)
    const name = folder === '' ? RULES : `${folder}/${RULES}`
    const change = changed.get(name)
    const from = change ? stagedFile(change) : real.has(folder) ? beneath(top, name) : null
    if (from === null || !(await areRules(from))) continue
    await mkdir(beneath(tree, folder), { recursive: true })
    await copyFile(from, beneath(tree, name))
  }
}

const stagedFile = ({ content }: Ignorable): string | null =>
  content !== null && 'file' in content ? content.file : null

/** git, too, does not follow a symlink of this name. */
async function areRules(path: string | Buffer): Promise<boolean> {
  const found = await lstat(path).catch(() => null)
  return found?.isFile() === true && found.size <= MOST_BYTES
}

const beneath = (folder: Buffer, name: string): Buffer =>
  name === '' ? folder : Buffer.concat([folder, Buffer.from('/'), Buffer.from(name, 'latin1')])
