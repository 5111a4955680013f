/** The end of a block: what becomes of the session, and of work that was not taken home. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  CommitConflictError,
  HostRunningError,
  InvalidOptionError,
  RewindSession,
  SessionHaltedError,
  type SessionOptions,
  session,
  VerificationHaltError,
  withSession,
} from './index.ts'
import { type SdkHome, sdkHome, warningsDuring } from './testing.ts'

let home: SdkHome
let count = 0

const options = (more: SessionOptions = {}): SessionOptions => {
  const name = `end${++count}`
  return { name, workspace: home.folder(name), ...more }
}

const statusOf = (id: string) => home.ask(async (rpc) => (await rpc.sessions.get({ session: id })).status)

const nameOf = async (id: string): Promise<SessionOptions> => {
  const { name, workspace } = await home.ask((rpc) => rpc.sessions.get({ session: id }))
  return { name, workspace }
}

/** A block that writes a file, and how it ended. */
async function block(given: SessionOptions, work: (it: RewindSession) => unknown = () => {}) {
  let id = ''
  let error: unknown
  const warnings = await warningsDuring(() =>
    withSession(given, async (it) => {
      id = it.id
      await it.writeFile('made', 'x')
      await it.checkpoint('made')
      return work(it)
    }).catch((thrown: unknown) => {
      error = thrown
    }),
  )
  return { id, error, warnings, status: await statusOf(id) }
}

suiteNeeding(['local'], 'the end of a block', () => {
  beforeAll(() => {
    home = sdkHome()
  })
  afterAll(() => home.remove())

  describe('withSession', () => {
    test('gives back what the function returned, and ends the session', async () => {
      let id = ''
      const warnings = await warningsDuring(async () => {
        expect(
          await withSession(options(), async (it) => {
            id = it.id
            return it.run('echo hello')
          }),
        ).toBe('hello')
      })
      expect(await statusOf(id)).toBe('ended')
      expect(warnings).toEqual([])
    })

    test('warns of what was not taken home, with how it can be had; and it can', async () => {
      const { id, status, warnings } = await block(options())
      expect(status).toBe('ended')
      expect(warnings).toEqual([
        { code: 'REWIND_NOT_COMMITTED', message: expect.stringMatching(/autoCommit is off: 1 file differs/) },
      ])
      expect(warnings[0]?.message).toContain(`rewind diff base --patch --session ${id}`)
      const counts = await home.ask(async (rpc) => (await rpc.files.changes({ session: id, from: 'base' })).counts)
      expect(counts.added).toBe(1)
    })

    test('warns of what a commit left out, too', async () => {
      const { warnings } = await block(options(), async (it) => {
        await it.writeFile('other', 'x')
        await it.commit({ paths: ['made'] })
      })
      expect(warnings).toEqual([
        { code: 'REWIND_NOT_COMMITTED', message: expect.stringMatching(/autoCommit is off: 1 file differs/) },
      ])
    })

    test('throws the error on, after it has ended the session', async () => {
      const failure = new Error('mine')
      const { status, error, warnings } = await block(options({ autoCommit: true }), () => {
        throw failure
      })
      expect(error).toBe(failure)
      expect(status).toBe('ended')
      expect(warnings).toEqual([])
    })

    test('commits what was changed where that is wanted, and ends the session', async () => {
      const given = options({ autoCommit: true })
      const { status, warnings } = await block(given)
      expect({ status, warnings }).toEqual({ status: 'ended', warnings: [] })
      expect(readFileSync(join(given.workspace ?? '', 'made'), 'utf8')).toBe('x')
    })

    test('throws what stood in the way of that, and keeps the session', async () => {
      const given = options({ autoCommit: true })
      const made = join(given.workspace ?? '', 'made')
      const { id, status, error } = await block(given, () => writeFileSync(made, 'of the host'))
      expect(error).toBeInstanceOf(CommitConflictError)
      expect(error).toMatchObject({ data: { conflicts: [{ path: 'made', conflict: 'both-added' }] } })
      expect(status).toBe('running')
      expect(readFileSync(made, 'utf8')).toBe('of the host')
      const kept = await new RewindSession(await nameOf(id)).attach()
      expect(await kept.commit({ dryRun: true })).toMatchObject({
        status: 'preview',
        written: [],
        skipped: [{ path: 'made' }],
      })
      expect(await kept.commit({ force: true })).toMatchObject({ status: 'committed', counts: { modified: 0 } })
      expect(readFileSync(made, 'utf8')).toBe('x')
      expect(await kept.undoCommit()).toMatchObject({ status: 'undone' })
      expect(readFileSync(made, 'utf8')).toBe('of the host')
      await expect(kept.undoCommit()).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(kept.commit({ paths: [] })).rejects.toThrow('paths')
      await kept.end()
    })

    test('says nothing of what was committed within', async () => {
      const { status, warnings } = await block(options(), (it) => it.commit())
      expect({ status, warnings }).toEqual({ status: 'ended', warnings: [] })
    })

    test('keeps one that is not to be ended', async () => {
      expect((await block(options({ destroyOnExit: false }))).status).toBe('running')
    })

    test('minds no session that was destroyed or ended within', async () => {
      expect(await block(options(), (it) => it.destroy())).toMatchObject({ status: 'destroyed', error: undefined })
      expect(await block(options(), (it) => it.end())).toMatchObject({ status: 'ended', error: undefined })
    })

    test.each(['interactive', 'agent'] as const)('keeps a halted one however the block ended (%s)', async (mode) => {
      const halt = async (it: RewindSession) => {
        await it.autoRollback('test_failure', {
          to: 'made',
          verifier: { command: 'echo nothing', retries: 1, retryDelayMs: 0 },
        })
        await it.writeFile('since', 'x')
        return it.runTests()
      }
      const thrown = await block(options({ mode, autoCommit: true }), halt)
      expect(thrown.status).toBe('halted')
      expect(thrown.error).toBeInstanceOf(VerificationHaltError)
      expect(thrown.error).toMatchObject({
        checkpoint: 'made',
        verifierCommand: 'echo nothing',
        lastResult: { status: 'unknown', rawOutput: 'nothing\n' },
        sessionName: expect.stringContaining('end'),
      })
      const halted = await new RewindSession(await nameOf(thrown.id)).attach()
      await expect(halted.writeFile('a', 'x')).rejects.toBeInstanceOf(SessionHaltedError)
      await expect(halted.run('true')).rejects.toBeInstanceOf(SessionHaltedError)
      await expect(halted.checkpoint('b')).rejects.toBeInstanceOf(SessionHaltedError)
      await expect(session(await nameOf(thrown.id))).rejects.toBeInstanceOf(SessionHaltedError)
      expect(await halted.readFile('made', 'utf-8')).toBe('x')
      // Going back to a point that is trusted is a decision.
      await halted.rollback('made')
      await halted.writeFile('a', 'x')
      await halted.end()
      const caught = await block(options({ mode, autoCommit: true }), (it) => halt(it).catch(() => {}))
      expect(caught).toMatchObject({ status: 'halted', error: undefined, warnings: [] })
    })

    test('takes a function, and options that are some', async () => {
      await expect(withSession(null as never)).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(withSession({ nmae: 'x' } as never, () => 1)).rejects.toThrow('nmae')
    })
  })

  describe('await using', () => {
    test('ends the session, and takes nothing home without complete()', async () => {
      let id = ''
      const warnings = await warningsDuring(async () => {
        await using it = await session(options({ autoCommit: true }))
        id = it.id
        await it.writeFile('a', 'x')
      })
      expect(await statusOf(id)).toBe('ended')
      expect(warnings).toEqual([{ code: 'REWIND_NOT_COMMITTED', message: expect.stringContaining('complete()') }])
    })

    test('with complete() it is a clean end', async () => {
      let id = ''
      const warnings = await warningsDuring(async () => {
        await using it = await session(options({ autoCommit: true }))
        id = it.id
        await it.writeFile('a', 'x')
        it.complete()
      })
      expect(await statusOf(id)).toBe('ended')
      expect(warnings).toEqual([])
      expect(await home.ask((rpc) => rpc.commit.list({ session: id }))).toHaveLength(1)
    })

    test('one that was never started is nothing to end', async () => {
      await using it = new RewindSession()
      expect(it.name).toBe('rewind_sandbox')
    })
  })

  describe('embed', () => {
    test('names the owner where another process is the host', async () => {
      await home.ask((rpc) => rpc.host.info())
      const error = await session(options({ embed: true })).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(HostRunningError)
      expect(error).toMatchObject({ data: { pid: home.hostPid() } })
    })

    test('is a whole host of the same data folder, shared by the sessions of this process', async () => {
      await home.killHost()
      const first = await session(options({ embed: true }))
      const second = await session(options({ embed: true }))
      expect(home.hostPid()).toBe(process.pid)
      expect(await first.run('echo here')).toBe('here')
      const other = await new RewindSession({ name: second.name }).attach()
      expect(other.id).toBe(second.id)
      await other.end()
      await second.end()
      await first.writeFile('a', 'x')
      await first.end()
      expect(await first.ledger.history()).toEqual([])
      // The data folder is free again.
      expect(await home.ask((rpc) => rpc.host.info())).toMatchObject({ kind: 'headless' })
      expect(home.hostPid()).not.toBe(process.pid)
    })
  })
})
