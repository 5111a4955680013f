/** Patches, judged by git: what it makes of the tree before is the tree after. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CommitConflictError } from '../contract/index.ts'
import { gitPatch, type PatchEntry, type PatchNote, type PatchSide } from './patch.ts'
import { file, type Leaf, makeTree, readTree, shown, symlink, type Tree, twoTrees } from './tree.fixture.ts'

let base = ''
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'git-patch-'))
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

const env = { PATH: process.env.PATH, LC_ALL: 'C', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
const git = (cwd: string, args: string[], input = '') =>
  execFileSync('git', args, { cwd, input, env, stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 1 << 28 }).toString()

const sideOf = (leaf: Leaf | undefined): PatchSide | null => {
  if (leaf === undefined) return null
  if (leaf.kind === 'symlink') return { kind: 'symlink', mode: 0o777, target: leaf.target }
  const pieces = [leaf.bytes.subarray(0, 7), leaf.bytes.subarray(7)]
  return {
    kind: 'file',
    mode: leaf.runs ? 0o755 : 0o644,
    size: leaf.bytes.length,
    read: () => Readable.from(pieces),
  }
}

const bytesOf = (name: string) => Buffer.from(name, 'latin1')

function entriesOf(before: Tree, after: Tree): PatchEntry[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.map((name) => ({
    path: bytesOf(name),
    before: sideOf(before.get(name)),
    after: sideOf(after.get(name)),
  }))
}

async function written(entries: PatchEntry[]): Promise<{ patch: string; notes: PatchNote[] }> {
  const pieces: string[] = []
  for (const writer = gitPatch(entries); ; ) {
    const { done, value } = await writer.next()
    if (done) return { patch: pieces.join(''), notes: value }
    pieces.push(value)
  }
}

/** What git makes of the tree. */
function applied(before: Tree, patch: string): Tree {
  const folder = fs.mkdtempSync(join(base, 'tree-'))
  git(folder, ['init', '-q'])
  makeTree(folder, before)
  if (patch !== '') git(folder, ['apply', '--whitespace=nowarn', '-'], patch)
  return readTree(folder)
}

const expectArrives = async (before: Tree, after: Tree) => {
  const { patch, notes } = await written(entriesOf(before, after))
  expect(notes).toEqual([])
  expect(shown(applied(before, patch))).toEqual(shown(after))
}

test('whatever two trees are, git makes the one of the other, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(twoTrees, ([before, after]) => expectArrives(before, after)),
    { numRuns: 150 },
  )
}, 120_000)

test('kinds of entries that take each other’s place', async () => {
  const noise = randomBytes(5000)
  await expectArrives(
    new Map([
      ['file-to-link', file('x\n')],
      ['link-to-file', symlink('x')],
      ['link-to-bytes', symlink('x')],
      ['file-to-folder', file(noise)],
      ['folder-to-file/one', file('1')],
      ['folder-to-file/two/three', symlink('../..')],
      ['folder-to-link/one', file('')],
      ['runs', file('same')],
      ['empty', file('')],
      ['gone', file(noise, true)],
    ]),
    new Map([
      ['file-to-link', symlink('y')],
      ['link-to-file', file('y\n', true)],
      ['link-to-bytes', file(noise)],
      ['file-to-folder/one', file('1')],
      ['folder-to-file', file('now a file')],
      ['folder-to-link', symlink('runs')],
      ['runs', file('same', true)],
      ['empty', file('not any more')],
      ['new-empty', file('', true)],
    ]),
  )
})

test('it is what git itself would write', async () => {
  const before: Tree = new Map([
    ['text', file('a\nb\nc\nd\ne\nf\ng\n')],
    ['runs', file('x\n')],
    ['old name', file('gone\n')],
    ['sm\xf8rr\n', file('1\n')],
    ['link', symlink('a')],
  ])
  const after: Tree = new Map([
    ['text', file('a\nb\nc\nd\nE\nf\ng')],
    ['runs', file('y\n', true)],
    ['empty', file('')],
    ['sm\xf8rr\n', file('2\n')],
    ['link', symlink('b')],
  ])
  const folder = join(base, 'repository')
  fs.mkdirSync(folder)
  git(folder, ['init', '-q'])
  makeTree(folder, before)
  git(folder, ['add', '-A'])
  for (const name of readTree(folder).keys()) fs.rmSync(Buffer.concat([Buffer.from(`${folder}/`), bytesOf(name)]))
  makeTree(folder, after)
  git(folder, ['add', '--intent-to-add', 'empty'])
  const theirs = git(folder, ['diff', '--binary', '--full-index', '--no-renames'])
  const { patch } = await written(entriesOf(before, after))
  // git leaves out the count of a hunk of one line, and says which function a hunk is in.
  const sameWay = (text: string) => text.replace(/^(@@ .* @@).*$/gm, (_, hunk: string) => hunk.replaceAll(',1 ', ' '))
  expect(sameWay(patch)).toBe(sameWay(theirs))
})

test('three-way merges find what the patch was made from', async () => {
  const folder = join(base, 'merged')
  fs.mkdirSync(folder)
  git(folder, ['init', '-q'])
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}\n`)
  const before: Tree = new Map([['text', file(lines.join(''))]])
  makeTree(folder, before)
  git(folder, ['add', 'text'])
  // Too many changes nearby for a plain apply.
  const mine = lines.map((line, at) => (at >= 10 && at <= 13 ? `mine ${at}\n` : line)).join('')
  fs.writeFileSync(join(folder, 'text'), mine)
  git(folder, ['add', 'text'])
  const theirs = lines.map((line, at) => (at === 15 ? 'theirs\n' : line)).join('')
  const { patch } = await written(entriesOf(before, new Map([['text', file(theirs)]])))
  expect(() => git(folder, ['apply', '-'], patch)).toThrow(/does not apply/)
  git(folder, ['apply', '--3way', '-'], patch)
  expect(fs.readFileSync(join(folder, 'text'), 'utf8')).toBe(mine.replace('line 15', 'theirs'))
})

test('a large file flows through', async () => {
  const path = join(base, 'large')
  const size = 24 << 20
  const piece = randomBytes(1 << 20)
  for (let at = 0; at < size; at += piece.length) fs.appendFileSync(path, piece)
  const large: PatchSide = { kind: 'file', mode: 0o644, size, read: () => fs.createReadStream(path) }
  const patch = join(base, 'patch')
  let most = 0
  const writer = gitPatch([{ path: bytesOf('large'), before: null, after: large }])
  const out = fs.openSync(patch, 'w')
  for await (const text of writer) {
    most = Math.max(most, text.length)
    fs.writeSync(out, text)
  }
  fs.closeSync(out)
  // No more at once than what deflate hands over.
  expect(most).toBeLessThan(1 << 20)
  const folder = join(base, 'made')
  fs.mkdirSync(folder)
  git(folder, ['apply', patch])
  expect(fs.readFileSync(join(folder, 'large')).equals(fs.readFileSync(path))).toBe(true)
}, 120_000)

test('a file that changes while it is read, or cannot be read, makes no patch', async () => {
  const sized = (size: number, read: () => AsyncIterable<Uint8Array>): PatchEntry[] => [
    { path: bytesOf('x\n'), before: null, after: { kind: 'file', mode: 0o644, size, read } },
  ]
  const small = written(sized(2, () => Readable.from([Buffer.from('abc')])))
  await expect(small).rejects.toThrow(CommitConflictError)
  await expect(small).rejects.toThrow('x\\n changed while the patch was written.')
  let byte = 0
  const large = written(sized(9 << 20, () => Readable.from([Buffer.alloc(9 << 20, byte++)])))
  await expect(large).rejects.toThrow(CommitConflictError)
  let opened = 0
  const broken = () => (opened++ === 0 ? Readable.from([Buffer.alloc(9 << 20)]) : fs.createReadStream('/nowhere'))
  await expect(written(sized(9 << 20, broken))).rejects.toThrow('ENOENT')
})

test('what a patch cannot hold is named', async () => {
  const at = (name: string, before: PatchSide | null, after: PatchSide | null): PatchEntry => ({
    path: bytesOf(name),
    before,
    after,
  })
  const folder: PatchSide = { kind: 'folder', mode: 0o755 }
  const fifo: PatchSide = { kind: 'other', mode: 0o644 }
  const text = sideOf(file('x\n'))
  const withMode = (mode: number): PatchSide => ({ ...(text as PatchSide), mode })
  const { patch, notes } = await written([
    at('.git/config', text, null),
    at('.git/objects/ab', null, text),
    at('a/.GIT/x', null, text),
    at('emptied', folder, null),
    at('fifo', null, fifo),
    at('file-to-fifo', text, fifo),
    at('filled', null, folder),
    at('filled/deep', null, folder),
    at('filled/deep/file', null, text),
    at('folder-to-file', folder, sideOf(file('y\n'))),
    at('gone', folder, null),
    at('gone/file', text, null),
    at('made', null, folder),
    at('private', withMode(0o644), withMode(0o600)),
    at('runs', withMode(0o644), withMode(0o755)),
    at('runs-alone', withMode(0o644), withMode(0o744)),
    at('git~1/x', null, text),
    at('x/.gitmodules', null, sideOf(symlink('y'))),
    at('.gitmodules', null, text),
  ])
  expect(notes.map(({ path, reason }) => `${Buffer.from(path)}: ${reason}`).sort()).toEqual([
    '.git: git',
    'a/.GIT: git',
    'emptied: folder',
    'fifo: special',
    'file-to-fifo: special',
    'git~1: git',
    'made: folder',
    'private: mode',
    'runs-alone: mode',
    'x/.gitmodules: git',
  ])
  const before: Tree = new Map(
    ['file-to-fifo', 'gone/file', 'private', 'runs', 'runs-alone'].map((name) => [name, file('x\n')]),
  )
  expect(shown(applied(before, patch))).toEqual(
    shown(
      new Map([
        ['filled/deep/file', file('x\n')],
        ['folder-to-file', file('y\n')],
        ['private', file('x\n')],
        ['runs', file('x\n', true)],
        ['runs-alone', file('x\n', true)],
        ['.gitmodules', file('x\n')],
      ]),
    ),
  )
})
