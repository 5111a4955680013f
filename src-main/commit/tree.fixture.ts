/** Small trees of files for the tests of this folder: made on disk, read back, and thought up at random. */
import * as fs from 'node:fs'
import fc from 'fast-check'

/** One file or symlink: its bytes or its target, by its path (one character per byte). */
export type Leaf = { kind: 'file'; runs: boolean; bytes: Buffer } | { kind: 'symlink'; target: Buffer }
export type Tree = Map<string, Leaf>

export const file = (text: string | Buffer, runs = false): Leaf => ({ kind: 'file', runs, bytes: Buffer.from(text) })
export const symlink = (target: string): Leaf => ({ kind: 'symlink', target: Buffer.from(target) })

const inFolder = (folder: string, name: string): Buffer => Buffer.from(`${folder}/${name}`, 'latin1')

export function makeTree(folder: string, tree: Tree): void {
  for (const [name, leaf] of tree) {
    const path = inFolder(folder, name)
    fs.mkdirSync(path.subarray(0, path.lastIndexOf(0x2f)), { recursive: true })
    if (leaf.kind === 'symlink') fs.symlinkSync(leaf.target, path)
    else {
      fs.writeFileSync(path, leaf.bytes)
      fs.chmodSync(path, leaf.runs ? 0o755 : 0o644)
    }
  }
}

/** Everything but `.git` at the top. */
export function readTree(folder: string): Tree {
  const tree: Tree = new Map()
  const walk = (below: string) => {
    for (const raw of fs.readdirSync(inFolder(folder, below), { encoding: 'buffer' })) {
      const name = below + raw.toString('latin1')
      if (name === '.git') continue
      const path = inFolder(folder, name)
      const stat = fs.lstatSync(path)
      if (stat.isDirectory()) walk(`${name}/`)
      else if (stat.isSymbolicLink())
        tree.set(name, { kind: 'symlink', target: fs.readlinkSync(path, { encoding: 'buffer' }) })
      else tree.set(name, { kind: 'file', runs: (stat.mode & 0o100) !== 0, bytes: fs.readFileSync(path) })
    }
  }
  walk('')
  return tree
}

/** Comparable and readable in a failure. */
export const shown = (tree: Tree): string[] =>
  [...tree]
    .map(([name, leaf]) =>
      leaf.kind === 'symlink'
        ? `${JSON.stringify(name)} -> ${leaf.target.toString('base64')}`
        : `${JSON.stringify(name)}${leaf.runs ? '*' : ''} ${leaf.bytes.toString('base64')}`,
    )
    .sort()

const name = fc.constantFrom(
  ...[
    'a',
    'b',
    'A',
    'sp ace',
    ' lead',
    'trail ',
    'tab\t',
    'new\nline',
    '"quoted"',
    'back\\slash',
    "it's",
    '-n',
    '--',
    '~',
  ],
  ...[
    '\xff\xfe',
    '\xc3\xbc',
    'a -> b',
    'b/b b',
    ':(top)x',
    '*',
    '\x1b[31m',
    '\x7f',
    'dev',
    'null',
    '#',
    'a/b',
    '.gitignore',
  ],
)
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))

const line = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  '--- a/x',
  '+++ b/x',
  '@@ -1 +1 @@',
  '\\ No newline',
  '\xfc',
  'd\r',
  ' ',
  '\t',
)
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => Buffer.from(lines.join('\n') + (ends ? '\n' : '')))
const bytes = fc.oneof(text, fc.uint8Array({ maxLength: 300 }).map(Buffer.from), fc.constant(Buffer.alloc(0)))
const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('file' as const), runs: fc.boolean(), bytes }) },
  {
    weight: 1,
    // None leads to itself: git apply cannot look beneath such a link, not even where the patch makes it a folder.
    arbitrary: fc
      .constantFrom('else/where', '../..', '/etc/passwd', 'no\nwhere', '\xff', 'x'.repeat(200), '\xc3\xa9')
      .map((target): Leaf => ({ kind: 'symlink', target: Buffer.from(target, 'latin1') })),
  },
)

/** No file is where another one has a folder. */
export const anyTree: fc.Arbitrary<Tree> = fc.array(fc.tuple(path, leaf), { maxLength: 8 }).map((leaves) => {
  const tree: Tree = new Map()
  const isFree = (name: string) =>
    ![...tree.keys()].some((other) => `${other}/`.startsWith(`${name}/`) || `${name}/`.startsWith(`${other}/`))
  for (const [name, what] of leaves) if (isFree(name)) tree.set(name, what)
  return tree
})

/** A tree, and what it may have become. */
export const twoTrees: fc.Arbitrary<[before: Tree, after: Tree]> = fc
  .tuple(anyTree, anyTree, fc.infiniteStream(fc.boolean()))
  .map(([before, other, keeps]) => {
    const after: Tree = new Map(other)
    const isFree = (name: string) =>
      ![...after.keys()].some((taken) => `${taken}/`.startsWith(`${name}/`) || `${name}/`.startsWith(`${taken}/`))
    for (const [name, what] of before) if (isFree(name) && keeps.next().value) after.set(name, what)
    return [before, after]
  })
