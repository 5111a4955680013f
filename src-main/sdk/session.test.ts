/** The SDK over a real host and real sandboxes: the good way, bad input, and hosts that go in the middle. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  CancelledError,
  CheckpointExistsError,
  CheckpointNotFoundError,
  CommandError,
  CommandTimeoutError,
  EngineUnavailableError,
  FileNotFoundError,
  InvalidMessagesError,
  InvalidOptionError,
  InvalidPathError,
  RewindSession,
  SandboxNotFoundError,
  SessionNotStartedError,
  session,
} from './index.ts'
import { type SdkHome, sdkHome, warningsDuring } from './testing.ts'

let home: SdkHome
let count = 0

/** A started session with a name and a workspace of its own. */
async function begun(options: ConstructorParameters<typeof RewindSession>[0] = {}): Promise<RewindSession> {
  const name = `s${++count}`
  const workspace = home.folder(name)
  writeFileSync(join(workspace, 'kept.txt'), 'as it was\n')
  return session({ name, workspace, ...options })
}

/** For one that was written to be called wrongly. */
// biome-ignore lint/suspicious/noExplicitAny: bad input has no type
const wrong = (value: unknown): any => value

suiteNeeding(['local'], 'the SDK', () => {
  beforeAll(() => {
    home = sdkHome()
    // Whatever this machine has: the host that is started here finds no docker.
    process.env.DOCKER_HOST = `unix://${home.home}/nowhere.sock`
  })
  afterAll(() => home.remove())

  describe('before it is started', () => {
    const unstarted = new RewindSession({ name: 'never' })
    test.each(
      Object.entries({
        status: () => unstarted.status(),
        writeFile: () => unstarted.writeFile('a', ''),
        readFile: () => unstarted.readFile('a'),
        run: () => unstarted.run('true'),
        exec: () => unstarted.exec('true'),
        runTests: () => unstarted.runTests(),
        syncMemory: () => unstarted.syncMemory([]),
        getMessages: () => unstarted.getMessages(),
        checkpoint: () => unstarted.checkpoint('a'),
        rollback: () => unstarted.rollback(),
        undo: () => unstarted.undo(),
        checkpoints: () => unstarted.checkpoints(),
        changes: () => unstarted.changes(),
        diff: () => unstarted.diff(),
        autoCheckpoint: () => unstarted.autoCheckpoint(),
        autoRollback: () => unstarted.autoRollback(),
        tool: async () => unstarted.tool(() => 1),
        onToolCall: () => unstarted.onToolCall(),
        onToolResult: () => unstarted.onToolResult(),
        getLedger: async () => unstarted.getLedger(),
        complete: async () => unstarted.complete(),
        id: async () => unstarted.id,
        end: () => unstarted.end(),
        destroy: () => unstarted.destroy(),
      }),
    )('%s says how it is started', async (call, work) => {
      const error = await work().then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(error).toBeInstanceOf(SessionNotStartedError)
      expect(error).toMatchObject({
        message: expect.stringContaining(call),
        nextStep: expect.stringMatching(/start\(\).*withSession\(\)/),
      })
    })

    test('ledger and lastAutoRollback are empty', async () => {
      expect(unstarted.lastAutoRollback).toBeUndefined()
      expect(await unstarted.ledger.history()).toEqual([])
      expect((await unstarted.ledger.verify()).whole).toBe(true)
      expect(existsSync(home.home)).toBe(false)
    })
  })

  describe('beginning', () => {
    test('start() attaches to the live session, session() begins anew and the earlier one ends', async () => {
      const first = await begun()
      const { name } = first
      const workspace = (await first.status()).workspace
      const second = await new RewindSession({ name, workspace }).start()
      expect(second.id).toBe(first.id)
      const third = await session({ name, workspace })
      expect(third.id).not.toBe(first.id)
      expect((await first.status()).status).toBe('ended')
      const fourth = await new RewindSession({ name, workspace }).start({ force: true })
      expect(fourth.id).not.toBe(third.id)
      await Promise.all([first, second, third, fourth].map((one) => one.destroy()))
    })

    test('attach() takes the live session of the name, and nothing else', async () => {
      const nothing = new RewindSession({ name: 'nobody' })
      await expect(nothing.attach()).rejects.toBeInstanceOf(SandboxNotFoundError)
      const first = await begun()
      const other = await new RewindSession({ name: first.name }).attach()
      expect(other.id).toBe(first.id)
      const elsewhere = new RewindSession({ name: first.name, workspace: home.folder('elsewhere') })
      await expect(elsewhere.attach()).rejects.toBeInstanceOf(InvalidOptionError)
      await first.end()
      await expect(new RewindSession({ name: first.name }).attach()).rejects.toThrow('has ended')
      await other.destroy()
    })

    test('the same name with another workspace is an error', async () => {
      const first = await begun()
      const workspace = home.folder('another')
      await expect(new RewindSession({ name: first.name, workspace }).start()).rejects.toThrow('another workspace')
      await expect(session({ name: first.name, workspace })).rejects.toBeInstanceOf(InvalidOptionError)
      await first.destroy()
    })

    test('a missing workspace is made, and said', async () => {
      const workspace = join(home.folder('parent'), 'a/b')
      const made = new RewindSession({ name: 'made', workspace })
      const heard: string[] = []
      made.on('warning', (text) => heard.push(text))
      const warnings = await warningsDuring(() => made.start())
      expect(warnings).toEqual([{ code: 'REWIND_WORKSPACE_MADE', message: expect.stringContaining(workspace) }])
      expect(heard).toEqual([warnings[0]?.message])
      expect(existsSync(workspace)).toBe(true)
      await made.destroy()
    })

    test('home folder and / are refused unless written out', async () => {
      const here = process.cwd()
      try {
        process.chdir('/')
        await expect(session({ name: 'root' })).rejects.toBeInstanceOf(InvalidPathError)
      } finally {
        process.chdir(here)
      }
    })

    test('start() takes another workspace; its options are checked', async () => {
      const workspace = home.folder('later')
      const later = await new RewindSession({ name: 'later' }).start({ workspace })
      expect((await later.status()).workspace).toBe(workspace)
      await expect(later.start(wrong({ forced: true }))).rejects.toThrow('forced')
      await later.destroy()
    })

    test('an engine that is not there, and a name that is none', async () => {
      const workspace = home.folder('engineless')
      const error = await session({ name: 'engineless', workspace, engine: 'docker' }).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(EngineUnavailableError)
      expect((error as EngineUnavailableError).nextStep).not.toBeNull()
      for (const name of ['a/b', 'x'.repeat(65), ' ', 'a\nb'])
        await expect(session({ name, workspace })).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(new RewindSession({ name: 'engineless' }).attach()).rejects.toBeInstanceOf(SandboxNotFoundError)
    })

    test('events that there are not are refused', () => {
      const unstarted = new RewindSession()
      expect(() => unstarted.on(wrong('rewind'), () => {})).toThrow(InvalidOptionError)
      expect(() => unstarted.on('rewound', wrong(null))).toThrow(InvalidOptionError)
    })
  })

  describe('files', () => {
    let it: RewindSession
    beforeAll(async () => {
      it = await begun()
    })
    afterAll(() => it.destroy())

    test('bytes come back as they were given; text by its encoding', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
      expect(await it.writeFile('deep/er/all.bin', bytes)).toMatch(/\/deep\/er\/all\.bin$/)
      const back = await it.readFile('deep/er/all.bin')
      expect(back).toEqual(bytes)
      expect(await it.readFile('deep/er/all.bin', 'latin1')).toBe(Buffer.from(bytes).toString('latin1'))
      expect(await it.readFile('deep/er/all.bin', { encoding: 'base64' })).toBe(Buffer.from(bytes).toString('base64'))
      const text = '\ufeffkäse 🧀\r\n'
      await it.writeFile('text', text)
      expect(await it.readFile('text', 'utf-8')).toBe(text)
      expect(await it.readFile('text', 'utf8')).toBe(text)
      await it.writeFile('wide', Buffer.from('a\u00e9\u{1f600}', 'utf16le'))
      expect(await it.readFile('wide', 'utf-16le')).toBe('a\u00e9\u{1f600}')
    })

    test('text that is none in the encoding is an error', async () => {
      await it.writeFile('odd', new Uint8Array([0x61, 0xff, 0xfe]))
      for (const encoding of ['utf-8', 'ascii', 'utf-16le'] as const)
        await expect(it.readFile('odd', encoding)).rejects.toThrow(`odd is not ${encoding} text`)
      await expect(it.readFile('odd', wrong('utf-7'))).rejects.toThrow('latin1')
      await expect(it.readFile('odd', wrong({ encodign: 'utf-8' }))).rejects.toThrow('encodign')
    })

    test('a file as it was at a checkpoint', async () => {
      await it.writeFile('moving', 'one')
      await it.checkpoint('at one')
      await it.writeFile('moving', 'two')
      expect(await it.readFile('moving', { encoding: 'utf-8', at: 'at one' })).toBe('one')
      expect(await it.readFile('moving', 'utf-8')).toBe('two')
    })

    test.each(['', '.', '..', '../x', '/etc/passwd', 'a/../..'])('%j is no path for a file', async (path) => {
      await expect(it.writeFile(path, 'x')).rejects.toBeInstanceOf(InvalidPathError)
    })

    test('what is not there, and what is no content', async () => {
      await expect(it.readFile('nothing')).rejects.toBeInstanceOf(FileNotFoundError)
      await expect(it.writeFile('a', wrong(5))).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(it.writeFile(wrong(5), 'a')).rejects.toBeInstanceOf(InvalidOptionError)
    })
  })

  describe('commands', () => {
    let it: RewindSession
    beforeAll(async () => {
      it = await begun({ env: { GIVEN: 'by the session' } })
    })
    afterAll(() => it.destroy())

    test('run gives stdout without its last newline', async () => {
      expect(await it.run('cat kept.txt; echo; echo')).toBe('as it was\n\n')
      expect(await it.run(['printf', '[%s]', 'a b', '; echo no'])).toBe('[a b][; echo no]')
      expect(await it.run('echo "$GIVEN $MORE in $(pwd)"', { env: { MORE: 'x' }, cwd: '/tmp' })).toBe(
        'by the session x in /tmp',
      )
      expect(await it.run('cat', { stdin: 'from outside' })).toBe('from outside')
      expect(await it.run('wc -c', { stdin: new Uint8Array(1000) })).toBe('1000')
    })

    test('a failure brings its output along', async () => {
      const error = await it.run('echo out; echo err >&2; exit 3').catch((error: unknown) => error)
      expect(error).toBeInstanceOf(CommandError)
      expect(error).toMatchObject({
        message: expect.stringContaining('code 3'),
        data: { code: 3, signal: null, stdout: 'out\n', stderr: 'err\n', durationMs: expect.any(Number) },
      })
      expect((error as Error).message).toContain('err')
      await expect(it.run('kill -9 $$')).rejects.toMatchObject({ data: { signal: 'SIGKILL' } })
    })

    test('exec never throws for an exit code', async () => {
      expect(await it.exec('echo out; echo err >&2; exit 3')).toMatchObject({
        stdout: 'out\n',
        stderr: 'err\n',
        code: 3,
        signal: null,
      })
    })

    test('all of a long output is given', async () => {
      const { stdout } = await it.exec('seq 1 400000')
      expect(stdout.length).toBeGreaterThan(2 << 20)
      expect(stdout.startsWith('1\n2\n')).toBe(true)
      expect(stdout.endsWith('400000\n')).toBe(true)
    })

    test('output is told as it comes, and is all there at the end', async () => {
      const chunks: string[] = []
      let sawEarly = false
      const { stdout, stderr } = await it.exec('echo käse; sleep 0.5; echo more; echo odd >&2', {
        onOutput: ({ stream, text }) => {
          chunks.push(`${stream} ${text}`)
          sawEarly ||= text.includes('käse') && !chunks.join('').includes('more')
        },
      })
      expect(sawEarly).toBe(true)
      expect(stdout).toBe('käse\nmore\n')
      expect(stderr).toBe('odd\n')
      expect(chunks).toContain('stderr odd\n')
    })

    test('a listener that throws stops the command', async () => {
      const began = Date.now()
      const error = new Error('enough')
      const run = it.run('echo go; sleep 30', {
        onOutput: () => {
          throw error
        },
      })
      await expect(run).rejects.toBe(error)
      expect(Date.now() - began).toBeLessThan(15_000)
      expect((await it.status()).processes).toEqual([])
    })

    test('a time limit ends it with its children', async () => {
      const error = await it.run('sleep 60 & sleep 60', { timeoutMs: 200 }).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(CommandTimeoutError)
      await expect.poll(async () => (await it.status()).processes).toEqual([])
      await expect(it.exec('sleep 60', { timeoutMs: 100 })).rejects.toBeInstanceOf(CommandTimeoutError)
    })

    test('a signal stops it', async () => {
      const stop = new AbortController()
      const run = it.run('sleep 60', { signal: stop.signal })
      setTimeout(() => stop.abort(new Error('enough')), 100)
      const error = await run.catch((error: unknown) => error)
      expect(error).toBeInstanceOf(CancelledError)
      expect((error as Error).cause).toMatchObject({ message: 'enough' })
      await expect(it.run('echo never', { signal: stop.signal })).rejects.toThrow('not started')
    })

    test('one in the background: read so far, wait, kill', async () => {
      const background = await it.exec('echo one; cat go 2>/dev/null; until [ -e go ]; do sleep 0.05; done; echo two', {
        background: true,
      })
      await expect.poll(() => background.read()).toEqual({ stdout: 'one\n', stderr: '', running: true })
      await it.writeFile('go', '')
      expect(await background.wait()).toMatchObject({ stdout: 'one\ntwo\n', code: 0 })
      expect(await background.read()).toEqual({ stdout: 'one\ntwo\n', stderr: '', running: false })

      const chunks: string[] = []
      const told = await it.exec('echo said', { background: true, onOutput: ({ text }) => chunks.push(text) })
      await expect.poll(() => chunks).toEqual(['said\n'])
      expect(await told.wait()).toEqual(await told.wait())

      const endless = await it.exec('echo up; sleep 600', { background: true })
      await endless.kill()
      expect(await endless.wait()).toMatchObject({ code: null, signal: expect.any(String) })
      await endless.kill()
    })

    test('a terminal', async () => {
      expect(await it.run('tty >/dev/null && stty size', { tty: { columns: 100, rows: 30 } })).toContain('30 100')
      expect(await it.exec('tty', {})).toMatchObject({ code: 1 })
    })

    test.each([
      ['', {}, 'command'],
      [[], {}, 'command'],
      [['a', 1], {}, 'command'],
      ['true', { timeout: 5 }, 'timeout'],
      ['true', { timeoutMs: 0 }, 'timeoutMs'],
      ['true', { timeoutMs: '5' }, 'timeoutMs'],
      ['true', { env: { A: 1 } }, 'env'],
      ['true', { stdin: 5 }, 'stdin'],
      ['true', { user: 'nobody' }, 'user'],
      ['true', { tty: { columns: 0, rows: 1 } }, 'tty'],
      ['true', { signal: {} }, 'signal'],
      ['true', { onOutput: 1 }, 'onOutput'],
      ['true', { background: true }, 'background'],
    ])('run %j with %j is refused', async (command, options, name) => {
      const error = await it.run(wrong(command), wrong(options)).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(InvalidOptionError)
      expect((error as Error).message).toContain(name)
    })

    test('a folder outside that is not there', async () => {
      await expect(it.run('true', { cwd: 'nowhere' })).rejects.toThrow()
    })
  })

  describe('points', () => {
    test('files and conversation go back together, and forth again', async () => {
      const it = await begun()
      const messages = [
        { role: 'user', content: 'Find the bug', mine: 1 },
        { role: 'assistant', content: 'Found it in auth.py' },
      ]
      expect((await it.syncMemory(messages)).revision).toBeGreaterThan(0)
      expect(await it.getMessages()).toEqual(messages)
      expect(await it.checkpoint('stable', { reason: 'it works' })).toBe('stable')
      await it.writeFile('kept.txt', 'broken\n')
      await it.writeFile('new.txt', 'new\n')
      await it.syncMemory([...messages, { role: 'user', content: 'again' }])
      expect(await it.changes()).toMatchObject({
        from: expect.any(String),
        counts: { added: 1, modified: 1, deleted: 0 },
      })
      expect(await it.diff()).toContain('-as it was\n+broken')

      const restored = await it.rollback('stable', { patchNotes: 'it broke' })
      expect(restored.slice(0, 2)).toEqual(messages)
      expect(JSON.stringify(restored.at(-1))).toMatch(/stable.*it broke/)
      expect(await it.getMessages()).toEqual(restored)
      expect(await it.readFile('kept.txt', 'utf-8')).toBe('as it was\n')
      await expect(it.readFile('new.txt')).rejects.toBeInstanceOf(FileNotFoundError)

      await it.undo()
      expect(await it.readFile('kept.txt', 'utf-8')).toBe('broken\n')
      await it.rollback('stable', { only: 'files' })
      expect(await it.readFile('kept.txt', 'utf-8')).toBe('as it was\n')
      const unnamed = await it.checkpoint()
      expect(unnamed).toMatch(/-ckpt-\d+$/)
      expect(await it.checkpoints()).toMatchObject([
        { label: 'stable', why: 'it works' },
        { label: null, why: 'files of stable, messages kept' },
        { id: unnamed },
      ])
      expect(await it.status()).toMatchObject({
        name: it.name,
        container: it.name,
        status: 'running',
        mode: 'interactive',
        engine: 'local',
        checkpoints: ['stable', expect.any(String), unnamed],
        memoryCheckpoints: ['stable', expect.any(String), unnamed],
        pendingEscalations: 0,
        rules: { autoCheckpoint: null, autoRollback: null },
      })
      expect(readFileSync(join((await it.status()).workspace, 'kept.txt'), 'utf8')).toBe('as it was\n')
      await it.destroy()
    })

    test('a server inside is reached from this machine while its port is open', async () => {
      const s = await begun({ network: false })
      const serve = `exec node -e "require('http').createServer((q, r) => r.end('up')).listen(18126, '127.0.0.1')"`
      const server = await s.exec(serve, { background: true })
      const { url, port } = await s.openPort(18126)
      expect(port).toBe(18126)
      await expect.poll(async () => (await fetch(url).catch(() => null))?.text()).toBe('up')
      expect(await s.ports()).toMatchObject([{ port: 18126, url }])
      await expect(s.openPort(0)).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(s.openPort(18127, { at: wrong('80') })).rejects.toBeInstanceOf(InvalidOptionError)
      expect([await s.closePort(18126), await s.closePort(18126)]).toEqual([true, false])
      await expect(fetch(url)).rejects.toThrow()
      await server.kill()
      await s.destroy()
    })

    test('what is refused changes nothing', async () => {
      const it = await begun()
      await it.checkpoint('a')
      await expect(it.checkpoint('a')).rejects.toBeInstanceOf(CheckpointExistsError)
      for (const label of ['', 'latest', 'base', 'x'.repeat(257), 'a\nb', `${it.name}-ckpt-9`])
        await expect(it.checkpoint(label)).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(it.checkpoint(wrong(1))).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(it.checkpoint('b', wrong({ why: 'x' }))).rejects.toThrow('why')
      await expect(it.checkpoint('b', wrong({ messages: 'hello' }))).rejects.toBeInstanceOf(InvalidMessagesError)
      await expect(it.rollback('nowhere')).rejects.toBeInstanceOf(CheckpointNotFoundError)
      await expect(it.rollback('a', wrong({ only: 'processes' }))).rejects.toThrow("'files', 'messages'")
      await expect(it.rollback('a', wrong({ notes: 'x' }))).rejects.toThrow('notes')
      await expect(it.syncMemory(wrong('hello'))).rejects.toBeInstanceOf(InvalidMessagesError)
      await expect(it.syncMemory(wrong([1]))).rejects.toBeInstanceOf(InvalidMessagesError)
      await expect(it.changes('nowhere')).rejects.toBeInstanceOf(CheckpointNotFoundError)
      expect((await it.checkpoints()).map(({ label }) => label)).toEqual(['a'])
      await it.destroy()
    })

    test('a rollback ends what runs, and its caller hears of the rewind', async () => {
      const it = await begun()
      await it.checkpoint('stable')
      const run = it.run('echo begun > mark; sleep 60').catch((error: unknown) => error)
      await expect.poll(() => it.readFile('mark').catch(() => null)).not.toBeNull()
      await it.rollback('stable')
      const error = await run
      expect(error).toBeInstanceOf(CancelledError)
      expect((error as Error).message).toContain('rewind to stable')
      await it.destroy()
    })
  })

  describe('after its end', () => {
    test('what changes it is refused; record and files of points stay', async () => {
      const it = await begun()
      await it.writeFile('made', 'x')
      await it.checkpoint('a')
      await it.rollback('a')
      await it.end()
      await it.end()
      await expect(it.writeFile('b', 'x')).rejects.toBeInstanceOf(SandboxNotFoundError)
      await expect(it.run('true')).rejects.toBeInstanceOf(SandboxNotFoundError)
      expect((await it.status()).status).toBe('ended')
      expect(await it.readFile('made', { encoding: 'utf-8', at: 'a' })).toBe('x')
      expect(await it.ledger.history()).toHaveLength(1)
      await it.destroy()
      expect((await it.status()).status).toBe('destroyed')
      expect(await it.ledger.history()).toHaveLength(1)
      await expect(it.readFile('made', { encoding: 'utf-8', at: 'a' })).rejects.toBeInstanceOf(SandboxNotFoundError)
    })
  })

  describe('the ledger', () => {
    test('can be filtered, is frozen, and is a whole chain', async () => {
      const it = await begun()
      await it.checkpoint('a')
      await it.checkpoint('b')
      await it.writeFile('x', '1')
      await it.rollback('b')
      const between = new Date()
      await sleep(5)
      await it.writeFile('x', '2')
      await it.rollback('a')
      const all = await it.ledger.history()
      expect(all.map(({ eventType, checkpoint }) => `${eventType} ${checkpoint}`)).toEqual(['rollback b', 'rollback a'])
      expect(Object.isFrozen(all)).toBe(true)
      expect(Object.isFrozen(all[0])).toBe(true)
      expect(await it.ledger.byCheckpoint('a')).toEqual([all[1]])
      expect(await it.ledger.filter({ type: 'verification' })).toEqual([])
      expect(await it.ledger.filter({ status: 'rolled_back' })).toEqual(all)
      expect(await it.ledger.filter({ since: between })).toEqual([all[1]])
      expect(await it.getLedger().verify()).toMatchObject({ whole: true, rows: 2, head: all[1]?.hash })
      await expect(it.ledger.filter(wrong({ type: 'rewind' }))).rejects.toThrow('verification')
      await expect(it.ledger.filter(wrong({ since: '2026' }))).rejects.toThrow('since')
      await expect(it.ledger.filter(wrong({ label: 'a' }))).rejects.toThrow('label')
      expect('append' in it.ledger).toBe(false)
      await it.destroy()
    })
  })

  describe('the host', () => {
    test('killed in the middle of a command: the command is waited for with the next one', async () => {
      const it = await begun()
      const before = home.hostPid()
      const chunks: string[] = []
      const run = it.run('for n in 1 2 3 4 5 6 7 8; do echo $n; sleep 0.4; done', {
        onOutput: ({ text }) => chunks.push(text),
      })
      await expect.poll(() => chunks.join('')).toContain('2\n')
      await home.killHost()
      expect(await run).toBe('1\n2\n3\n4\n5\n6\n7\n8')
      expect(chunks.join('')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n')
      expect(home.hostPid()).not.toBe(before)
      await it.writeFile('after', 'x')
      expect(await it.readFile('after', 'utf-8')).toBe('x')
      await it.destroy()
    })

    test('killed in the middle of a command that fails: the next one rolls back', async () => {
      const it = await begun()
      await it.checkpoint('stable')
      await it.autoRollback('exception', { to: 'stable' })
      const run = it.run('echo bad > kept.txt; sleep 1; exit 6').catch((error: unknown) => error)
      await expect.poll(() => it.readFile('kept.txt', 'utf-8')).toBe('bad\n')
      await home.killHost()
      const error = await run
      expect(error).toBeInstanceOf(CommandError)
      expect(error).toMatchObject({ data: { code: 6, autoRollback: { to: 'stable', status: 'rolled_back' } } })
      expect(await it.readFile('kept.txt', 'utf-8')).toBe('as it was\n')
      await it.destroy()
    })

    test('told to go in the middle of a command', async () => {
      const it = await begun()
      const run = it.run('sleep 2; echo done')
      await sleep(200)
      process.kill(home.hostPid(), 'SIGTERM')
      expect(await run).toBe('done')
      await it.destroy()
    })
  })
})
