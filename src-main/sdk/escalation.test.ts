/** Decisions where a verifier cannot: handlers, good and bad; halts, and how a program goes on from them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  type EscalationContext,
  type EscalationHandler,
  InvalidOptionError,
  type RewindSession,
  type SessionOptions,
  session,
  stopEscalationHandler,
  VerificationFailedError,
  VerificationHaltError,
  VerificationUnknownError,
  withSession,
} from './index.ts'
import { type SdkHome, sdkHome } from './testing.ts'

let home: SdkHome
let count = 0

const verifier = { command: 'cat verdict; echo why >&2', retries: 1, retryDelayMs: 0 }
const named = (options: SessionOptions): SessionOptions => ({
  name: `escalation${++count}`,
  workspace: home.folder(`escalation${count}`),
  ...options,
})

/** A session whose file is bad since `stable`, and whose verifier cannot decide. */
async function undecided(options: SessionOptions): Promise<RewindSession> {
  const it = await session(named(options))
  await it.writeFile('verdict', 'who knows')
  await it.writeFile('a', 'good')
  await it.checkpoint('stable')
  await it.writeFile('a', 'bad')
  await it.autoRollback(['exception', 'test_failure'], { to: 'stable', verifier })
  return it
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const decisions = async (it: RewindSession) =>
  (await it.ledger.filter({ type: 'escalation' })).map(({ resolution, decidedBy, notes }) => ({
    resolution,
    decidedBy,
    notes,
  }))

suiteNeeding(['local'], 'escalation', () => {
  beforeAll(() => {
    home = sdkHome()
  })
  afterAll(() => home.remove())

  describe('a handler', () => {
    test('is told what it decides on, and continue goes on unverified', async () => {
      let told: EscalationContext | undefined
      const it = await undecided({
        mode: 'agent',
        escalationHandler: async (context) => {
          told = context
          await new Promise((resolve) => setTimeout(resolve, 20))
          return context.attempts > 0 ? 'continue' : 'stop'
        },
      })
      const error = await failure(it.runTests())
      expect(error).toBeInstanceOf(VerificationUnknownError)
      expect(error).toMatchObject({ data: { resolution: 'continue', lastResult: { rawStderr: 'why\n' } } })
      expect(told).toMatchObject({
        checkpoint: 'stable',
        verifierCommand: verifier.command,
        attempts: 2,
        sessionName: it.name,
        lastResult: { status: 'unknown', rawOutput: 'who knows' },
        changes: [{ path: 'a', status: 'modified' }],
        counts: { added: 0, modified: 1, deleted: 0 },
        signal: expect.any(AbortSignal),
      })
      await it.writeFile('a', 'goes on')
      expect(await decisions(it)).toMatchObject([{ resolution: 'continue', decidedBy: 'handler' }])
      await it.end()
    })

    test('rollback goes back to the target, which is no news to the next call', async () => {
      const it = await undecided({ escalationHandler: () => 'rollback' })
      const error = await failure(it.runTests())
      expect(error).toBeInstanceOf(VerificationUnknownError)
      expect(error).toMatchObject({ data: { autoRollback: { to: 'stable', status: 'rolled_back' } } })
      expect(await it.readFile('a', 'utf-8')).toBe('good')
      await it.writeFile('b', 'x')
      expect(it.lastAutoRollback).toMatchObject({ to: 'stable' })
      await it.writeFile('a', 'bad again')
      const verify = it.tool(() => it.runTests(), { name: 'verify' })
      expect(await verify()).toMatch(/^ERROR: Nothing was verified[\s\S]*\n\[REWIND\]/)
      await it.end()
    })

    const bad: [string, () => unknown, RegExp][] = [
      [
        'throws',
        () => {
          throw new Error('no idea')
        },
        /threw: no idea/,
      ],
      ['rejects', () => Promise.reject(new Error('none')), /threw: none/],
      ['answers nonsense', () => ({ yes: true }), /answered \{"yes":true\}, not continue/],
      ['answers nothing', () => undefined, /answered undefined, not continue/],
    ]
    test.each(bad)('that %s has decided to stop, and the row says why', async (_how, handler, why) => {
      const it = await undecided({ escalationHandler: handler as EscalationHandler })
      expect(await failure(it.runTests())).toBeInstanceOf(VerificationHaltError)
      expect(await decisions(it)).toMatchObject([
        { resolution: 'stop', decidedBy: 'handler', notes: expect.stringMatching(why) },
      ])
      await it.resume()
      await it.end()
    })

    test('that hangs is decided for when its time is over, and told so', async () => {
      let aborted = false
      const it = await undecided({
        escalation: { timeoutMs: 200, onTimeout: 'rollback' },
        escalationHandler: ({ signal }) =>
          new Promise(() => signal.addEventListener('abort', () => (aborted = true), { once: true })),
      })
      expect(await failure(it.runTests())).toBeInstanceOf(VerificationUnknownError)
      expect(await it.readFile('a', 'utf-8')).toBe('good')
      await expect.poll(() => aborted).toBe(true)
      expect(await decisions(it)).toMatchObject([{ resolution: 'rollback', decidedBy: 'timeout' }])
      await it.end()
    })

    test('of a program that is killed is asked no more, and a person is', async () => {
      const { name = '', workspace = '' } = named({})
      const program = `
        import { session } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
        const it = await session({ name: ${JSON.stringify(name)}, workspace: ${JSON.stringify(workspace)},
          escalationHandler: () => new Promise(() => { process.stdout.write('asked'); setInterval(() => {}, 1000) }) })
        await it.checkpoint('stable')
        await it.autoRollback('test_failure', { to: 'stable', verifier: { command: 'echo ?', retries: 0 } })
        await it.runTests()`
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, REWIND_HOME: home.home },
      })
      await once(child.stdout, 'data')
      await home.ask(async (rpc) => {
        const over = new AbortController()
        const waiting = await rpc.escalations.watch({ as: 'window' }, { signal: over.signal })
        expect((await waiting.next()).value).toEqual([])
        child.kill('SIGKILL')
        // Handed on once its handler was given the time to come back.
        for await (const [question] of waiting) {
          if (!question) continue
          expect(question).toMatchObject({ sessionName: name, asked: 'everybody' })
          await rpc.escalations.answer({ id: question.id, resolution: 'continue', via: 'window' })
          break
        }
        over.abort()
        expect(await rpc.escalations.list({ session: name })).toMatchObject([
          { resolution: 'continue', answeredBy: 'you', error: expect.stringContaining('gone') },
        ])
      })
    })

    test('is there again after the host was killed', async () => {
      const it = await undecided({ escalationHandler: () => 'rollback' })
      await home.killHost()
      expect(await it.readFile('a', 'utf-8')).toBe('bad')
      expect(await failure(it.runTests())).toBeInstanceOf(VerificationUnknownError)
      expect(await it.readFile('a', 'utf-8')).toBe('good')
      await it.end()
    })

    test('has to be one, and so have its times', () => {
      expect(() => session({ escalationHandler: 'stop' } as never)).toThrow(InvalidOptionError)
      expect(() => session({ escalation: { onTimeout: 'pass' } } as never)).toThrow('continue')
      expect(() => session({ escalation: { timeoutMs: 0 } })).toThrow(InvalidOptionError)
    })
  })

  describe('a halt', () => {
    test('says how to go on, and resume takes a mended verifier or a waiver', async () => {
      const it = await undecided({ mode: 'agent' })
      const error = await failure(it.runTests())
      expect(error).toBeInstanceOf(VerificationHaltError)
      expect(String(error)).toMatch(
        /2 attempts[\s\S]*checkpoint: stable[\s\S]*command: cat verdict[\s\S]*rewind resume/,
      )
      expect(await failure(it.resume({ verifier: `echo '{"status":"fail"}'` }))).toBeInstanceOf(VerificationFailedError)
      expect(await failure(it.resume({ verifier: { command: 'echo ?', retries: 0 } }))).toBeInstanceOf(
        VerificationHaltError,
      )
      expect(await it.resume({ verifier: ['echo', '{"status":"pass","summary":"mended"}'] })).toBe('mended')
      expect(await it.runTests()).toBe('mended')
      await it.autoRollback('test_failure', { to: 'stable', verifier })
      await failure(it.runTests())
      expect(await it.resume({ note: 'looked at it' })).toBeUndefined()
      expect((await it.ledger.filter({ type: 'resume' })).map(({ status, notes }) => [status, notes])).toEqual([
        ['pass', 'mended'],
        ['waived', 'looked at it'],
      ])
      await expect(it.resume()).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(it.resume({ verifer: 'x' } as never)).rejects.toThrow('verifer')
      await it.end()
    })

    test('the recipe for agent apps: the halt leaves the block, the sandbox is kept, nothing is taken home', async () => {
      const options = named({ mode: 'agent', autoCommit: true, escalationHandler: stopEscalationHandler })
      let it: RewindSession | undefined
      try {
        await withSession(options, async (sandbox) => {
          it = sandbox
          await sandbox.writeFile('verdict', 'who knows')
          await sandbox.checkpoint('known_good')
          await sandbox.autoCheckpoint({ trigger: 'before_tool_call' })
          await sandbox.autoRollback(['exception', 'test_failure'], { to: 'known_good', verifier })
          const readFile = sandbox.tool((path: string) => sandbox.readFile(path, 'utf-8'), {
            name: 'read_file',
            rollbackOnError: false,
          })
          const writeFile = sandbox.tool(
            async (path: string, content: string) => {
              await sandbox.writeFile(path, content)
              return `Wrote to ${path}`
            },
            { name: 'write_file' },
          )
          const runVerify = sandbox.tool(() => sandbox.runTests(), { name: 'run_verify' })
          expect(await writeFile('app.py', 'print(1)')).toBe('Wrote to app.py')
          expect(await readFile('nothing')).toMatch(/^ERROR: /)
          expect(await readFile('app.py')).toBe('print(1)')
          await runVerify()
          throw new Error('the agent went past a halt')
        })
        throw new Error('nothing was thrown')
      } catch (halt) {
        if (!(halt instanceof VerificationHaltError) || !it) throw halt
        expect(halt.checkpoint).toBe('known_good')
        expect(halt.sessionName).toBe(it.name)
        expect(await it.status()).toMatchObject({ status: 'halted', container: options.name })
        expect((await it.ledger.history()).map(({ eventType, resolution }) => [eventType, resolution])).toEqual([
          ['escalation', 'stop'],
        ])
        expect(await it.readFile('app.py', 'utf-8')).toBe('print(1)')
        expect(await home.ask((rpc) => rpc.sessions.list())).toContainEqual(
          expect.objectContaining({ name: options.name, status: 'halted' }),
        )
      }
    })
  })
})
