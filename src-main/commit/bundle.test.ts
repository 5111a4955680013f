/** The commits of a sandbox, honest and not, taken into a repository of the host. */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GitError, InvalidPathError } from '../contract/index.ts'
import { fetchBundle } from './bundle.ts'
import { commitAll, hasGit, makeRepository, run } from './git.fixture.ts'

let base = ''
let host = ''
let sandbox = ''
let start = ''
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'bundle-'))
  if (!hasGit) return
  host = makeRepository(join(base, 'host'))
  fs.writeFileSync(join(host, 'a'), '1')
  start = commitAll(host)
  sandbox = join(base, 'sandbox')
  fs.cpSync(host, sandbox, { recursive: true })
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

function work(text: string): string {
  fs.writeFileSync(join(sandbox, 'a'), text)
  return commitAll(sandbox, text)
}

function bundled(...revisions: string[]): string {
  const path = join(base, 'work.bundle')
  run(sandbox, ['bundle', 'create', '-q', path, ...revisions])
  return path
}

const refsOf = (repository: string) =>
  run(repository, ['for-each-ref', '--format=%(refname) %(objectname)']).split('\n').filter(Boolean)

const fetched = (bundle: string, session = 'my session/1') => fetchBundle({ workspace: host, bundle, session })

describe.runIf(hasGit)('a bundle', () => {
  test('branches, tags and a HEAD of the sandbox are under its session’s name; nothing else is touched', async () => {
    const tip = work('2')
    run(sandbox, ['tag', '-m', 'tagged', 'v1'])
    run(sandbox, ['checkout', '-q', '--detach'])
    const detached = work('3')
    const mark = join(base, 'somebody-ran')
    fs.writeFileSync(join(host, '.git/hooks/reference-transaction'), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    const before = fs.readFileSync(join(host, '.git/index'))
    const { refs, refused } = await fetched(bundled('HEAD', '--all', `^${start}`))
    expect(refused).toEqual([])
    expect(refs.map(({ from, ref }) => `${from} ${ref}`)).toEqual([
      'HEAD refs/rewind/my-session-1/HEAD',
      'refs/heads/main refs/rewind/my-session-1/heads/main',
      'refs/tags/v1 refs/rewind/my-session-1/tags/v1',
    ])
    expect(refsOf(host)).toEqual([
      `refs/heads/main ${start}`,
      `refs/rewind/my-session-1/HEAD ${detached}`,
      `refs/rewind/my-session-1/heads/main ${tip}`,
      expect.stringContaining('refs/rewind/my-session-1/tags/v1 '),
    ])
    expect(fs.existsSync(mark)).toBe(false)
    expect(fs.readFileSync(join(host, '.git/index')).equals(before)).toBe(true)
    expect(fs.existsSync(join(host, '.git/FETCH_HEAD'))).toBe(false)
    expect(run(host, ['show', `${tip}:a`])).toBe('2')
    run(host, ['fsck', '--strict'])
  })

  test('once more: what went on is moved, also where it was rewritten', async () => {
    work('2')
    await fetched(bundled('main'))
    run(sandbox, ['commit', '-q', '--amend', '-m', 'otherwise'])
    const rewritten = run(sandbox, ['rev-parse', 'HEAD']).trim()
    await fetched(bundled('main', `^${start}`))
    expect(refsOf(host)).toContain(`refs/rewind/my-session-1/heads/main ${rewritten}`)
  })

  test('what it builds on has to be here', async () => {
    const middle = work('2')
    work('3')
    const refusal = fetched(bundled('main', `^${middle}`))
    await expect(refusal).rejects.toThrow(GitError)
    await expect(refusal).rejects.toMatchObject({ data: { reason: 'incomplete', missing: [middle] } })

    // The header says nothing of what is missing.
    const path = bundled('main', `^${middle}`)
    const bytes = fs.readFileSync(path)
    const text = bytes.toString('latin1').replace(/^-.*\n/m, '')
    fs.writeFileSync(path, Buffer.from(text, 'latin1'))
    await expect(fetched(path)).rejects.toMatchObject({ data: { reason: expect.stringMatching(/incomplete|refused/) } })

    // A ref leads to something that neither has.
    const whole = bundled('main', `^${start}`)
    const lie = fs
      .readFileSync(whole)
      .toString('latin1')
      .replace(/^[0-9a-f]{40} refs/m, `${'1'.repeat(40)} refs`)
    fs.writeFileSync(whole, Buffer.from(lie, 'latin1'))
    await expect(fetched(whole)).rejects.toMatchObject({ data: { reason: 'incomplete' } })
    expect(refsOf(host)).toEqual([`refs/heads/main ${start}`])
  })

  test('objects that git would not make are refused, damaged ones too', async () => {
    work('2')
    const path = bundled('main', `^${start}`)
    const bytes = fs.readFileSync(path)
    const at = bytes.length - 30
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
    fs.writeFileSync(path, bytes)
    await expect(fetched(path)).rejects.toMatchObject({ data: { reason: 'refused' } })
    fs.truncateSync(path, at)
    await expect(fetched(path)).rejects.toMatchObject({ data: { reason: 'refused' } })

    // A tree with a file named .git in it, which a checkout would write over the repository.
    const blob = run(sandbox, ['hash-object', '-w', '--stdin'], 'x').trim()
    const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')])
    const tree = writeObject('tree', entry)
    const who = 'A <a@example.org> 0 +0000'
    const commit = writeObject('commit', Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nx\n`))
    run(sandbox, ['update-ref', 'refs/heads/bad', commit])
    const refusal = fetched(bundled('bad'))
    await expect(refusal).rejects.toMatchObject({ data: { reason: 'refused', said: expect.stringContaining('.git') } })
    expect(refsOf(host)).toEqual([`refs/heads/main ${start}`])
  })

  function writeObject(type: string, content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const id = createHash('sha1').update(bytes).digest('hex')
    const folder = join(sandbox, '.git/objects', id.slice(0, 2))
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(join(folder, id.slice(2)), deflateSync(bytes))
    return id
  }

  test('names cannot lead out of their folder', async () => {
    const tip = work('2')
    const path = bundled('main', `^${start}`)
    const bytes = fs.readFileSync(path).toString('latin1')
    const names = [
      'refs/heads/fine',
      'refs/../../heads/main',
      '../heads/main',
      'refs/heads/main.lock',
      'refs//x',
      'refs/heads/a b',
      'refs/heads/\xff',
      'refs/heads/-x',
    ]
    const lines = names.map((name) => `${tip} ${name}\n`).join('')
    fs.writeFileSync(path, Buffer.from(bytes.replace(/^[0-9a-f]{40} refs.*\n/m, lines), 'latin1'))
    for (const [session, folder] of [
      ['../../heads', 'heads'],
      ['..', 'session'],
      ['-x.lock', 'x-lock'],
      ['größe 1', 'größe-1'],
    ]) {
      const { refs, refused } = await fetched(path, session)
      expect(refs.map(({ ref }) => ref)).toEqual([`refs/rewind/${folder}/heads/fine`, `refs/rewind/${folder}/heads/-x`])
      expect(refused).toHaveLength(6)
    }
    expect(refsOf(host).filter((line) => !line.startsWith('refs/rewind/'))).toEqual([`refs/heads/main ${start}`])
  })

  test('what is no bundle, or no repository', async () => {
    work('2')
    const bundle = bundled('main')
    const path = join(base, 'file')
    for (const content of ['', '# v2 git bundle\n', '# v9 git bundle\n\n', '# v2 git bundle\nnonsense\n\n', 'x\n\n']) {
      fs.writeFileSync(path, content)
      await expect(fetched(path), JSON.stringify(content)).rejects.toThrow(InvalidPathError)
    }
    fs.writeFileSync(path, Buffer.alloc(1 << 20, 'x'))
    await expect(fetched(path)).rejects.toThrow('its header has no end')
    fs.symlinkSync(bundle, join(base, 'link'))
    await expect(fetched(join(base, 'link'))).rejects.toThrow('ELOOP')
    await expect(fetched(base)).rejects.toThrow(InvalidPathError)
    await expect(fetched(join(base, 'nothing'))).rejects.toThrow('ENOENT')
    fs.writeFileSync(path, '# v3 git bundle\n@filter=blob:none\n\n')
    await expect(fetched(path)).rejects.toThrow('its header says "@filter=blob:none"')
    await expect(fetchBundle({ workspace: base, bundle, session: 's' })).rejects.toThrow(InvalidPathError)
    const long = makeRepository(join(base, 'long'), ['--object-format=sha256'])
    await expect(fetchBundle({ workspace: long, bundle, session: 's' })).rejects.toMatchObject({
      data: { reason: 'refused' },
    })
  })

  test('a bundle of a repository whose ids have 64 digits', async () => {
    const long = makeRepository(join(base, 'long'), ['--object-format=sha256'])
    fs.writeFileSync(join(long, 'a'), '1')
    const tip = commitAll(long)
    const path = join(base, 'long.bundle')
    run(long, ['bundle', 'create', '-q', path, 'main'])
    const other = makeRepository(join(base, 'other'), ['--object-format=sha256'])
    await fetchBundle({ workspace: other, bundle: path, session: 's' })
    expect(refsOf(other)).toEqual([`refs/rewind/s/heads/main ${tip}`])
  })

  test('many refs at once', async () => {
    const tip = work('2')
    const stdin = Array.from({ length: 1000 }, (_, at) => `create refs/heads/many/${at} ${tip}\n`).join('')
    run(sandbox, ['update-ref', '--stdin'], stdin)
    const { refs } = await fetched(bundled('--all', `^${start}`))
    expect(refs).toHaveLength(1002)
    expect(refsOf(host)).toHaveLength(1003)
  })
})
