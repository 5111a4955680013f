/** `rewind commit`, as people have it: a real host, a real sandbox, and what is on the host's disk afterwards. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestHost } from '../../e2e/host.ts'
import { suiteNeeding } from '../../e2e/needs.ts'

suiteNeeding(['local'], 'rewind commit', () => {
  let host: TestHost
  let workspace: string
  const at = (name: string) => join(workspace, name)
  const onHost = (name: string) => readFileSync(at(name), 'utf8')
  const rewind = (...args: string[]) => host.cli('--session', 's', ...args)

  beforeEach(async () => {
    host = await TestHost.begin()
    workspace = host.folder('project')
    for (const name of ['a.txt', 'b.txt', 'gone.txt']) writeFileSync(at(name), 'from the host\n')
    await host.json('init', workspace, '--session', 's')
    const edit = 'echo sandbox >a.txt; echo sandbox >b.txt; rm gone.txt; mkdir sub; echo new >sub/new.txt'
    await host.json('--session', 's', 'exec', edit)
  })
  afterEach(() => host?.end())

  test('looked at first, then written, then taken back', async () => {
    const look = await rewind('commit', '--dry-run')
    expect(look).toEqual({
      code: 0,
      stdout: 'M a.txt\nM b.txt\nD gone.txt\nA sub/\nA sub/new.txt\n',
      stderr: 'Would be written: 1 added, 2 modified, 1 deleted.\n',
    })
    expect(onHost('a.txt')).toBe('from the host\n')

    const some = await rewind('commit', './sub/', 'a.txt')
    expect([some.code, some.stderr]).toEqual([0, ''])
    expect(some.stdout).toBe(
      'M a.txt\nA sub/\nA sub/new.txt\nCommitted: 1 added, 1 modified, 0 deleted\n  `rewind commit --undo` takes this back\n',
    )
    expect([onHost('a.txt'), onHost('b.txt'), onHost('sub/new.txt')]).toEqual(['sandbox\n', 'from the host\n', 'new\n'])

    const rest = await host.json<{ status: string; counts: object }>('--session', 's', 'commit')
    expect(rest).toMatchObject({ status: 'committed', counts: { added: 0, modified: 1, deleted: 1 } })
    expect(existsSync(at('gone.txt'))).toBe(false)
    expect((await rewind('commit')).stdout).toBe('Nothing to commit: the host has it all.\n')

    for (let commits = 2; commits > 0; commits--) expect((await rewind('commit', '--undo')).code).toBe(0)
    expect([onHost('a.txt'), onHost('gone.txt'), existsSync(at('sub'))]).toEqual([
      'from the host\n',
      'from the host\n',
      false,
    ])
    const none = await rewind('commit', '--undo')
    expect(none.code).toBe(64)
  })

  test('hunks of a file are listed by name, and some of them committed', async () => {
    writeFileSync(at('b.txt'), 'host too\n')
    await host.json('--session', 's', 'write', 'a.txt', 'new above\nfrom the host\nnew below\n')
    const listed = await rewind('commit', 'a.txt', '--hunks')
    expect(listed.code).toBe(0)
    const found = /^([0-9a-f]+) {2}line 1\n\+new above\n\n([0-9a-f]+) {2}line 3\n\+new below\n$/.exec(listed.stdout)
    const [, first = '', second = ''] = found ?? []
    expect(first).not.toBe('')
    expect((await rewind('commit', 'b.txt', '--hunks')).stdout).toMatch(
      /^[0-9a-f]+ {2}line 1 {2}! changed on the host too\n-from the host\nhhost too\n\+sandbox\n$/,
    )
    expect((await rewind('commit', 'gone.txt', '--hunks')).stdout).toContain('gone.txt is no file with other lines')

    const look = await rewind('commit', 'a.txt', '--hunk', second, '--dry-run')
    expect([look.code, look.stdout]).toEqual([0, 'M a.txt\n'])
    expect((await rewind('commit', 'a.txt', '--hunk', second)).code).toBe(0)
    expect(onHost('a.txt')).toBe('from the host\nnew below\n')
    const stale = await rewind('commit', 'a.txt', '--hunk', first)
    expect([stale.code, stale.stderr]).toEqual([7, expect.stringContaining('The hunks of a.txt are others now')])
    for (const wrong of [
      ['--hunks'],
      ['a.txt', 'b.txt', '--hunks'],
      ['a.txt', '--hunks', '--force'],
      ['a.txt', '--hunk', first, '--undo'],
    ])
      expect((await rewind('commit', ...wrong)).code).toBe(64)
    expect(onHost('a.txt')).toBe('from the host\nnew below\n')
  })

  test('a conflict is code 7 and named; it can be skipped, or settled for the sandbox', async () => {
    writeFileSync(at('b.txt'), 'host too\n')
    const why = 'changed in the sandbox and on the host'
    const look = await rewind('commit', '--dry-run')
    expect(look.code).toBe(7)
    expect(look.stdout).toContain(`M b.txt  ! ${why}\n`)
    expect(look.stderr).toMatch(/^rewind: 1 entry stands in the way of a commit\.\n.*--skip-conflicts.*--force/)
    for (const manner of ['--skip-conflicts', '--force'])
      expect((await rewind('commit', '--dry-run', manner)).code).toBe(0)

    const stopped = await rewind('--json', 'commit')
    expect(stopped.code).toBe(7)
    expect(JSON.parse(stopped.stdout)).toMatchObject({
      success: false,
      code: 7,
      error_code: 'COMMIT_CONFLICT',
      details: { conflicts: [{ path: 'b.txt', conflict: 'both-changed' }] },
    })
    expect([onHost('a.txt'), onHost('b.txt')]).toEqual(['from the host\n', 'host too\n'])

    const skipping = await rewind('commit', '--skip-conflicts')
    expect([skipping.code, skipping.stderr]).toEqual([0, `rewind: left as it is: b.txt: ${why}\n`])
    expect([onHost('a.txt'), onHost('b.txt')]).toEqual(['sandbox\n', 'host too\n'])
    expect((await rewind('commit')).code).toBe(7)
    expect((await rewind('commit', '--force')).code).toBe(0)
    expect(onHost('b.txt')).toBe('sandbox\n')
    await rewind('commit', '--undo')
    expect(onHost('b.txt')).toBe('host too\n')
  })

  test('what should be known beforehand is said, and names do not steer a terminal', async () => {
    await rewind('exec', `ln -s /etc/passwd out; printf x >"$(printf '\\033[31mred')"`)
    const look = await rewind('commit', '--dry-run')
    expect(look.stdout).toContain('A out  (a symlink that leads out of the workspace)\n')
    expect(look.stdout).toContain('A \\x1B[31mred\n')
    const done = await rewind('commit')
    expect([done.code, done.stderr]).toEqual([0, 'rewind: out: a symlink that leads out of the workspace\n'])
  })

  test('as a patch that git applies, and what that cannot hold', async () => {
    await rewind('exec', 'head -c 5000 /dev/urandom >bytes; chmod +x a.txt; ln -s a.txt link; rm -r sub; mkdir empty')
    const patch = join(host.base, 'work.patch')
    const taken = join(host.base, 'taken')
    cpSync(workspace, taken, { recursive: true })
    const { code, stdout, stderr } = await rewind('commit', '--patch', patch)
    expect([code, stdout]).toEqual([1, `Wrote ${patch}\n`])
    expect(stderr).toBe('rewind: the patch does not hold empty: git knows no empty folders\n')
    execFileSync('git', ['apply', patch], { cwd: taken })
    expect(readdirSync(taken).sort()).toEqual(['a.txt', 'b.txt', 'bytes', 'link'])
    expect((await rewind('commit')).code).toBe(0)
    for (const name of ['a.txt', 'bytes']) expect(readFileSync(join(taken, name))).toEqual(readFileSync(at(name)))
    expect([readlinkSync(join(taken, 'link')), statSync(join(taken, 'a.txt')).mode & 0o111]).toEqual(['a.txt', 0o111])

    await rewind('exec', 'echo more >b.txt')
    const shown = await rewind('commit', '--patch', '-', 'b.txt')
    expect([shown.code, shown.stderr]).toEqual([0, ''])
    execFileSync('git', ['apply', '-'], { cwd: taken, input: shown.stdout })
    expect(readFileSync(join(taken, 'b.txt'), 'utf8')).toBe('more\n')
    expect((await rewind('commit', '--patch', join(host.base, 'no', 'such'))).code).toBe(5)
    expect(existsSync(join(host.base, 'no'))).toBe(false)
  })

  test('as a commit on a new branch, and nothing else in the repository changes', async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace }).toString()
    expect((await rewind('commit', '--branch', 'work')).code).toBe(5)
    git('init', '-q', '-b', 'main')
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
    git('add', '-A')
    git(...who, 'commit', '-q', '-m', 'start')
    const status = git('status', '--porcelain')
    writeFileSync(at('.git/info/exclude'), '*.log\n')
    await rewind('exec', 'echo x >debug.log')
    const { code, stdout, stderr } = await rewind('commit', '--branch', 'work', '-m', 'The agent’s work')
    expect([code, stderr]).toEqual([0, 'left out, as git ignores it: debug.log\n'])
    expect(stdout).toMatch(/^Committed to the new branch work: 4 files\n {2}see it with `git show [0-9a-f]{12}`\n$/)
    expect(git('log', '--format=%s', 'work')).toBe('The agent’s work\nstart\n')
    expect(git('diff', '--name-status', 'main', 'work')).toBe('M\ta.txt\nM\tb.txt\nD\tgone.txt\nA\tsub/new.txt\n')
    expect([git('status', '--porcelain'), onHost('a.txt')]).toEqual([status, 'from the host\n'])
    for (const name of ['work', 'a..b', '-x']) expect((await rewind('commit', `--branch=${name}`)).code).toBe(64)
  })

  test('what makes no sense is code 64, and nothing is done', async () => {
    for (const [args, message] of [
      [['--branch', 'x', '--patch', 'y'], /one of --branch and --patch/],
      [['--branch', 'x', '--force'], /leave --dry-run, --force and --skip-conflicts out/],
      [['--undo', '--patch', 'y'], /takes nothing beside it/],
      [['--undo', 'a.txt'], /takes nothing beside it/],
      [['--undo', '--force'], /takes nothing beside it/],
      [['-m', 'x'], /goes with --branch/],
      [['--json', '--patch', '-'], /goes to a file/],
      [['.'], /Without a path everything is committed/],
      [['--no-such'], /unknown option/],
    ] as const) {
      const { code, stdout, stderr } = await rewind('commit', ...args)
      expect([args, code]).toEqual([args, 64])
      expect(stdout + stderr).toMatch(message)
    }
    expect(onHost('a.txt')).toBe('from the host\n')
  })
})
