/** Automatic rules and tools: one failure is one rollback, and the model is told once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  CommandError,
  InvalidOptionError,
  type RewindSession,
  SessionRewoundError,
  session,
  VerificationFailedError,
  VerificationHaltError,
  Verifier,
} from './index.ts'
import { type SdkHome, sdkHome, warningsDuring } from './testing.ts'

let home: SdkHome
let it: RewindSession
let count = 0

/** A verifier that fails where `bad` is there, and cannot decide where `odd` is. */
const verifier = {
  command: `if [ -e odd ]; then echo huh; elif [ -e bad ]; then echo '{"status": "fail", "summary": "bad is there", "errors": ["one", "two"]}'; else echo '{"status": "pass", "summary": "all good"}'; fi`,
  retries: 0,
}

const rollbacks = async (status = 'rolled_back'): Promise<number> =>
  (await it.ledger.filter({ type: 'rollback', status })).length

suiteNeeding(['local'], 'rules and tools', () => {
  beforeAll(async () => {
    home = sdkHome()
    it = await session({ name: 'rules', workspace: home.folder('rules') })
  })
  afterAll(() => home.remove())
  beforeEach(async () => {
    await it.destroy()
    it = await session({ name: `rules${++count}`, workspace: home.folder(`rules${count}`) })
    await it.writeFile('a', 'good')
    await it.checkpoint('stable')
  })

  describe('autoRollback', () => {
    test('a failed run is rolled back before it is thrown', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      const error = await it.run('echo bad > a; exit 4').catch((error: unknown) => error)
      expect(error).toBeInstanceOf(CommandError)
      expect(error).toMatchObject({
        nextStep: expect.stringContaining('back at stable'),
        data: { code: 4, autoRollback: { event: 'exception', to: 'stable', status: 'rolled_back' } },
      })
      expect(await it.readFile('a', 'utf-8')).toBe('good')
      expect(it.lastAutoRollback).toMatchObject({ event: 'exception', to: 'stable', at: expect.any(Date) })
      expect(it.lastAutoRollback?.messages).toEqual(await it.getMessages())
      // Its own doing is no news.
      await it.writeFile('b', 'x')
    })

    test('a run that is too slow is a failure; exec never is one', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      await it.exec('echo bad > a; exit 4')
      expect(await it.readFile('a', 'utf-8')).toBe('bad\n')
      await expect(it.run('sleep 60', { timeoutMs: 100 })).rejects.toThrow('time limit')
      expect(await it.readFile('a', 'utf-8')).toBe('good')
    })

    test('a point that an automatic checkpoint would take is not taken by run', async () => {
      await it.autoCheckpoint()
      await it.run('true')
      await it.run('false').catch(() => {})
      expect((await it.checkpoints()).map(({ label }) => label)).toEqual(['stable'])
    })

    test('without a target it warns, with one it does not', async () => {
      let warned: string[] = []
      const heard: string[] = []
      const stop = it.on('warning', (text) => heard.push(text))
      const warnings = await warningsDuring(async () => {
        warned = (await it.autoRollback()).warnings
      })
      stop()
      expect(warned).toHaveLength(1)
      expect(warned[0]).toContain('latest')
      expect(heard).toEqual(warned)
      expect(warnings).toEqual([{ code: 'REWIND_RULE', message: warned[0] }])
      expect((await it.autoRollback(['exception'], { to: 'latest' })).warnings).toEqual([])
      expect((await it.autoRollback(null)).rules.autoRollback).toBeNull()
      await it.run('exit 1').catch(() => {})
      expect(await rollbacks()).toBe(0)
    })

    test('what tells of no failure is not one for onToolResult either', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      await it.writeFile('a', 'kept')
      for (const error of [
        await it.writeFile('../x', '').catch((error: unknown) => error),
        await it.readFile('absent').catch((error: unknown) => error),
        await it.exec('sleep 9', { signal: AbortSignal.timeout(50) }).catch((error: unknown) => error),
        new SessionRewoundError('told by somebody else'),
      ])
        expect(await it.onToolResult(undefined, error)).toBeUndefined()
      expect(await rollbacks()).toBe(0)
      expect(await it.readFile('a', 'utf-8')).toBe('kept')
    })

    test('one failure is one rollback, in whatever words it is thrown again', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      const build = it.tool(
        async () => {
          await it.writeFile('a', 'bad')
          await it.run('exit 3').catch((error: unknown) => {
            throw new Error('build failed', { cause: error })
          })
        },
        { name: 'build' },
      )
      expect(await build()).toMatch(/^ERROR: build failed\n\[REWIND\] .*"stable"/)
      expect(await rollbacks()).toBe(1)
      expect(await rollbacks('skipped_noop')).toBe(0)

      const wrong = it.tool(
        async () => {
          await it.writeFile('a', 'bad')
          throw new TypeError('no such method')
        },
        { name: 'wrong' },
      )
      const outer = it.tool(() => wrong(), { name: 'outer' })
      await expect(outer()).rejects.toThrow('no such method')
      expect(await rollbacks()).toBe(2)
      expect(await rollbacks('skipped_noop')).toBe(0)
      // Nobody was told yet.
      expect(await it.tool(() => 'fine', { name: 'next' })()).toMatch(/^fine\n\[REWIND\]/)
    })

    test('one whose target is not there lets the failure through, and writes a row', async () => {
      await it.autoRollback('exception', { to: 'later' })
      const fail = it.tool(() => it.run('exit 1'), { name: 'fail' })
      expect(await fail()).toMatch(/^ERROR: /)
      expect(await rollbacks('no_target')).toBe(1)
      await it.checkpoint('later')
      await it.writeFile('a', 'bad')
      await it.run('exit 1').catch(() => {})
      expect(await it.readFile('a', 'utf-8')).toBe('good')
    })

    test.each([
      [['exceptions'], {}, 'a list of exception, test_failure'],
      [[], {}, 'events'],
      ['failure', {}, 'events'],
      [['exception'], { to: '' }, 'to'],
      [['exception'], { too: 'stable' }, 'too'],
      [['exception'], { verifier: { command: '' } }, 'verifier'],
      [['exception'], { verifier: 'pytest' }, 'verifier'],
      [['test_failure'], { to: 'stable' }, 'verifier'],
    ])('%j with %j is refused', async (events, options, name) => {
      const error = await it.autoRollback(events as never, options as never).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(InvalidOptionError)
      expect((error as Error).message).toContain(name)
    })

    test.each([{ trigger: 'after_tool_call' }, { keepLast: 0 }, { keepLast: 1.5 }, { keep: 3 }])(
      'autoCheckpoint %j is refused',
      async (rule) => {
        await expect(it.autoCheckpoint(rule as never)).rejects.toBeInstanceOf(InvalidOptionError)
      },
    )
  })

  describe('runTests', () => {
    test('a fail rolls back and says why; a second bad write rolls back again', async () => {
      await it.autoRollback(['exception', 'test_failure'], { to: 'stable', verifier: new Verifier(verifier) })
      expect(await it.runTests()).toBe('all good')
      for (let round = 1; round <= 2; round++) {
        await it.writeFile('bad', String(round))
        const error = await it.runTests().catch((error: unknown) => error)
        expect(error).toBeInstanceOf(VerificationFailedError)
        expect(error).toMatchObject({
          message: 'bad is there:\n  - one\n  - two',
          data: { errors: ['one', 'two'], autoRollback: { event: 'test_failure', to: 'stable' } },
        })
        await expect(it.readFile('bad')).rejects.toThrow()
        expect(await rollbacks()).toBe(round)
      }
      expect(await it.onToolResult(undefined, new Error('later'))).toBeDefined()
    })

    test('a command is judged by the same contract; without a verifier its exit code decides', async () => {
      expect(await it.runTests('echo fine')).toBe('fine')
      await expect(it.runTests('exit 2')).rejects.toBeInstanceOf(CommandError)
      await expect(it.runTests()).rejects.toBeInstanceOf(InvalidOptionError)
      await it.autoRollback('test_failure', { to: 'stable', verifier })
      await expect(it.runTests(`echo '{"status": "fail"}'`)).rejects.toThrow('Verification failed')
    })

    test('one that only an exception rule could roll back is rolled back where it leaves a tool, unless that only looks', async () => {
      const tool = (rollbackOnError: boolean) =>
        it.tool(
          async (command?: string) => {
            await it.writeFile('bad', '')
            return it.runTests(command)
          },
          { name: 'test', rollbackOnError },
        )
      await it.autoRollback('exception', { to: 'stable', verifier })
      expect(await tool(false)()).toMatch(/^ERROR: bad is there(?!.*REWIND)/s)
      expect(await tool(true)()).toMatch(/^ERROR: bad is there.*\[REWIND\]/s)
      expect(await rollbacks()).toBe(1)
      await it.autoRollback('exception', { to: 'stable' })
      expect(await tool(false)('exit 3')).toMatch(/^ERROR: (?!.*REWIND)/s)
      expect(await rollbacks()).toBe(1)
      expect(await tool(true)('exit 3')).toMatch(/^ERROR: .*\[REWIND\]/s)
      expect(await rollbacks()).toBe(2)
    })
  })

  describe('a tool', () => {
    test('is the function, with a point before each call', async () => {
      await it.autoCheckpoint({ keepLast: 2 })
      async function writeNote(path: string, text: string): Promise<number> {
        await it.writeFile(path, text)
        return text.length
      }
      const tool = it.tool(writeNote, { description: 'writes', schema: { type: 'object' } })
      expect({ ...tool }).toEqual({ toolName: 'writeNote', description: 'writes', schema: { type: 'object' } })
      expect(tool.name).toBe('writeNote')
      expect(await tool('n', 'hello')).toBe(5)
      const labels = (await it.checkpoints()).map(({ label, takenBy, why }) => `${label} ${takenBy} ${why}`)
      expect(labels).toEqual(['stable you null', expect.stringMatching(/^auto_\d{4}_writeNote auto writeNote$/)])
      expect(await it.onToolCall([{ role: 'user', content: 'x' }], 'mine')).toMatch(/^auto_\d{4}_mine$/)
      await it.autoCheckpoint(null)
      expect(await it.onToolCall()).toBeUndefined()
    })

    test.each(['a\nb', 'x'.repeat(300), 'base', '\u202e', 'Über tool/1'])(
      'called %j has its point too',
      async (name) => {
        await it.autoCheckpoint()
        expect(await it.tool(() => 'done', { name })()).toBe('done')
        expect(await it.checkpoints()).toHaveLength(2)
      },
    )

    test('tells the model of a failed command and of the rollback, once', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      const script = it.tool(async () => it.run('echo bad > a; echo oops >&2; exit 1'), { name: 'script' })
      const told = await script()
      expect(told).toMatch(/^ERROR: The command failed with code 1:\noops\n\[REWIND\] .*"stable".* are gone\.$/)
      expect(await rollbacks()).toBe(1)
      expect(await it.tool(() => 'fine', { name: 'other' })()).toBe('fine')
    })

    test('an error of its own is a failure too, and rolls back once however often it passes', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      const failure = new Error('no such column')
      let seen: unknown
      const inner = it.tool(
        async () => {
          await it.writeFile('a', 'bad')
          throw failure
        },
        { name: 'inner' },
      )
      expect(await inner()).toMatch(/^ERROR: no such column\n\[REWIND\]/)
      expect(await it.readFile('a', 'utf-8')).toBe('good')
      expect(await rollbacks()).toBe(1)

      await it.writeFile('a', 'bad')
      await it.run('exit 1').catch((error: unknown) => {
        seen = error
      })
      const restored = await it.onToolResult([{ role: 'user', content: 'undone' }], seen)
      expect(JSON.stringify(restored)).toContain('[REWIND]')
      expect(JSON.stringify(await it.getMessages())).not.toContain('undone')
      expect(await rollbacks()).toBe(2)
      expect(await rollbacks('skipped_noop')).toBe(0)
    })

    test('onToolResult fires for an error of anybody, and keeps the messages where there is none', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      expect(await it.onToolResult([{ role: 'user', content: 'kept' }])).toBeUndefined()
      expect(await it.getMessages()).toEqual([{ role: 'user', content: 'kept' }])
      await it.writeFile('a', 'bad')
      const restored = await it.onToolResult(undefined, 'it broke')
      expect(JSON.stringify(restored)).toContain('it broke')
      expect(await it.readFile('a', 'utf-8')).toBe('good')
    })

    test('rollbackOnError: false mutes the exception rule for all within, and never a failed verification', async () => {
      await it.autoRollback(['exception', 'test_failure'], { to: 'stable', verifier })
      const nested = it.tool(async () => it.run('exit 1'), { name: 'nested' })
      const look = it.tool(
        async (how: string) => {
          await it.writeFile('a', 'bad')
          if (how === 'run') await it.run('exit 1')
          if (how === 'throw') throw new Error('mine')
          if (how === 'nested') return nested()
          await it.writeFile('bad', '')
          return it.runTests()
        },
        { name: 'look', rollbackOnError: false },
      )
      for (const how of ['run', 'throw', 'nested']) {
        expect(await look(how)).toMatch(/^ERROR: (?!.*REWIND)/s)
        expect(await it.readFile('a', 'utf-8')).toBe('bad')
      }
      expect(await rollbacks()).toBe(0)
      expect(await look('test')).toMatch(/^ERROR: bad is there:\n {2}- one\n {2}- two\n\[REWIND\]/)
      expect(await it.readFile('a', 'utf-8')).toBe('good')
    })

    test('a failure that the tool dealt with is told when it rolled back', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      const tries = it.tool(
        async (answer: unknown) => {
          await it.writeFile('a', 'bad')
          await it.run('exit 1').catch(() => {})
          return answer
        },
        { name: 'tries' },
      )
      expect(await tries('done')).toMatch(/^done\n\[REWIND\]/)
      expect(await tries({ not: 'text' })).toEqual({ not: 'text' })
      expect(await it.tool(() => 'next', { name: 'next' })()).toMatch(/^next\n\[REWIND\]/)
      expect(await it.tool(() => 'next', { name: 'next' })()).toBe('next')
    })

    test('mistakes of the program and halts pass on', async () => {
      await it.autoRollback(['exception', 'test_failure'], { to: 'stable', verifier })
      for (const mistake of [new TypeError('a'), new RangeError('b'), new ReferenceError('c'), new SyntaxError('d')]) {
        const tool = it.tool(
          () => {
            throw mistake
          },
          { name: 'mistaken' },
        )
        await expect(tool()).rejects.toBe(mistake)
      }
      class Derived extends TypeError {}
      for (const other of [new Derived('mine'), new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })]) {
        const tool = it.tool(
          () => {
            throw other
          },
          { name: 'other' },
        )
        expect(await tool()).toMatch(/^ERROR: (mine|fetch failed)/)
      }
      const verify = it.tool(
        async () => {
          await it.writeFile('odd', '')
          return it.runTests()
        },
        { name: 'verify' },
      )
      await expect(verify()).rejects.toBeInstanceOf(VerificationHaltError)
    })

    test('arguments that are wrong roll nothing back', async () => {
      await it.autoRollback('exception', { to: 'stable' })
      await it.writeFile('a', 'bad')
      const read = it.tool((path: string) => it.readFile(path, 'utf-8'), { name: 'read' })
      expect(await read('nothing')).toMatch(/^ERROR: /)
      expect(await read('../x')).toMatch(/^ERROR: /)
      const stop = new AbortController()
      stop.abort()
      expect(await it.tool(() => it.run('true', { signal: stop.signal }), { name: 'stopped' })()).toMatch(/^ERROR: /)
      expect(await it.readFile('a', 'utf-8')).toBe('bad')
    })

    test('calls side by side keep their own failures', async () => {
      await it.autoCheckpoint()
      await it.autoRollback('exception', { to: 'stable' })
      const look = it.tool(() => it.run('echo looked; exit 1'), { name: 'look', rollbackOnError: false })
      const work = it.tool(async (n: number) => it.run(`echo ${n} > f${n}; cat f${n}`), { name: 'work' })
      const answers = await Promise.all([look(), work(1), look(), work(2), look(), work(3)])
      expect(answers.filter((answer) => answer.startsWith('ERROR: '))).toHaveLength(3)
      expect(answers).toEqual(expect.arrayContaining(['1', '2', '3']))
      expect(await rollbacks()).toBe(0)
    })

    test('is made of a function, with options that there are', () => {
      expect(() => it.tool('run' as never)).toThrow(InvalidOptionError)
      expect(() => it.tool(() => 1, { rollback: false } as never)).toThrow('rollback')
      expect(() => it.tool(() => 1, { rollbackOnError: 'no' } as never)).toThrow('rollbackOnError')
    })
  })
})
