/** Commits on a new branch, judged by git; and everything else in the repository left as it was. */
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GitError, InvalidOptionError, InvalidPathError } from '../contract/index.ts'
import { type BranchEntry, type BranchRequest, commitToBranch } from './branch.ts'
import { commitAll, hasGit, makeRepository, run } from './git.fixture.ts'
import { file, type Leaf, makeTree, readTree, shown, symlink, type Tree, twoTrees } from './tree.fixture.ts'

let base = ''
let scratch = ''
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'branch-'))
  scratch = join(base, 'scratch\n"odd"')
  fs.mkdirSync(scratch)
})
afterEach(() => {
  vi.unstubAllEnvs()
  fs.rmSync(base, { recursive: true, force: true })
})

const bytesOf = (name: string) => Buffer.from(name, 'latin1')
let staged = 0

function entry(name: string, leaf: Leaf | null): BranchEntry {
  const path = bytesOf(name)
  if (leaf === null) return { path, mode: 0, content: null }
  if (leaf.kind === 'symlink') return { path, mode: 0o120777, content: { target: leaf.target } }
  const staging = join(scratch, `staged-${staged++}`)
  fs.writeFileSync(staging, leaf.bytes)
  return { path, mode: leaf.runs ? 0o100755 : 0o100644, content: { file: staging } }
}

function entriesOf(before: Tree, after: Tree): BranchEntry[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const one = (tree: Tree, name: string) => shown(new Map([...tree].filter(([other]) => other === name)))
  const changed = names.filter((name) => String(one(before, name)) !== String(one(after, name)))
  return changed.map((name) => entry(name, after.get(name) ?? null))
}

const commit = (workspace: string, entries: BranchEntry[], rest: Partial<BranchRequest> = {}) =>
  commitToBranch({ workspace, branch: 'rewind/it', message: 'What the agent did', entries, scratch, ...rest })

/** What a commit holds, as files. */
function treeIn(repository: string, commit: string): Tree {
  const folder = fs.mkdtempSync(join(base, 'out-'))
  run(repository, ['-c', 'core.autocrlf=false', 'worktree', 'add', '-q', '--detach', join(folder, 'tree'), commit])
  return readTree(join(folder, 'tree'))
}

const filesOf = (repository: string, commit: string) =>
  run(repository, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]).split('\0').filter(Boolean)

/** All that a person could notice of their repository, the new branch aside. */
const everythingElse = (repository: string) => ({
  status: run(repository, ['-c', 'core.fsmonitor=false', 'status', '--porcelain=v2', '-uall']),
  refs: run(repository, ['for-each-ref', '--format=%(refname) %(objectname)'])
    .split('\n')
    .filter((line) => !line.startsWith('refs/heads/rewind/')),
  head: fs.readFileSync(join(repository, '.git/HEAD'), 'utf8'),
  index: fs.readFileSync(join(repository, '.git/index')).toString('base64'),
  files: shown(readTree(repository)),
})

describe.runIf(hasGit)('a commit on a new branch', () => {
  test('whatever two trees are, the commit holds the second and follows the first', async () => {
    await fc.assert(
      fc.asyncProperty(twoTrees, async ([before, after]) => {
        const entries = entriesOf(before, after)
        // Rules of what to ignore are another test's.
        fc.pre(entries.length > 0 && ![...before.keys(), ...after.keys()].some((name) => name.includes('.gitignore')))
        const folder = makeRepository(fs.mkdtempSync(join(base, 'repository-')))
        makeTree(folder, before)
        const parent = commitAll(folder)
        const untouched = everythingElse(folder)
        const { commit: made, written, ignored, refused } = await commit(folder, entries)
        expect(everythingElse(folder)).toEqual(untouched)
        expect({ written, ignored, refused }).toEqual({ written: entries.length, ignored: [], refused: [] })
        expect(run(folder, ['rev-parse', 'rewind/it', 'rewind/it^'])).toBe(`${made}\n${parent}\n`)
        expect(shown(treeIn(folder, made))).toEqual(shown(after))
        run(folder, ['fsck', '--strict'])
      }),
      { numRuns: 12 },
    )
  }, 120_000)

  test('nothing that the repository names is run, and nothing that a person has under their hands changes', async () => {
    const folder = makeRepository(join(base, 'armed'))
    const mark = join(base, 'somebody-ran')
    const script = join(base, 'script.sh')
    fs.writeFileSync(script, `#!/bin/sh\necho "$0 $*" >>'${mark}'\ncat\n`, { mode: 0o755 })
    makeTree(
      folder,
      new Map([
        ['tracked.txt', file('one\n')],
        ['.gitattributes', file('* filter=armed text\n')],
      ]),
    )
    commitAll(folder)
    const hooks = ['pre-commit', 'commit-msg', 'post-commit', 'post-index-change', 'reference-transaction']
    for (const hook of hooks) fs.copyFileSync(script, join(folder, '.git/hooks', hook))
    for (const [name, value] of [
      ['core.fsmonitor', script],
      ['core.alternateRefsCommand', script],
      ['core.editor', script],
      ['core.pager', script],
      ['filter.armed.clean', script],
      ['filter.armed.smudge', script],
      ['diff.external', script],
      ['commit.gpgSign', 'true'],
      ['gpg.program', script],
      ['core.autocrlf', 'true'],
      ['core.splitIndex', 'true'],
    ] as const)
      run(folder, ['config', name, value])
    fs.writeFileSync(join(folder, 'tracked.txt'), 'a person is at it\n')
    fs.writeFileSync(join(folder, 'untracked.txt'), 'mine\n')
    const index = fs.readFileSync(join(folder, '.git/index'))
    const { commit: made } = await commit(folder, [entry('tracked.txt', file('two\r\n')), entry('new', file('\r\n'))])
    expect(fs.existsSync(mark)).toBe(false)
    expect(fs.readFileSync(join(folder, '.git/index')).equals(index)).toBe(true)
    expect(fs.readFileSync(join(folder, 'tracked.txt'), 'utf8')).toBe('a person is at it\n')
    expect(run(folder, ['cat-file', 'blob', `${made}:tracked.txt`])).toBe('two\r\n')
    expect(run(folder, ['cat-file', 'blob', `${made}:new`])).toBe('\r\n')
    expect(run(folder, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main\n')
    // The traps would have sprung.
    run(folder, ['-c', 'commit.gpgSign=false', 'commit', '-q', '-am', 'by hand'])
    const sprung = fs.readFileSync(mark, 'utf8')
    for (const trap of ['pre-commit', 'reference-transaction', 'script.sh']) expect(sprung).toContain(trap)
  })

  test('what the environment says of git does not count', async () => {
    const folder = makeRepository(join(base, 'repository'))
    makeTree(folder, new Map([['a', file('1')]]))
    commitAll(folder)
    const other = makeRepository(join(base, 'other'))
    for (const [name, value] of [
      ['GIT_DIR', join(other, '.git')],
      ['GIT_WORK_TREE', other],
      ['GIT_INDEX_FILE', join(folder, 'planted-index')],
      ['GIT_OBJECT_DIRECTORY', join(base, 'objects')],
      ['GIT_CONFIG_COUNT', '1'],
      ['GIT_CONFIG_KEY_0', 'core.bare'],
      ['GIT_CONFIG_VALUE_0', 'true'],
    ] as const)
      vi.stubEnv(name, value)
    const { commit: made } = await commit(folder, [entry('a', file('2'))])
    vi.unstubAllEnvs()
    expect(run(folder, ['cat-file', 'blob', `${made}:a`])).toBe('2')
    expect(fs.readdirSync(folder).sort()).toEqual(['.git', 'a'])
  })

  test('a repository without a commit gets its first, one with ids of 64 digits another, a folder in it its own part', async () => {
    const unborn = makeRepository(join(base, 'unborn'))
    const first = await commit(unborn, [entry('a', file('1'))], { author: { name: 'Zoë', email: 'z@example.org' } })
    expect(run(unborn, ['cat-file', 'commit', first.commit])).toMatch(/^tree .*\nauthor Zo\xc3\xab <z@example.org> /)
    expect(run(unborn, ['rev-list', '--all'])).toBe(`${first.commit}\n`)
    expect(() => run(unborn, ['rev-parse', '--verify', '-q', 'HEAD'])).toThrow()

    const long = makeRepository(join(base, 'long'), ['--object-format=sha256'])
    makeTree(
      long,
      new Map([
        ['gone', file('1')],
        ['kept', file('2')],
      ]),
    )
    commitAll(long)
    const second = await commit(long, [entry('gone', null)])
    expect(filesOf(long, second.commit)).toEqual(['kept'])
    expect(second.commit).toHaveLength(64)

    const whole = makeRepository(join(base, 'whole'))
    makeTree(
      whole,
      new Map([
        ['a', file('1')],
        ['in\ner/b', file('2')],
        ['in\ner/.gitignore', file('*.log\n')],
      ]),
    )
    commitAll(whole)
    const { commit: made, ignored } = await commit(join(whole, 'in\ner'), [
      entry('b', null),
      entry('c/d', file('3')),
      entry('c/x.log', file('4')),
    ])
    expect(filesOf(whole, made)).toEqual(['a', 'in\ner/.gitignore', 'in\ner/c/d'])
    expect(ignored.map(String)).toEqual(['c/x.log'])
  })

  test('what the repository ignores stays out, by its rules with the changes made', async () => {
    const folder = makeRepository(join(base, 'repository'))
    makeTree(
      folder,
      new Map([
        ['.gitignore', file('*.log\nbuild/\n')],
        ['sub/.gitignore', file('local\n')],
        ['dropped/.gitignore', file('*\n')],
        ['kept.log', file('tracked')],
        ['link', symlink('sub')],
        ['sub/a', file('1')],
      ]),
    )
    commitAll(folder)
    fs.writeFileSync(join(folder, '.git/info/exclude'), '*.swp\n')
    const { commit: made, ignored } = await commit(folder, [
      entry('new.log', file('no')),
      entry('kept.log', file('tracked, so yes')),
      entry('build/x', file('no')),
      entry('deep/build/x', file('no')),
      entry('deep/build.x', file('yes')),
      entry('sub/local', file('no')),
      entry('sub/other', file('yes')),
      entry('x.swp', file('no')),
      entry('node_modules/x', file('no: a rule that comes along')),
      entry('pkg/.gitignore', file('node_modules\n*.tmp\n!keep.tmp\n')),
      entry('pkg/node_modules/x', file('no')),
      entry('pkg/a.tmp', file('no')),
      entry('pkg/keep.tmp', file('yes')),
      entry('dropped/.gitignore', null),
      entry('dropped/x', file('yes: the rule goes')),
      // Where a symlink leads into a folder with rules, they are not for what comes in its place.
      entry('link', null),
      entry('link/local', file('yes')),
      entry(':(top)*.log', file('no')),
      entry(':(exclude)x', file('yes')),
      entry('linked-rules/.gitignore', symlink('../sub/.gitignore')),
      entry('linked-rules/local', file('yes')),
      entry('.gitignore', file('*.log\nbuild/\n/node_modules\n')),
    ])
    expect(ignored.map(String).sort()).toEqual([
      ':(top)*.log',
      'build/x',
      'deep/build/x',
      'new.log',
      'node_modules/x',
      'pkg/a.tmp',
      'pkg/node_modules/x',
      'sub/local',
      'x.swp',
    ])
    expect(filesOf(folder, made)).toEqual([
      '.gitignore',
      ':(exclude)x',
      'deep/build.x',
      'dropped/x',
      'kept.log',
      'link/local',
      'linked-rules/.gitignore',
      'linked-rules/local',
      'pkg/.gitignore',
      'pkg/keep.tmp',
      'sub/.gitignore',
      'sub/a',
      'sub/other',
    ])
  })

  test('a linked work tree commits to its own repository; a submodule keeps its place', async () => {
    const main = makeRepository(join(base, 'main'))
    makeTree(main, new Map([['a', file('1')]]))
    commitAll(main)
    const inner = makeRepository(join(main, 'vendor/sub'))
    makeTree(inner, new Map([['b', file('2')]]))
    const innerCommit = commitAll(inner)
    const outerCommit = commitAll(main)
    const linked = join(base, 'linked')
    run(main, ['worktree', 'add', '-q', linked])
    const { commit: made, refused } = await commit(linked, [
      entry('a', file('3')),
      entry('vendor/sub/b', file('4')),
      entry('vendor/subside', file('5')),
    ])
    expect(refused.map(({ path, reason }) => `${path}: ${reason}`)).toEqual(['vendor/sub/b: submodule'])
    expect(run(main, ['ls-tree', made, 'vendor/sub'])).toContain(`160000 commit ${innerCommit}`)
    expect(run(main, ['rev-parse', 'rewind/it^'])).toBe(`${outerCommit}\n`)
    expect(fs.readFileSync(join(linked, 'a'), 'utf8')).toBe('1')
  })

  test('names that git will not have stay out, and are told', async () => {
    const folder = makeRepository(join(base, 'repository'))
    const { commit: made, refused } = await commit(folder, [
      entry('.git/hooks/pre-commit', file('x', true)),
      entry('.git/config', file('x')),
      entry('a/.GIT/config', file('x')),
      entry('.g\xe2\x80\x8cit/x', file('x')),
      entry('GIT~1', file('x')),
      entry('.git.. ', file('x')),
      entry('.git\\x', file('x')),
      entry('.git::$INDEX_ALLOCATION', file('x')),
      entry('.gitmodules', symlink('x')),
      entry('../b', file('x')),
      entry('--', file('fine')),
      entry('-n\n', file('fine')),
      entry('.github', file('fine')),
      entry('\xff', symlink('/etc/passwd')),
    ])
    expect(refused.map(({ path }) => Buffer.from(path).toString('latin1'))).toEqual([
      '.git',
      'a/.GIT',
      '.g\xe2\x80\x8cit',
      'GIT~1',
      '.git.. ',
      '.git\\x',
      '.git::$INDEX_ALLOCATION',
      '.gitmodules',
      '..',
    ])
    expect(filesOf(folder, made)).toEqual(['--', '-n\n', '.github', '\xff'])
  })

  test.each(['-x', '--orphan', 'a..b', 'HEAD', '', 'a\0b', '@{-1}', 'a b', 'x.lock', '.x', 'a/', 'a\n'])(
    '%j is no name of a branch',
    async (branch) => {
      const folder = makeRepository(join(base, 'repository'))
      await expect(commit(folder, [entry('a', file('1'))], { branch })).rejects.toThrow(InvalidOptionError)
      expect(run(folder, ['for-each-ref'])).toBe('')
    },
  )

  test('a branch that is there, or in its way, is not touched', async () => {
    const folder = makeRepository(join(base, 'repository'))
    makeTree(folder, new Map([['a', file('1')]]))
    const parent = commitAll(folder)
    run(folder, ['branch', 'taken'])
    for (const branch of ['taken', 'main', 'taken/below']) {
      const refusal = commit(folder, [entry('a', file('2'))], { branch })
      await expect(refusal).rejects.toThrow(InvalidOptionError)
      await expect(refusal).rejects.toMatchObject({ data: { reason: 'branch-taken' } })
    }
    expect(run(folder, ['for-each-ref', '--format=%(objectname)'])).toBe(`${parent}\n${parent}\n`)
    expect(fs.readdirSync(scratch).filter((name) => name.startsWith('branch-'))).toEqual([])
  })

  test('an empty commit is not made, and bad words are refused', async () => {
    const folder = makeRepository(join(base, 'repository'))
    makeTree(
      folder,
      new Map([
        ['a', file('1')],
        ['.gitignore', file('*.log')],
      ]),
    )
    commitAll(folder)
    for (const entries of [[], [entry('a', file('1'))], [entry('x.log', file('1'))], [entry('never there', null)]])
      await expect(commit(folder, entries)).rejects.toMatchObject({ data: { reason: 'nothing' } })
    const some = [entry('a', file('2'))]
    for (const message of ['', ' \n', 'a\0b'])
      await expect(commit(folder, some, { message })).rejects.toThrow(/message/)
    for (const name of ['', '  ', 'a\nb', '<'])
      await expect(commit(folder, some, { author: { name, email: 'x' } })).rejects.toThrow(InvalidOptionError)
  })

  test('without a repository, a readable one, or a git at all, that is said', async () => {
    const plain = join(base, 'plain')
    fs.mkdirSync(plain)
    const some = [entry('a', file('2'))]
    await expect(commit(plain, some)).rejects.toThrow(InvalidPathError)
    const bare = join(base, 'bare')
    run(base, ['init', '-q', '--bare', bare])
    await expect(commit(bare, some)).rejects.toThrow(InvalidPathError)

    const broken = makeRepository(join(base, 'broken'))
    makeTree(broken, new Map([['a', file('1')]]))
    const head = commitAll(broken)
    fs.rmSync(join(broken, '.git/objects', head.slice(0, 2)), { recursive: true })
    await expect(commit(broken, some)).rejects.toMatchObject({ data: { reason: 'unreadable-head' } })
    fs.writeFileSync(join(broken, '.git/refs/heads/main'), 'no id\n')
    await expect(commit(broken, some)).rejects.toMatchObject({ data: { reason: 'unreadable-head' } })

    vi.stubEnv('PATH', base)
    const without = commit(plain, some)
    await expect(without).rejects.toThrow(GitError)
    await expect(without).rejects.toMatchObject({ data: { reason: 'no-git' }, nextStep: expect.any(String) })
  })

  test('a machine on which nobody told git a name', async () => {
    vi.stubEnv('HOME', base)
    vi.stubEnv('XDG_CONFIG_HOME', base)
    const folder = makeRepository(join(base, 'repository'))
    run(folder, ['config', 'user.useConfigOnly', 'true'])
    const { commit: made } = await commit(folder, [entry('a', file('2'))])
    expect(run(folder, ['log', '-1', '--format=%an %ae %cn %s', made])).toBe(
      'Rewind rewind@localhost Rewind What the agent did\n',
    )
  })

  test.runIf(process.getuid?.() === 0)('a repository that belongs to somebody else', async () => {
    const folder = makeRepository(join(base, 'repository'))
    run(base, ['config', '-f', join(folder, '.git/config'), 'user.name', 'x'])
    fs.chownSync(folder, 1234, 1234)
    fs.chownSync(join(folder, '.git'), 1234, 1234)
    expect(() => run(folder, ['status'])).toThrow(/dubious ownership/)
    expect(await commit(folder, [entry('a', file('2'))])).toMatchObject({ written: 1 })
  })

  test('twenty thousand entries at once', async () => {
    const folder = makeRepository(join(base, 'repository'))
    const leaf = file('the same\n')
    const one = entry('x', leaf)
    const entries = Array.from({ length: 20_000 }, (_, at) => ({ ...one, path: bytesOf(`d${at % 100}/f${at}`) }))
    const started = performance.now()
    const { written } = await commit(folder, entries)
    console.log(`20,000 entries: ${Math.round(performance.now() - started)} ms`)
    expect(written).toBe(20_000)
  }, 60_000)
})
