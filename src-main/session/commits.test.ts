/** Commits to the host: what arrives there, what stands in its way, and what everybody else keeps seeing. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { CommitConflictError, InvalidOptionError, InvalidPathError, type SessionOptions } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, rollback, run, type TestHome, testHome, tree } from './testing.ts'

const everything = { paths: null, force: false, skipConflicts: false }

/** Every entry of a folder of this machine: path, kind, permissions, content. */
function hostTree(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path), { encoding: 'latin1' })
    .sort()
    .flatMap((name) => {
      const inner = path === '' ? name : `${path}/${name}`
      const at = Buffer.from(join(folder, inner), 'latin1')
      const stat = lstatSync(at)
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isDirectory()) return [`${inner}/ ${mode}`, ...hostTree(folder, inner)]
      if (stat.isSymbolicLink()) return [`${inner} -> ${readlinkSync(at)}`]
      if (stat.isFIFO()) return [`${inner} | ${mode}`]
      return [`${inner} ${mode} ${readFileSync(at, 'latin1')}`]
    })
}

suiteNeeding(['local'], 'commits to the host', () => {
  let place: TestHome
  let manager: SessionManager
  let close: () => Promise<void>
  const at = (path: string) => join(place.workspace, path)
  const host = (path: string, content: string) => {
    const made = mkdirSync(join(at(path), '..'), { recursive: true })
    writeFileSync(at(path), content)
    own(made ?? at(path))
  }
  /** As root, what belongs to an ordinary user, so that its folder can be used without copying it. */
  const own = (path: string) => {
    if (process.getuid?.() === 0) execFileSync('chown', ['-hR', '1000:1000', path])
  }
  const text = (path: string) => readFileSync(at(path), 'utf8')
  const say = async (session: Session, script: string) => {
    const { code, stderr } = await run(session, script)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  }
  const beginWith = async (options: Partial<SessionOptions>) => {
    // What was written in the same millisecond counts as written since.
    await sleep(10)
    const { session } = await manager.create({
      name: 'test',
      workspace: place.workspace,
      explicit: true,
      create: false,
      force: false,
      engine: 'local',
      mode: 'interactive',
      base: 'auto',
      network: true,
      env: {},
      ...options,
    })
    return manager.find(session.id)
  }
  const conflicts = async (attempt: Promise<unknown>) => {
    const error = await attempt.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CommitConflictError)
    const { data } = error as CommitConflictError
    const found = [...(data.conflicts as { path: string; conflict: string | null; obstacle: string | null }[])]
    found.push(...(data.obstacles as typeof found))
    return Object.fromEntries(found.map(({ path, conflict, obstacle }) => [path, obstacle ?? conflict]))
  }

  beforeEach(async () => {
    place = testHome()
    own(place.workspace)
    const opened = await place.open()
    ;({ manager, close } = opened)
  })
  afterEach(async () => {
    await close()
    await place.remove()
  })

  for (const base of ['copy', 'live'] as const) {
    test(`everything that was changed arrives as it is, and nothing else is touched (${base})`, async () => {
      for (const path of ['edited', 'deleted', 'mode', 'folder/one', 'folder/two', 'was a file', 'renamed from'])
        host(path, `${path}\n`)
      host('was a folder/in it', 'x')
      const untouched = lstatSync(at('kept.txt'))
      const session = await beginWith({ base })
      await say(
        session,
        'echo new >edited; rm deleted; chmod 750 mode; rm folder/one; rm "was a file"; mkdir -p "was a file/now"; ' +
          'echo deep >"was a file/now/deep"; rm -r "was a folder"; echo file >"was a folder"; mv "renamed from" "renamed to"; ' +
          'mkdir -m 755 empty; mkdir -m 500 closed; ln -s edited link; ln -s nowhere dangling; mkfifo -m 600 pipe; ' +
          'head -c 300000 /dev/urandom >binary; chmod 600 binary; printf x >"$(printf \'o\\n\\377d\')"; chmod 4711 binary; : >nothing',
      )
      const before = hostTree(place.workspace)
      const result = await session.commits.apply(everything, 'you')
      expect(result).toMatchObject({ status: 'committed', skipped: [], warnings: [] })
      const { stdout } = await run(session, "find . ! -name . -printf '%P %y %m %s %l\\n' | base64 -w0")
      const found = execFileSync('find', ['.', '!', '-name', '.', '-printf', '%P %y %m %s %l\n'], {
        cwd: place.workspace,
        encoding: 'latin1',
      })
      // Without setuid; the size of a folder is its own affair.
      const plain = (list: string) =>
        list
          .split('\n')
          .map((line) => line.replace(/ d (\d+) \d+ /, ' d $1 ').replace(' 4711 ', ' 711 '))
          .sort()
      expect(plain(found)).toEqual(plain(Buffer.from(stdout, 'base64').toString('latin1')))
      expect(text('edited')).toBe('new\n')
      expect(lstatSync(at('binary')).mode & 0o7777).toBe(0o711)
      expect(lstatSync(at('kept.txt'))).toMatchObject({ ino: untouched.ino, ctimeMs: untouched.ctimeMs })
      expect(session.ledger({ checkpoint: null, type: 'commit', status: null })).toMatchObject([
        { status: 'committed', point: session.timeline().head, decidedBy: 'you' },
      ])
      expect(readdirSync(place.folder).sort()).toEqual(['home', 'project'])

      // Nothing is left to be done; what comes later is all that is written then.
      expect(await session.commits.preview({ paths: null })).toMatchObject({ entries: [], conflicts: 0 })
      expect(await session.commits.apply(everything, 'you')).toMatchObject({ status: 'nothing', commit: null })
      await say(session, 'echo newer >edited')
      const second = await session.commits.apply(everything, 'you')
      expect(second.written.map(({ path, status }) => [path, status])).toEqual([['edited', 'modified']])
      expect(text('edited')).toBe('newer\n')

      // Earlier points show what they did; the host goes back by two undos.
      await rollback(session, 'base')
      expect(await tree(session)).toContain('./edited: edited\n')
      expect(await tree(session)).not.toContain('deep')
      await session.undo()
      await session.commits.undo({ id: null, force: false }, 'you')
      expect(text('edited')).toBe('new\n')
      const undone = await session.commits.undo({ id: result.commit?.id ?? '', force: false }, 'you')
      expect(undone).toMatchObject({ status: 'undone', commit: { id: result.commit?.id } })
      expect(hostTree(place.workspace)).toEqual(before)
      await expect(session.commits.undo({ id: null, force: false }, 'you')).rejects.toBeInstanceOf(InvalidOptionError)
      expect(session.commits.list().map(({ undoneAt }) => undoneAt !== null)).toEqual([true, true])
      // And all of it can be committed again.
      expect((await session.commits.apply(everything, 'you')).counts).toEqual(result.counts)
      expect(text('edited')).toBe('newer\n')
    })

    test(`each meeting of two changes has its name (${base})`, async () => {
      const names = ['both', 'gone there', 'gone here', 'alike', 'touched', 'only there', 'kind', 'mode', 'folder/mine']
      for (const path of names) host(path, `${path}\n`)
      host('parent/child', 'x\n')
      const session = await beginWith({ base })
      await session.commits.preview({ paths: null })
      await say(
        session,
        'for f in both "gone there" alike touched kind mode parent/child; do echo mine >"$f"; done; rm "gone here"; ' +
          'echo a >added; echo a >"added alike"; rm -r folder; mkdir new; echo x >new/file; chmod 700 mode',
      )
      host('both', 'theirs\n')
      unlinkSync(at('gone there'))
      host('gone here', 'theirs\n')
      host('alike', 'mine\n')
      host('only there', 'theirs\n')
      execFileSync('touch', ['-d', '2001-01-01', at('touched')])
      host('added', 'theirs\n')
      host('added alike', 'a\n')
      host('folder/unseen', 'theirs\n')
      unlinkSync(at('kind'))
      mkdirSync(at('kind'))
      chmodSync(at('mode'), 0o600)
      rmSync(at('parent'), { recursive: true })
      symlinkSync('/etc', at('parent'))
      const expected: Record<string, string> = {
        added: 'both-added',
        both: 'both-changed',
        folder: 'folder-in-use',
        'gone here': 'changed-on-host',
        'gone there': 'deleted-on-host',
        kind: 'other-kind',
        mode: 'both-changed',
        'parent/child': 'no-folder',
      }
      // Only the times of this one are others: over a copy its bytes tell that, over the host's own folder nothing does.
      if (base === 'live') expected.touched = 'both-changed'
      const before = hostTree(place.workspace)
      expect(await conflicts(session.commits.apply(everything, 'you'))).toEqual(expected)
      const preview = await session.commits.preview({ paths: null })
      expect(preview.conflicts).toBe(Object.keys(expected).length)
      expect(preview.entries.map(({ path }) => path)).not.toContain('alike')
      expect(hostTree(place.workspace)).toEqual(before)

      const skipped = await session.commits.apply({ ...everything, skipConflicts: true }, 'you')
      expect(skipped.skipped.map(({ path }) => path).sort()).toEqual(Object.keys(expected).sort())
      expect(text('both')).toBe('theirs\n')
      expect(text('new/file')).toBe('x\n')
      expect(existsSync(at('folder/mine'))).toBe(false)
      expect(text('folder/unseen')).toBe('theirs\n')
      // They are still there the next time, and the sandbox's can be insisted on; what it never saw stays all the same.
      expect(await conflicts(session.commits.apply(everything, 'you'))).toEqual(expected)
      const forced = await session.commits.apply({ ...everything, force: true }, 'you')
      expect(forced.skipped.map(({ path }) => path)).toEqual(['folder'])
      expect(text('both')).toBe('mine\n')
      expect(text('parent/child')).toBe('mine\n')
      expect(existsSync(at('gone here'))).toBe(false)
      expect(text('folder/unseen')).toBe('theirs\n')
      expect(lstatSync(at('parent')).isDirectory()).toBe(true)
      expect(existsSync('/etc/child')).toBe(false)
      await session.commits.undo({ id: null, force: false }, 'you')
      expect(text('both')).toBe('theirs\n')
      expect(readlinkSync(at('parent'))).toBe('/etc')
    })
  }

  test('chosen paths go alone, with the folders they need; the rest follows later', async () => {
    host('one', 'one\n')
    host('two', 'two\n')
    const session = await beginWith({})
    await say(session, 'echo 1 >one; echo 2 >two; mkdir -p deep/er; echo 3 >deep/er/three; echo 4 >deep/four')
    const chosen = [
      { path: 'one', rawPath: null },
      { path: 'deep/er', rawPath: null },
    ]
    const preview = await session.commits.preview({ paths: chosen })
    expect(preview.entries.map(({ path }) => path)).toEqual(['deep', 'deep/er', 'deep/er/three', 'one'])
    const first = await session.commits.apply({ ...everything, paths: chosen }, 'you')
    expect(first.commit?.left).toBe(2)
    expect([text('one'), text('two'), existsSync(at('deep/four'))]).toEqual(['1\n', 'two\n', false])
    const rest = await session.commits.apply(everything, 'you')
    expect(rest.written.map(({ path }) => path)).toEqual(['deep/four', 'two'])
    expect([text('two'), text('deep/four')]).toEqual(['2\n', '4\n'])
    // What was left out and then taken back in the sandbox is nothing to be written.
    await say(session, 'echo 5 >two; echo 6 >one')
    await session.commits.apply({ ...everything, paths: [{ path: 'one', rawPath: null }] }, 'you')
    await say(session, 'echo 2 >two')
    expect(await session.commits.preview({ paths: null })).toMatchObject({ entries: [] })
  })

  test('what was written once and is then left out is offered again, also where the sandbox went back to the beginning', async () => {
    host('f', 'as it was\n')
    const session = await beginWith({})
    await say(session, 'echo 1 >f; echo 1 >made; echo 1 >other')
    await session.commits.apply(everything, 'you')
    await say(session, "echo 'as it was' >f; rm made; echo 2 >other")
    await session.commits.apply({ ...everything, paths: [{ path: 'other', rawPath: null }] }, 'you')
    expect([text('f'), text('made'), text('other')]).toEqual(['1\n', '1\n', '2\n'])
    // What a commit can go back to is held.
    const [{ point } = { point: '' }] = session.commits.list()
    await expect(session.prune({ points: [point], keep: null })).rejects.toBeInstanceOf(InvalidOptionError)
    const { entries } = await session.commits.preview({ paths: null })
    expect(entries.map(({ path, status }) => [path, status])).toEqual([
      ['f', 'modified'],
      ['made', 'deleted'],
    ])
    await session.commits.apply(everything, 'you')
    expect([text('f'), existsSync(at('made'))]).toEqual(['as it was\n', false])
  })

  test('an edit on the host right after a commit is a conflict, not ours', async () => {
    host('f', 'as it was\n')
    const session = await beginWith({})
    await say(session, 'echo 1 >f')
    await session.commits.apply(everything, 'you')
    host('f', 'edited at once\n')
    await say(session, 'echo 2 >f')
    expect(await conflicts(session.commits.apply(everything, 'you'))).toEqual({ f: 'both-changed' })
    expect(text('f')).toBe('edited at once\n')
  })

  test('permissions alone are changed in place, and earlier points keep theirs', async () => {
    host('f', 'as it was\n')
    const session = await beginWith({ base: 'live' })
    const beside = await beginWith({ base: 'live', name: 'beside' })
    await say(session, 'chmod 755 f')
    const { ino } = lstatSync(at('f'))
    await session.commits.apply(everything, 'you')
    expect(lstatSync(at('f'))).toMatchObject({ ino, mode: 0o100755 })
    expect((await run(beside, 'stat -c %a f')).stdout).toBe('644\n')
    await rollback(session, 'base')
    expect((await run(session, 'stat -c %a f')).stdout).toBe('644\n')
    await session.commits.apply(everything, 'you')
    expect(lstatSync(at('f')).mode).toBe(0o100644)
  })

  test('what was committed and is rewound is taken back from the host by the next commit', async () => {
    host('a', 'as it was\n')
    const session = await beginWith({})
    await say(session, 'echo 1 >a; echo 2 >b')
    await session.commits.apply(everything, 'you')
    await rollback(session, 'base')
    expect([text('a'), text('b')]).toEqual(['1\n', '2\n'])
    const back = await session.commits.apply(everything, 'you')
    expect(back.written.map(({ path, status }) => [path, status])).toEqual([
      ['a', 'modified'],
      ['b', 'deleted'],
    ])
    expect([text('a'), existsSync(at('b'))]).toEqual(['as it was\n', false])
  })

  test('other live sessions show what they did, whichever way their folders lie', async () => {
    host('inner/a', 'as it was\n')
    host('inner/gone', 'as it was\n')
    const session = await beginWith({ base: 'live', workspace: at('inner') })
    const beside = await beginWith({ base: 'live', workspace: at('inner'), name: 'beside' })
    const around = await beginWith({ base: 'live', name: 'around' })
    await say(session, 'echo mine >a; rm gone; echo new >new')
    const seen = async () => [await tree(beside), await tree(around)]
    const before = await seen()
    await session.commits.apply(everything, 'you')
    expect(text('inner/a')).toBe('mine\n')
    expect(await seen()).toEqual(before)
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(await seen()).toEqual(before)
    // One that cannot keep it is named, and nothing is done.
    await beside.startCommand({
      id: 'holds',
      command: 'exec 3<a; echo ready; exec sleep 300',
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool: null,
    })
    await expect
      .poll(async () => (await beside.output({ id: 'holds', stream: 'stdout', offset: 0, limit: 100 })).next)
      .toBe(6)
    const refused = await session.commits.apply(everything, 'you').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(CommitConflictError)
    expect((refused as CommitConflictError).data.sessions).toMatchObject([{ name: 'beside' }])
    expect(text('inner/a')).toBe('as it was\n')
    await session.commits.apply({ ...everything, force: true }, 'you')
    expect(text('inner/a')).toBe('mine\n')
  })

  test('an undo that would lose what the host has since is refused', async () => {
    host('a', 'as it was\n')
    const session = await begin(manager, place.workspace)
    await say(session, 'echo 1 >a; echo 2 >b')
    await session.commits.apply(everything, 'you')
    host('b', 'edited since\n')
    await expect(session.commits.undo({ id: null, force: false }, 'you')).rejects.toThrow(
      /b changed on the host since the commit/,
    )
    expect([text('a'), text('b')]).toEqual(['1\n', 'edited since\n'])
    unlinkSync(at('b'))
    writeFileSync(at('b'), '2\n')
    await expect(session.commits.undo({ id: null, force: false }, 'you')).rejects.toBeInstanceOf(CommitConflictError)
    expect(session.commits.list()).toMatchObject([{ undoneAt: null }])
  })

  test('a workspace that was moved, replaced or closed is refused, and nothing is lost', async () => {
    const session = await beginWith({ base: 'copy' })
    await say(session, 'echo 1 >a')
    renameSync(place.workspace, `${place.workspace}-moved`)
    await expect(session.commits.apply(everything, 'you')).rejects.toBeInstanceOf(InvalidPathError)
    await expect(session.commits.preview({ paths: null })).rejects.toBeInstanceOf(InvalidPathError)
    renameSync(`${place.workspace}-moved`, place.workspace)
    await session.commits.apply(everything, 'you')
    expect(text('a')).toBe('1\n')
  })

  test.runIf(process.getuid?.() === 0)(
    'a workspace on a full disk, or one that nobody may write to, is as it was',
    async () => {
      // A disk of its own: what is prepared lies beside the workspace there.
      const disk = join(place.folder, 'disk')
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'rewind-test', disk])
      try {
        const workspace = join(disk, 'project')
        mkdirSync(workspace)
        writeFileSync(join(workspace, 'a'), 'as it was\n')
        const session = await beginWith({ workspace, base: 'copy', name: 'small' })
        await say(session, 'echo 1 >a; head -c 6000000 /dev/zero >large')
        const before = hostTree(disk)
        await expect(session.commits.apply(everything, 'you')).rejects.toMatchObject({ code: 'DISK_FULL' })
        expect(hostTree(disk)).toEqual(before)
        execFileSync('mount', ['-o', 'remount,ro', disk])
        await say(session, 'rm large')
        await expect(session.commits.apply(everything, 'you')).rejects.toBeInstanceOf(InvalidPathError)
        execFileSync('mount', ['-o', 'remount,rw', disk])
        expect(hostTree(disk)).toEqual(before)
        // Nothing of it is left beside the workspace, where it has been done either.
        expect(await session.commits.apply(everything, 'you')).toMatchObject({ status: 'committed' })
        expect(readdirSync(disk)).toEqual(['project'])
        expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('1\n')
        await session.commits.undo({ id: null, force: false }, 'you')
        expect(hostTree(disk)).toEqual(before)
        await session.destroy()
        // Where the workspace is a mount of its own, there is no room beside it.
        const whole = await beginWith({ workspace: disk, base: 'copy', name: 'whole' })
        await say(whole, 'echo 2 >project/a')
        await whole.commits.apply(everything, 'you')
        expect(hostTree(disk)).toEqual(before.map((line) => line.replace('as it was', '2')))
        await whole.commits.undo({ id: null, force: false }, 'you')
        expect(hostTree(disk)).toEqual(before)
        await whole.destroy()
      } finally {
        execFileSync('umount', ['-l', disk])
      }
    },
  )

  test('what cannot be on the host is named and left out, and nothing else is touched by it', async () => {
    const session = await beginWith({})
    await say(
      session,
      // So deep, by such names, that its path is longer than the host takes as one.
      'perl -e \'for (1..27) { mkdir "a" x 160; chdir "a" x 160 or die $! } open F, ">file"; print F "deep"\'',
    )
    await say(
      session,
      'perl -MSocket -e \'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("socket"))\'; echo fine >fine',
    )
    await say(session, "mkdir link; printf 'gitdir: /etc\\n' >link/.git; ln -s ../../../etc/passwd out; ln -s fine in")
    const found = await conflicts(session.commits.apply(everything, 'you'))
    expect(found).toMatchObject({ socket: 'special', 'link/.git': 'linked-repository' })
    const long = Object.entries(found).filter(([, obstacle]) => obstacle === 'too-long')
    expect(long.length).toBeGreaterThan(2)
    expect(long.every(([path]) => path.length > 3_000)).toBe(true)
    expect(readdirSync(place.workspace)).toEqual(['kept.txt'])
    // To insist does not help.
    expect(await conflicts(session.commits.apply({ ...everything, force: true }, 'you'))).toMatchObject({
      socket: 'special',
    })
    const result = await session.commits.apply({ ...everything, skipConflicts: true }, 'you')
    expect(result.written.find(({ path }) => path === 'out')?.warning).toMatch(/leads out/)
    expect(result.written.find(({ path }) => path === 'in')?.warning).toBeNull()
    expect(text('fine')).toBe('fine\n')
    expect(readlinkSync(at('out'))).toBe('../../../etc/passwd')
    expect([existsSync(at('socket')), existsSync(at('link/.git'))]).toEqual([false, false])
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(readdirSync(place.workspace)).toEqual(['kept.txt'])
  })

  test('a halted session commits nothing', async () => {
    const session = await begin(manager, place.workspace)
    session.autoRollback({
      on: true,
      events: ['test_failure'],
      to: 'base',
      verifier: { command: 'true', retries: 0, retryDelayMs: 1, timeoutMs: null },
    })
    await say(session, 'echo 1 >a')
    await session.runTests({ command: null }).catch(() => {})
    await expect(session.commits.apply(everything, 'you')).rejects.toThrow(/halted|decision/)
    expect(existsSync(at('a'))).toBe(false)
  })

  test('an ended session is committed from its files as they were', async () => {
    host('a', 'as it was\n')
    const session = await beginWith({ base: 'copy' })
    await say(session, 'echo 1 >a')
    await checkpoint(session, 'one')
    await session.end()
    expect(await session.commits.preview({ paths: null })).toMatchObject({
      entries: [{ path: 'a', status: 'modified' }],
    })
    expect(await session.commits.apply(everything, 'you')).toMatchObject({ status: 'committed' })
    expect(text('a')).toBe('1\n')
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(text('a')).toBe('as it was\n')
    // One that stands on the host's own files cannot keep what its points show.
    const live = await beginWith({ base: 'live', name: 'live' })
    await say(live, 'echo 2 >a')
    await checkpoint(live, 'two')
    await live.end()
    await expect(live.commits.apply(everything, 'you')).rejects.toThrow(/live .*it has ended/)
    expect(text('a')).toBe('as it was\n')
    await live.commits.apply({ ...everything, force: true }, 'you')
    expect(text('a')).toBe('2\n')
  })

  test('hard links and points of the past stay what they are', async () => {
    host('a', 'as it was\n')
    linkSync(at('a'), join(place.folder, 'home', 'other name'))
    const session = await begin(manager, place.workspace)
    await say(session, 'echo 1 >a')
    const point = await checkpoint(session, 'one')
    await session.commits.apply(everything, 'you')
    expect(readFileSync(join(place.folder, 'home', 'other name'), 'utf8')).toBe('as it was\n')
    await expect(session.prune({ points: [point.id], keep: null })).rejects.toBeInstanceOf(InvalidOptionError)
  })

  test('what many commits left out stays known, whatever is pruned', async () => {
    host('a', 'as it was\n')
    host('b', 'as it was\n')
    const session = await begin(manager, place.workspace)
    await say(session, 'echo 1 >a')
    await session.commits.apply(everything, 'you')
    await say(session, 'echo 2 >a')
    // More than can be undone.
    for (let n = 0; n < 12; n++) {
      await say(session, `echo ${n} >b`)
      await session.commits.apply({ ...everything, paths: [{ path: 'b', rawPath: null }] }, 'you')
    }
    await session.prune({ points: [], keep: 0 })
    expect(await session.commits.preview({ paths: null })).toMatchObject({
      entries: [{ path: 'a', status: 'modified' }],
    })
    await session.commits.apply(everything, 'you')
    expect([text('a'), text('b')]).toEqual(['2\n', '11\n'])
  })

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'safe.directory=*', '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', ...args], {
      cwd: place.workspace,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const repository = () => {
    host('a', 'as it was\n')
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-qm', 'first')
    own(place.workspace)
  }
  const COMMIT = "git -c user.name=Agent -c user.email=a@localhost commit -qam 'of the agent'"

  test('a repository that the host left alone is taken whole, hooks with a warning', async () => {
    repository()
    const session = await beginWith({})
    await say(
      session,
      `echo 1 >a; ${COMMIT}; printf '#!/bin/sh\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`,
    )
    const preview = await session.commits.preview({ paths: null })
    expect(preview.entries.find(({ path }) => path === '.git/hooks/post-checkout')?.warning).toMatch(
      /git on this machine/,
    )
    await session.commits.apply(everything, 'you')
    expect(git('log', '--format=%s')).toBe('of the agent\nfirst\n')
    expect(git('status', '--porcelain')).toBe('')
    expect(() => git('fsck', '--strict')).not.toThrow()
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(git('log', '--format=%s')).toBe('first\n')
    expect(text('a')).toBe('as it was\n')
  })

  test('a repository that both changed stays the host’s, and the sandbox’s commits are fetched beside', async () => {
    repository()
    const session = await beginWith({})
    await session.commits.preview({ paths: null })
    await say(session, `echo 1 >a; ${COMMIT}; echo new >b`)
    host('c', 'of the host\n')
    git('add', 'c')
    git('commit', '-qm', 'of the host')
    const result = await session.commits.apply(everything, 'you')
    expect(result.written.map(({ path }) => path)).toEqual(['a', 'b'])
    expect(result.refs).toContain('refs/rewind/test/heads/main')
    expect(result.warnings.join()).toContain('.git was changed on the host and in the sandbox')
    expect(git('log', '--format=%s')).toBe('of the host\nfirst\n')
    expect(git('log', '--format=%s', 'refs/rewind/test/heads/main')).toBe('of the agent\nfirst\n')
    expect([text('a'), text('b'), text('c')]).toEqual(['1\n', 'new\n', 'of the host\n'])
  })

  test('the changes as a patch, and on a branch beside what is checked out', async () => {
    repository()
    const session = await beginWith({})
    await say(
      session,
      "echo 1 >a; mkdir d; printf '\\0binary' >d/b; ln -s a link; mkdir empty; rm kept.txt; chmod +x a",
    )
    let patch = ''
    let left: unknown[] = []
    for await (const part of session.elsewhere.patch({ paths: null }))
      if ('text' in part) patch += part.text
      else left = part.left
    expect(left).toEqual([{ path: 'empty', reason: 'git knows no empty folders' }])
    const copy = join(place.folder, 'copy')
    execFileSync('cp', ['-a', place.workspace, copy])
    execFileSync('git', ['apply', '-'], { cwd: copy, input: patch })
    expect(readFileSync(join(copy, 'd/b'), 'latin1')).toBe('\0binary')
    expect([
      readFileSync(join(copy, 'a'), 'utf8'),
      readlinkSync(join(copy, 'link')),
      existsSync(join(copy, 'kept.txt')),
    ]).toEqual(['1\n', 'a', false])
    rmSync(copy, { recursive: true })

    const before = hostTree(place.workspace).filter((line) => !line.startsWith('.git/'))
    const made = await session.elsewhere.branch({ name: 'agent/work', message: 'By the agent', paths: null })
    expect(made).toMatchObject({ branch: 'agent/work', written: 4, ignored: [] })
    expect(git('log', '--format=%s', 'agent/work')).toBe('By the agent\nfirst\n')
    expect(git('diff', '--stat', '--summary', 'main', 'agent/work')).toMatch(
      /a +\|.*d\/b +\| Bin.*delete mode 100644 kept.txt/s,
    )
    expect(git('branch', '--show-current')).toBe('main\n')
    expect(hostTree(place.workspace).filter((line) => !line.startsWith('.git/'))).toEqual(before)
    await expect(session.elsewhere.branch({ name: 'main', message: null, paths: null })).rejects.toBeInstanceOf(
      InvalidOptionError,
    )
    // Of the chosen ones alone.
    const some = await session.elsewhere.branch({ name: 'some', message: null, paths: [{ path: 'd', rawPath: null }] })
    expect(some.written).toBe(1)
    expect(readdirSync(join(place.home, 'commits'))).toEqual([])
  })

  test('a patch and a branch hold what earlier commits left out, of a file too, and start from what the host was given', async () => {
    repository()
    host('left', 'as it was\n')
    host('lines', '1\n2\n3\n4\n5\n6\n7\n8\n9\n')
    const session = await beginWith({})
    await say(session, "echo later >left; echo new >made; printf '1\nB\n3\n4\n5\n6\n7\nH\n9\n' >lines; echo 1 >other")
    const hunks = await session.commits.hunks({ path: 'lines', rawPath: null })
    const [first] = hunks.kind === 'hunks' ? hunks.stretches.flatMap(({ id }) => id ?? []) : []
    await session.commits.apply(
      {
        ...everything,
        paths: [{ path: 'other', rawPath: null }],
        hunks: [{ path: 'lines', rawPath: null, take: [first ?? ''] }],
      },
      'you',
    )
    expect([text('left'), text('lines')]).toEqual(['as it was\n', '1\nB\n3\n4\n5\n6\n7\n8\n9\n'])
    let patch = ''
    for await (const part of session.elsewhere.patch({ paths: null })) if ('text' in part) patch += part.text
    execFileSync('git', ['apply', '-'], { cwd: place.workspace, input: patch })
    expect([text('left'), text('made'), text('lines')]).toEqual(['later\n', 'new\n', '1\nB\n3\n4\n5\n6\n7\nH\n9\n'])
    const made = await session.elsewhere.branch({ name: 'rest', message: null, paths: null })
    expect(made.written).toBe(3)
    expect(git('show', 'rest:lines')).toBe('1\nB\n3\n4\n5\n6\n7\nH\n9\n')
    expect(readdirSync(join(place.home, 'commits')).filter((name) => name.startsWith('elsewhere'))).toEqual([])
  })
})
