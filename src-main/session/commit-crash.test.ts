/**
 * The host is killed at every declared point of a commit and of its undoing. What the workspace holds afterwards is all
 * old or all new, nothing of ours lies beside it, and the session goes on.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { commitCrashPoints } from '../store/index.ts'
import type { Session } from './index.ts'
import { begin, rollback, run, type TestHome, testHome, tree } from './testing.ts'

const everything = { paths: null, force: false, skipConflicts: false }
/** What is looked at: every entry with its kind, permissions and content. */
const LISTING = "find . ! -name . -printf '%P %y %m %l\\n' -type f -exec cat {} \\; | sort"

// As an ordinary user, whom the host refuses more: root goes the same way, and each of its points takes seconds.
suiteNeeding(['local', 'userns'], 'a crash in the middle of a commit', () => {
  let place: TestHome
  let session: Session
  let close: () => Promise<void>
  beforeEach(() => {
    place = testHome()
    for (const path of ['edited', 'deleted', 'folder/one', 'folder/two', 'kind']) {
      mkdirSync(join(place.workspace, path, '..'), { recursive: true })
      writeFileSync(join(place.workspace, path), `${path} as it was\n`)
    }
    symlinkSync('edited', join(place.workspace, 'link'))
  })
  afterEach(async () => {
    await close()
    await place.remove()
  })

  const open = async () => {
    const opened = await place.open()
    close = opened.close
    const [{ id } = { id: '' }] = opened.manager.list()
    if (id !== '') session = opened.manager.find(id)
    return opened.manager
  }
  const listed = () => execFileSync('sh', ['-c', LISTING], { cwd: place.workspace, encoding: 'utf8' })
  const prepare = async () => {
    session = await begin(await open(), place.workspace)
    await run(
      session,
      'echo new >edited; rm deleted; rm -r folder; rm kind; mkdir -m 750 kind; echo deep >kind/deep; ln -sfn kind link; ' +
        'mkdir added; for n in 1 2 3; do echo $n >added/$n; done; chmod 500 added',
    )
  }
  const die = (operation: string, crashAt: string) => {
    const { signal, stdout } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, 'crash-child.ts'), place.home, operation],
      { env: { ...process.env, REWIND_CRASH_AT: crashAt }, encoding: 'utf8', timeout: 60_000 },
    )
    expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
  }
  /** Nothing beside the workspace, and no more in the data folder than can be undone. */
  const expectTidy = (commits: number) => {
    expect(readdirSync(place.folder).sort()).toEqual(['home', 'project'])
    const kept = join(place.home, 'commits')
    expect(existsSync(kept) ? readdirSync(kept).length : 0).toBe(commits)
  }
  // Each is reached several times; the first is where nothing else was done yet.
  const times = commitCrashPoints.flatMap((point) =>
    point === 'commit:taken' || point === 'commit:put' ? [point, `${point}#2`, `${point}#5`] : [point],
  )

  for (const point of times)
    test(`host killed at ${point} of a commit`, async () => {
      await prepare()
      const before = listed()
      await close()
      die('commit', point)
      await open()
      const isDone = point === 'commit:recorded'
      if (!isDone) expect(listed()).toBe(before)
      expectTidy(isDone ? 1 : 0)
      expect(session.commits.list()).toHaveLength(isDone ? 1 : 0)
      expect(session.verifyLedger().whole).toBe(true)

      // It can be committed, undone, and committed again.
      if (!isDone) await session.commits.apply(everything, 'you')
      const after = listed()
      expect(after).toContain('deep')
      expect(await session.commits.preview({ paths: null })).toMatchObject({ entries: [] })
      await session.commits.undo({ id: null, force: false }, 'you')
      expect(listed()).toBe(before)
      await session.commits.apply(everything, 'you')
      expect(listed()).toBe(after)
      await rollback(session, 'base')
      expect(await tree(session)).toContain('./edited: edited as it was')
    })

  for (const point of times)
    test(`host killed at ${point} of an undo`, async () => {
      await prepare()
      const before = listed()
      await session.commits.apply(everything, 'you')
      const after = listed()
      await close()
      die('undo-commit', point)
      await open()
      const isDone = point === 'commit:recorded'
      expect(listed()).toBe(isDone ? before : after)
      if (!isDone) {
        expectTidy(1)
        await session.commits.undo({ id: null, force: false }, 'you')
      }
      expect(listed()).toBe(before)
      expect(session.commits.list()).toMatchObject([{ undoneAt: expect.any(Date) }])
      expect(session.verifyLedger().whole).toBe(true)
      await session.commits.apply(everything, 'you')
      expect(listed()).toBe(after)
    })

  test('what a person does on the host before the next start is left as it is, and named', async () => {
    await prepare()
    await close()
    die('commit', 'commit:put#5')
    // Half of it is there: a person mends what they see.
    writeFileSync(join(place.workspace, 'edited'), 'by hand\n')
    await open()
    expect(readFileSync(join(place.workspace, 'edited'), 'utf8')).toBe('by hand\n')
    const [note] = session.summary().notes.slice(-1)
    expect(note).toMatch(/A commit was interrupted, and others changed edited since: .* is kept in /)
    const kept = /kept in (.*)\.$/.exec(note ?? '')?.[1] ?? ''
    expect(readdirSync(join(kept, 'old')).length).toBeGreaterThan(0)
    // The rest is as it was.
    expect(readFileSync(join(place.workspace, 'folder/one'), 'utf8')).toBe('folder/one as it was\n')
    rmSync(kept, { recursive: true })
  })
})
