/** Commits of some of a file's lines: what arrives, what is offered afterwards, and what becomes of a host's own edits. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { type ChosenHunks, CommitConflictError, type FileStretch } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { rollback, run, type TestHome, testHome, write } from './testing.ts'

const everything = { paths: null, force: false, skipConflicts: false }
const one = (path: string) => ({ path, rawPath: null })

suiteNeeding(['local'], 'commits of hunks', () => {
  let place: TestHome
  let manager: SessionManager
  let session: Session
  let close: () => Promise<void>
  const at = (path: string) => join(place.workspace, path)
  const text = (path: string) => readFileSync(at(path), 'latin1')
  const host = (path: string, content: string) => {
    writeFileSync(at(path), content, 'latin1')
    if (process.getuid?.() === 0) execFileSync('chown', ['-h', '1000:1000', at(path)])
  }
  const open = async () => {
    const opened = await place.open()
    ;({ manager, close } = opened)
    const [known] = manager.list()
    if (known) session = manager.find(known.id)
  }
  const beginWith = async (base: 'copy' | 'live') => {
    // What was written in the same millisecond counts as written since.
    await sleep(10)
    const created = await manager.create({
      name: 'test',
      workspace: place.workspace,
      explicit: true,
      create: false,
      force: false,
      engine: 'local',
      mode: 'interactive',
      base,
      network: true,
      env: {},
    })
    session = manager.find(created.session.id)
    await session.commits.preview({ paths: null })
  }
  const put = (path: string, content: string) => write(session, path, content)
  const hunksOf = async (path: string): Promise<FileStretch[]> => {
    const found = await session.commits.hunks(one(path))
    return found.kind === 'hunks' ? found.stretches.filter(({ id }) => id !== null) : []
  }
  const whyWhole = async (path: string) => {
    const found = await session.commits.hunks(one(path))
    return found.kind === 'whole' ? found.reason : found.kind
  }
  /** The choice of its first hunk, its second, ... */
  const taking = async (path: string, ...numbers: number[]): Promise<ChosenHunks> => {
    const hunks = await hunksOf(path)
    return { ...one(path), take: numbers.map((number) => hunks[number]?.id ?? 'none') }
  }
  const commit = (hunks: ChosenHunks[] = [], rest = {}) =>
    session.commits.apply({ ...everything, hunks, ...rest }, 'you')
  const refusal = async (attempt: Promise<unknown>): Promise<string> => {
    const error = await attempt.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CommitConflictError)
    return (error as Error).message
  }
  const offered = async () => {
    const { entries, conflicts } = await session.commits.preview({ paths: null })
    return [
      ...entries.map(({ path, status }) => `${status} ${path}`),
      ...(conflicts > 0 ? [`${conflicts} in conflict`] : []),
    ]
  }

  const NINE = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
  const lines = (changed: Record<string, string> = {}, end = '\n') =>
    NINE.map((line) => `${changed[line] ?? line}${end}`).join('')

  beforeEach(async () => {
    place = testHome()
    if (process.getuid?.() === 0) execFileSync('chown', ['-hR', '1000:1000', place.workspace])
    await open()
  })
  afterEach(async () => {
    await close()
    await place.remove()
  })

  for (const base of ['copy', 'live'] as const)
    test(`some go, the rest is offered again and is no conflict, and each commit can be undone (${base})`, async () => {
      host('f', lines())
      host('whole', 'as it was\n')
      chmodSync(at('f'), 0o640)
      await beginWith(base)
      await put('f', lines({ two: 'TWO', five: 'FIVE', nine: 'NINE' }))
      await put('whole', 'new\n')
      await run(session, 'chmod 755 f')
      const stretches = await session.commits.hunks(one('f'))
      expect(stretches).toMatchObject({
        kind: 'hunks',
        stretches: [
          { kind: 'same', id: null, base: ['one\n'], cut: null },
          {
            kind: 'sandbox',
            at: { base: 2, sandbox: 2, host: 2 },
            base: ['two\n'],
            sandbox: ['TWO\n'],
            host: ['two\n'],
          },
          { kind: 'same' },
          { kind: 'sandbox', at: { base: 5 } },
          { kind: 'same' },
          { kind: 'sandbox', at: { base: 9 } },
        ],
      })

      const first = await commit([await taking('f', 0, 2), { ...one('whole'), take: [] }])
      expect(first).toMatchObject({ status: 'committed', counts: { modified: 1 }, commit: { left: 2 } })
      expect(first.written).toMatchObject([{ path: 'f', status: 'modified', part: true }])
      expect([text('f'), text('whole')]).toEqual([lines({ two: 'TWO', nine: 'NINE' }), 'as it was\n'])
      expect(lstatSync(at('f')).mode & 0o777).toBe(0o640)
      expect(await offered()).toEqual(['modified f', 'modified whole'])
      expect((await hunksOf('f')).map(({ base, sandbox }) => [base, sandbox])).toEqual([[['five\n'], ['FIVE\n']]])

      // A host that is started anew knows it as well; what the sandbox has since is the difference to what was taken.
      await close()
      await open()
      await put('f', lines({ two: 'TWO', three: '3', five: 'FIVE', nine: 'NINE' }))
      const second = await commit([await taking('f', 1)], { paths: [] })
      expect(second.written.map(({ path }) => path)).toEqual(['f'])
      expect(text('f')).toBe(lines({ two: 'TWO', five: 'FIVE', nine: 'NINE' }))
      await session.commits.undo({ id: null, force: false }, 'you')
      expect(text('f')).toBe(lines({ two: 'TWO', nine: 'NINE' }))
      expect((await hunksOf('f')).map(({ sandbox }) => sandbox)).toEqual([['3\n'], ['FIVE\n']])

      // All of them are the whole file, with its permissions.
      const last = await commit([await taking('f', 0, 1)])
      expect(last).toMatchObject({ skipped: [], commit: { left: 0 } })
      expect([text('f'), text('whole')]).toEqual([
        lines({ two: 'TWO', three: '3', five: 'FIVE', nine: 'NINE' }),
        'new\n',
      ])
      expect(lstatSync(at('f')).mode & 0o777).toBe(0o755)
      expect(await offered()).toEqual([])

      // What was taken in part is rewound and taken back like anything else.
      await session.commits.undo({ id: null, force: false }, 'you')
      await rollback(session, 'base')
      expect(await offered()).toEqual(['modified f'])
      expect((await commit()).written).toMatchObject([{ path: 'f' }])
      expect(text('f')).toBe(lines())
      await session.commits.undo({ id: null, force: false }, 'you')
      await session.commits.undo({ id: null, force: false }, 'you')
      expect([text('f'), lstatSync(at('f')).mode & 0o777]).toEqual([lines(), 0o640])
    })

  test('what both changed goes together where it lies apart; the host’s own lines are never written over later', async () => {
    host('f', lines())
    await beginWith('copy')
    await put('f', lines({ two: 'TWO', five: 'mine', eight: 'EIGHT' }))
    host('f', lines({ four: 'FOUR', five: 'theirs', nine: 'NINE' }))
    expect(await offered()).toEqual(['modified f', '1 in conflict'])
    expect((await hunksOf('f')).map(({ kind }) => kind)).toEqual(['sandbox', 'clash', 'clash'])
    expect(await refusal(commit())).toContain('f: changed in the sandbox and on the host')

    await commit([await taking('f', 0)])
    expect(text('f')).toBe(lines({ two: 'TWO', four: 'FOUR', five: 'theirs', nine: 'NINE' }))
    // The rest clashes as it did.
    expect(await offered()).toEqual(['modified f', '1 in conflict'])
    expect((await hunksOf('f')).map(({ kind }) => kind)).toEqual(['clash', 'clash'])
    await commit([await taking('f', 1)])
    expect(text('f')).toBe(lines({ two: 'TWO', four: 'FOUR', five: 'theirs', eight: 'EIGHT' }))
    await session.commits.undo({ id: null, force: false }, 'you')
    const { commit: last, written } = await commit([await taking('f', 0, 1)])
    expect([last?.left, written[0]?.part]).toEqual([0, undefined])
    expect(text('f')).toBe(lines({ two: 'TWO', five: 'mine', eight: 'EIGHT' }))
    expect(await offered()).toEqual([])

    // Merged with edits of the host, it is not what the sandbox has: what comes next meets them again.
    await session.commits.undo({ id: null, force: false }, 'you')
    await commit([await taking('f', 1)])
    await put('f', lines({ one: 'ONE', two: 'TWO', eight: 'EIGHT' }))
    expect(await offered()).toEqual(['modified f', '1 in conflict'])
    await commit([await taking('f', 0)])
    expect(text('f')).toBe(lines({ one: 'ONE', two: 'TWO', four: 'FOUR', five: 'theirs', eight: 'EIGHT' }))
    expect(await offered()).toEqual([])
    // Also where a later commit, of something else, had nothing to write there.
    await put('other', 'x')
    await commit()
    await put('f', lines({ one: '1', two: 'TWO', eight: 'EIGHT' }))
    expect(await offered()).toEqual(['modified f', '1 in conflict'])
  })

  test('an edit of the host that was committed over and given back is the host’s again', async () => {
    host('f', lines())
    await beginWith('copy')
    await put('f', lines({ two: 'TWO' }))
    host('f', lines({ two: 'theirs' }))
    await commit([], { force: true })
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(text('f')).toBe(lines({ two: 'theirs' }))
    await put('f', lines({ two: '2' }))
    expect(await refusal(commit())).toContain('f: changed in the sandbox and on the host')
  })

  test('a script that runs as somebody else on the host loses that, and is no conflict for it', async () => {
    host('f', lines())
    chmodSync(at('f'), 0o2755)
    await beginWith('live')
    await put('f', lines({ two: 'TWO', nine: 'NINE' }))
    await commit([await taking('f', 1)])
    expect([text('f'), lstatSync(at('f')).mode & 0o7777]).toEqual([lines({ nine: 'NINE' }), 0o755])
    expect(await offered()).toEqual(['modified f'])
    await commit()
    expect(text('f')).toBe(lines({ two: 'TWO', nine: 'NINE' }))
    expect(await offered()).toEqual([])
  })

  test('bytes stay as they are; what is no text goes whole, and a choice holds for the text it was made of', async () => {
    host('crlf', lines({}, '\r\n'))
    host('open', 'a\nb\nc\nd\ne')
    host('latin', 'gr\xfcn\nb\nc\n')
    host('gone', 'x\n')
    host('mode', 'x\n')
    host('large', 'x\n'.repeat(600_000))
    await beginWith('copy')
    await put('crlf', lines({ one: 'ONE', nine: 'gr\u00fcn' }, '\r\n').replace('five\r\n', 'five\n'))
    await put('open', 'A\nb\nc\nd\nE\nf')
    await put('added', 'x\n')
    await run(
      session,
      "printf 'gr\\374n\\nB\\nc\\n' >latin; rm gone; chmod 700 mode; echo y >>large; mkdir .git; echo x >.git/config",
    )
    await commit([await taking('crlf', 1, 2), await taking('open', 1)], { paths: [] })
    expect(text('crlf')).toBe(lines({ nine: 'gr\xc3\xbcn' }, '\r\n').replace('five\r\n', 'five\n'))
    expect(text('open')).toBe('a\nb\nc\nd\nE\nf')

    const why = ['latin', 'gone', 'added', 'mode', 'large', '.git/config', 'kept.txt', 'nowhere']
    expect(await Promise.all(why.map(whyWhole))).toEqual([
      'binary',
      'not-edited',
      'not-edited',
      'not-edited',
      'large',
      'repository',
      'not-edited',
      'not-edited',
    ])
    expect(await refusal(commit([{ ...one('latin'), take: ['x'] }]))).toContain('latin is not text')
    expect(await refusal(commit([{ ...one('.git/config'), take: [] }]))).toContain('is part of a repository')
    expect(await refusal(commit([{ ...one('kept.txt'), take: ['x'] }]))).toContain('kept.txt')
    expect(await refusal(commit([{ ...one('open'), take: ['x'] }]))).toContain('The hunks of open are others now')
    const before = await taking('open', 0)
    await put('open', 'AA\nb\nc\nd\nE\nf')
    expect(await refusal(commit([before]))).toContain('The hunks of open are others now')
    const again = await taking('open', 0)
    host('open', 'a\nb\nc\nd\nE\n!')
    expect(await refusal(commit([again]))).toContain('The hunks of open are others now')
    unlinkSync(at('open'))
    expect(await refusal(commit([again]))).toContain('open is no file with other lines')
    expect(text('crlf')).toContain('five\n')
  })

  for (const point of ['commit:put', 'commit:recorded'])
    test(`host killed at ${point} of a commit of hunks`, async () => {
      host('f', lines())
      host('g', 'x\n')
      await beginWith('copy')
      await put('f', lines({ two: 'TWO', nine: 'NINE' }))
      await put('g', 'y\n')
      const choice = [await taking('f', 1)]
      await close()
      const { signal } = spawnSync(
        process.execPath,
        [join(import.meta.dirname, 'crash-child.ts'), place.home, `commit-hunks ${JSON.stringify(choice)}`],
        { env: { ...process.env, REWIND_CRASH_AT: point }, encoding: 'utf8', timeout: 60_000 },
      )
      expect(signal).toBe('SIGKILL')
      await open()
      const isDone = point === 'commit:recorded'
      expect([text('f'), text('g')]).toEqual(isDone ? [lines({ nine: 'NINE' }), 'y\n'] : [lines(), 'x\n'])
      expect((await hunksOf('f')).map(({ sandbox }) => sandbox)).toEqual(isDone ? [['TWO\n']] : [['TWO\n'], ['NINE\n']])
      if (!isDone) await commit(choice)
      expect(text('f')).toBe(lines({ nine: 'NINE' }))
      await commit()
      expect(text('f')).toBe(lines({ two: 'TWO', nine: 'NINE' }))
    })
})
