/** What is prepared is done whole or not at all, whoever else writes to the folder meanwhile, and nowhere else. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { CommitConflictError, InvalidPathError } from '../contract/index.ts'
import { apply, takeBack } from './apply.ts'
import { HostTree, isFolder, seenOf } from './host-tree.ts'
import { type Replacement, readWork, type Work, writeWork } from './steps.ts'
import { prepareUndo } from './undo.ts'

type Entry = { file: string; mode?: number } | { link: string } | 'folder'
type Tree = Record<string, Entry>

let root: string
let folder: string
let outside: string
const workspace = () => join(root, 'workspace')

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rewind-apply-'))
  folder = join(root, 'staging')
  outside = join(root, 'outside')
  for (const path of [workspace(), outside, join(folder, 'new'), join(folder, 'old')])
    mkdirSync(path, { recursive: true })
  writeFileSync(join(outside, 'secret'), 'untouched')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function make(path: string, entry: Entry): void {
  if (entry === 'folder') mkdirSync(path)
  else if ('link' in entry) symlinkSync(entry.link, path)
  else {
    writeFileSync(path, entry.file)
    chmodSync(path, entry.mode ?? 0o644)
  }
}

const fill = (tree: Tree) => {
  for (const path of Object.keys(tree).sort()) make(join(workspace(), path), tree[path] as Entry)
}

/** Everything beneath a folder, with content and modes of files. */
function read(path: string): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (inner: string) => {
    for (const name of readdirSync(join(path, inner)).sort()) {
      const at = inner === '' ? name : `${inner}/${name}`
      const stat = lstatSync(join(path, at))
      if (stat.isDirectory()) {
        found[at] = 'folder'
        walk(at)
      } else if (stat.isSymbolicLink()) found[at] = `-> ${readlinkSync(join(path, at))}`
      else found[at] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(join(path, at), 'utf8')}`
    }
  }
  walk('')
  return found
}

/** From what stands in the workspace to `after`, prepared in the staging folder. */
function workTo(after: Tree): Work {
  const tree = new HostTree(workspace())
  const paths = new Set([...Object.keys(read(workspace())), ...Object.keys(after)])
  const replacements: Replacement[] = []
  for (const path of paths) {
    const old = tree.look(path)
    const wanted = after[path]
    if (wanted === 'folder' && old && (old.mode & 0o170000) === 0o040000) continue
    const n = String(replacements.length)
    if (wanted !== undefined) make(join(folder, 'new', n), wanted)
    replacements.push({ path, old, fresh: seenOf(join(folder, 'new', n)) })
  }
  const work = { workspace: workspace(), root: tree.root, replacements, modes: [] }
  tree.close()
  return work
}

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, as in Numerical Recipes. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES = ['a', 'b', 'a-b', 'c']

function randomTree(next: (below: number) => number): Tree {
  const tree: Tree = {}
  const grow = (inner: string, depth: number) => {
    for (const name of NAMES) {
      const path = inner === '' ? name : `${inner}/${name}`
      const kind = next(depth < 3 ? 5 : 3)
      if (kind === 0) tree[path] = { file: `content ${next(1000)}`, mode: [0o644, 0o755, 0o600][next(3)] ?? 0o644 }
      else if (kind === 1) tree[path] = { link: `target ${next(4)}` }
      else if (kind > 2) {
        tree[path] = 'folder'
        grow(path, depth + 1)
      }
    }
  }
  grow('', 0)
  return tree
}

const asRead = (tree: Tree): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tree).map(([path, entry]) => {
      if (entry === 'folder') return [path, 'folder']
      if ('link' in entry) return [path, `-> ${entry.link}`]
      return [path, `${(entry.mode ?? 0o644).toString(8)} ${entry.file}`]
    }),
  )

/** One again, or more of them: COMMIT_FIRST_SEED=17 COMMIT_SEEDS=500 */
const FIRST_SEED = Number(process.env.COMMIT_FIRST_SEED ?? Math.floor(Math.random() * 1e9))
const SEEDS = Number(process.env.COMMIT_SEEDS ?? 60)

describe('random trees', () => {
  test(`from any tree to any other, back, and back again; seeds from ${FIRST_SEED} on`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const next = numbers(seed)
      const [before, after] = [randomTree(next), randomTree(next)]
      rmSync(workspace(), { recursive: true })
      rmSync(folder, { recursive: true })
      const other = join(root, 'undoing')
      rmSync(other, { recursive: true, force: true })
      for (const at of [workspace(), join(folder, 'new'), join(folder, 'old'), join(other, 'new'), join(other, 'old')])
        mkdirSync(at, { recursive: true })
      fill(before)
      const work = workTo(after)
      await apply(work, folder)
      expect(read(workspace()), `seed ${seed}`).toEqual(asRead(after))
      // Done already: nothing more happens.
      await apply(work, folder)
      expect(read(workspace()), `seed ${seed}`).toEqual(asRead(after))
      const tree = new HostTree(workspace())
      const undo = await prepareUndo(work, folder, other, tree)
      tree.close()
      await apply(undo, other)
      expect(read(workspace()), `seed ${seed}, undone`).toEqual(asRead(before))
      expect(await takeBack(undo, other), `seed ${seed}`).toEqual([])
      expect(read(workspace()), `seed ${seed}, taken back`).toEqual(asRead(after))
    }
  })

  test(`an entry that changes meanwhile takes all of it back; seeds from ${FIRST_SEED} on`, async () => {
    let refused = 0
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const next = numbers(seed)
      const [before, after] = [randomTree(next), randomTree(next)]
      rmSync(workspace(), { recursive: true })
      rmSync(folder, { recursive: true })
      for (const at of [workspace(), join(folder, 'new'), join(folder, 'old')]) mkdirSync(at, { recursive: true })
      fill(before)
      const work = workTo(after)
      const victim = work.replacements[next(work.replacements.length)]
      if (!victim) continue
      const at = join(workspace(), victim.path)
      // Nothing can be put below what is no folder yet.
      const parent = seenOf(join(at, '..'))
      if (parent === null || !isFolder(parent)) continue
      // Somebody else's: new, edited, gone, or something in a folder that was to go.
      const stat = lstatSync(at, { throwIfNoEntry: false })
      if (!stat) writeFileSync(at, 'theirs')
      else if (stat.isDirectory()) writeFileSync(join(at, 'theirs'), 'theirs')
      else if (stat.isSymbolicLink() || next(2) === 0) unlinkSync(at)
      else writeFileSync(at, 'theirs')
      const standing = read(workspace())
      const error = await apply(work, folder).catch((thrown: unknown) => thrown)
      expect(error, `seed ${seed}`).toBeInstanceOf(CommitConflictError)
      expect((error as Error).message, `seed ${seed}`).toContain('Everything on the host is as it was.')
      expect(read(workspace()), `seed ${seed}`).toEqual(standing)
      refused++
    }
    expect(refused).toBeGreaterThan(SEEDS / 3)
  })
})

// Root is never refused.
test.runIf(process.getuid?.() !== 0)(
  'a closed folder is opened for a moment, whatever else the host has open',
  async () => {
    const names = Array.from({ length: 200 }, (_, n) => `closed/${n}`)
    const filled = (content: string): Tree => ({
      closed: 'folder',
      ...Object.fromEntries(names.map((path) => [path, { file: content }])),
    })
    fill(filled('old'))
    chmodSync(join(workspace(), 'closed'), 0o500)
    // Another thread's descriptors come and go: each takes the lowest number that is free.
    const busy = "const { openSync, closeSync } = require('node:fs'); while (true) closeSync(openSync('/dev/null'))"
    const other = new Worker(busy, { eval: true })
    await once(other, 'online')
    try {
      await apply(workTo(filled('new')), folder)
      expect(read(workspace())).toEqual(asRead(filled('new')))
      expect(lstatSync(join(workspace(), 'closed')).mode & 0o777).toBe(0o500)
    } finally {
      await other.terminate()
      chmodSync(join(workspace(), 'closed'), 0o700)
    }
  },
)

describe('what leads elsewhere', () => {
  const tricks: Record<string, () => void> = {
    'a folder on the way becomes a symlink': () => {
      renameSync(join(workspace(), 'a'), join(workspace(), 'moved'))
      symlinkSync(outside, join(workspace(), 'a'))
    },
    'the entry becomes a symlink': () => {
      unlinkSync(join(workspace(), 'a/file'))
      symlinkSync(join(outside, 'secret'), join(workspace(), 'a/file'))
    },
    'the entry becomes another name of a file elsewhere': () => {
      unlinkSync(join(workspace(), 'a/file'))
      linkSync(join(outside, 'secret'), join(workspace(), 'a/file'))
    },
    'the workspace becomes a symlink': () => {
      renameSync(workspace(), join(root, 'moved'))
      mkdirSync(join(outside, 'a'))
      symlinkSync(outside, workspace())
    },
    'the workspace becomes another folder': () => {
      renameSync(workspace(), join(root, 'moved'))
      mkdirSync(join(workspace(), 'a'), { recursive: true })
    },
  }
  for (const [name, trick] of Object.entries(tricks))
    test(name, async () => {
      fill({ a: 'folder', 'a/file': { file: 'as it was' } })
      const work = workTo({ a: 'folder', 'a/file': { file: 'new' }, 'a/secret': { file: 'new' } })
      trick()
      const standing = { workspace: read(workspace()), outside: read(outside) }
      await expect(apply(work, folder)).rejects.toSatisfy(
        (error) => error instanceof CommitConflictError || error instanceof InvalidPathError,
      )
      expect({ workspace: read(workspace()), outside: read(outside) }).toEqual(standing)
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('untouched')
      // The control: whoever goes by path alone is led out, or writes to what was not shown.
      writeFileSync(join(workspace(), 'a/secret'), 'new')
      const isLedOut =
        readFileSync(join(outside, 'secret'), 'utf8') === 'new' || existsSync(join(workspace(), 'a/secret'))
      expect(isLedOut).toBe(true)
    })

  test('while somebody swaps a folder and a symlink without end, nothing arrives elsewhere', async () => {
    fill({ a: 'folder' })
    symlinkSync(outside, join(workspace(), 'trap'))
    const swapper = spawn('sh', ['-c', 'while :; do mv -T a b; mv -T trap a; mv -T a trap; mv -T b a; done'], {
      cwd: workspace(),
      stdio: 'ignore',
    })
    try {
      for (let round = 0; round < 150; round++) {
        for (const part of ['new', 'old']) {
          rmSync(join(folder, part), { recursive: true, force: true })
          mkdirSync(join(folder, part))
        }
        writeFileSync(join(folder, 'new/0'), 'mine')
        const tree = new HostTree(workspace())
        const fresh = seenOf(join(folder, 'new/0'))
        const work = {
          workspace: workspace(),
          root: tree.root,
          replacements: [{ path: `a/${round}`, old: null, fresh }],
          modes: [],
        }
        tree.close()
        await apply(work, folder).catch(() => {})
        expect(readdirSync(outside)).toEqual(['secret'])
      }
      // The control: by its path alone a file soon arrives there.
      for (let tries = 0; tries < 20_000 && readdirSync(outside).length === 1; tries++) {
        try {
          writeFileSync(join(workspace(), 'a/led out'), '')
        } catch {
          // Between two names.
        }
      }
      expect(readdirSync(outside)).toContain('led out')
    } finally {
      swapper.kill('SIGKILL')
    }
  })
})

describe('the work that is written down', () => {
  it('is nothing where it was not written whole', async () => {
    expect(await readWork(folder)).toBeNull()
    writeWork(folder, workTo({ a: { file: 'x' } }))
    expect(await readWork(folder)).toMatchObject({ workspace: workspace() })
    writeFileSync(join(folder, 'work.json'), '{"workspace": "/ho')
    expect(await readWork(folder)).toBeNull()
  })

  it('tells a file that was replaced by its like from one that stayed', async () => {
    fill({ a: { file: 'same' } })
    const work = workTo({ a: { file: 'new' } })
    const { atime, mtime } = lstatSync(join(workspace(), 'a'))
    unlinkSync(join(workspace(), 'a'))
    writeFileSync(join(workspace(), 'a'), 'same')
    utimesSync(join(workspace(), 'a'), atime, mtime)
    await expect(apply(work, folder)).rejects.toBeInstanceOf(CommitConflictError)
  })
})
