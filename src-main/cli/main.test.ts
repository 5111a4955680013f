/** The command line as people have it: the built program, a real host, real sandboxes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { connectHost } from '../serve/client/index.ts'

const ROOT = join(import.meta.dirname, '../..')
const BIN = join(ROOT, 'bin/rewind')

const base = mkdtempSync(join(tmpdir(), 'rewind-cli-'))
const home = join(base, 'data')
const workspace = join(base, 'project')
const env: NodeJS.ProcessEnv = { ...process.env, REWIND_HOME: home, REWIND_DEMO_PACE_MS: '50', REWIND_SESSION: '' }

interface Answer {
  code: number
  stdout: string
  stderr: string
}

interface Options {
  input?: string | Buffer
  env?: NodeJS.ProcessEnv
  cwd?: string
}

const children = new Set<ChildProcess>()

function start(args: string[], options: Options = {}): ChildProcess {
  const child = spawn(BIN, args, { cwd: options.cwd ?? workspace, env: { ...env, ...options.env } })
  children.add(child)
  child.once('exit', () => children.delete(child))
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  return child
}

async function answerOf(child: ChildProcess): Promise<Answer> {
  const texts = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    texts.stdout += part
  })
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    texts.stderr += part
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code: code ?? (signal === null ? -1 : -2), ...texts }
}

const rewind = (args: string[], options: Options = {}): Promise<Answer> => answerOf(start(args, options))

// biome-ignore lint/suspicious/noExplicitAny: what commands answer is looked at field by field.
type Data = any

/** As {@link rewind}, with a terminal of its own; what it shows and what is typed come as one text. */
const onTerminal = (
  args: string[],
  typed: string,
  {
    beforeTyping,
    at = '[y/N]',
    env: own,
  }: { beforeTyping?: () => Promise<unknown>; at?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Answer> => {
  const line = [BIN, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: workspace, env: { ...env, ...own } })
  children.add(child)
  // Typed once it asks: what comes earlier is dropped by some terminals.
  child.stdout.on('data', (part: Buffer) => {
    if (String(part).includes(at)) void Promise.resolve(beforeTyping?.()).then(() => child.stdin.write(typed))
  })
  return answerOf(child)
}

/** The one object that --json prints, and the exit code beside it. */
async function json(args: string[], options: Options = {}) {
  const { code, stdout } = await rewind(['--json', ...args], options)
  expect(stdout.trim().split('\n')).toHaveLength(1)
  return { exit: code, ...(JSON.parse(stdout) as { success: boolean; data?: Data; error?: string; code?: number }) }
}

const hostPid = (): number => (JSON.parse(readFileSync(join(home, 'host.json'), 'utf8')) as { pid: number }).pid

function killHost(signal: NodeJS.Signals): void {
  if (existsSync(join(home, 'host.json'))) process.kill(hostPid(), signal)
}

beforeAll(() => {
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'kept.txt'), 'from the host\n')
  if (!existsSync(join(ROOT, 'out/main/cli.js')))
    throw new Error('The command line is not built: run `npm run build` first.')
})

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  if (existsSync(join(home, 'host.json'))) {
    const { data } = await json(['sessions'])
    for (const { id, status } of data.sessions)
      if (status !== 'destroyed') await rewind(['destroy', '-y', '--session', id])
    const pid = hostPid()
    killHost('SIGTERM')
    while (existsSync(`/proc/${pid}`)) await sleep(50)
  }
  rmSync(base, { recursive: true, force: true })
})

describe('without a host', () => {
  test('help and version need none', async () => {
    const bare = await rewind([])
    expect([bare.code, bare.stderr]).toEqual([0, ''])
    expect(bare.stdout).toMatch(/^Usage: rewind /)
    for (const name of ['init', 'checkpoint', 'rewind', 'undo', 'diff', 'doctor']) expect(bare.stdout).toContain(name)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(await rewind(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    expect(existsSync(home)).toBe(false)
  })

  test.each([
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['status', '--frobnicate'], /unknown option '--frobnicate'/],
    [['init'], /missing required argument 'path'/],
    [['init', '.', '--engine', 'vm'], /Allowed choices are auto, local, docker/],
    [['rollback', 'x', '--only', 'half'], /Allowed choices are files, messages/],
    [['exec', '--timeout', 'soon', 'true'], /'soon' is not a number of seconds/],
    [['exec', '--env', 'NAME', 'true'], /NAME=VALUE/],
    [['exec'], /missing required argument/],
    [['serve', '--port', '0'], /not a port/],
    [['auto-checkpoint', '--keep-last', '0'], /not a whole number from 1/],
    [['auto-rollback', 'bad_weather'], /Allowed choices are exception, test_failure/],
    [['auto-rollback', '--retries', '2'], /belong to a --verifier/],
    [['messages', '--set', '-', '--at', 'x'], /do not go together/],
  ])('%j is a usage error', async (args, message) => {
    const text = await rewind(args)
    expect([text.code, text.stdout]).toEqual([64, ''])
    expect(text.stderr).toMatch(message)
    const object = await json(args)
    expect(object).toMatchObject({ exit: 64, success: false, code: 64 })
    expect(object.error).toMatch(message)
  })

  test('a host that cannot start is told with its log, code 4', async () => {
    const broken = join(base, 'broken')
    mkdirSync(broken)
    writeFileSync(join(broken, 'store.db'), 'no database'.repeat(200))
    const { code, stderr } = await rewind(['sessions'], { env: { REWIND_HOME: broken } })
    expect(code).toBe(4)
    expect(stderr).toMatch(/The host could not be started: it ended with code 1/)
    expect(stderr).toMatch(/ {2}\| /)
    expect(stderr).toContain('host.log')
  })

  test('a data folder that is a file is code 5', async () => {
    writeFileSync(join(base, 'file'), '')
    const { code, stderr } = await rewind(['sessions'], { env: { REWIND_HOME: join(base, 'file') } })
    expect(code).toBe(5)
    expect(stderr).toContain('Set REWIND_HOME')
  })

  test('it runs through a symlink, from anywhere, with another Node first on PATH', async () => {
    symlinkSync(BIN, join(base, 'rw'))
    mkdirSync(join(base, 'old'))
    writeFileSync(join(base, 'old/node'), '#!/bin/sh\necho wrong node; exit 9\n', { mode: 0o755 })
    const text = execFileSync(join(base, 'rw'), ['--version'], {
      cwd: '/',
      env: { ...env, PATH: `${join(base, 'old')}:${env.PATH}` },
    })
    expect(String(text)).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('what is not built says how to build it', async () => {
    mkdirSync(join(base, 'bare/bin'), { recursive: true })
    writeFileSync(join(base, 'bare/bin/rewind'), readFileSync(BIN), { mode: 0o755 })
    const child = spawn(join(base, 'bare/bin/rewind'), ['status'])
    expect(await answerOf(child)).toMatchObject({ code: 70, stderr: expect.stringContaining('npm run build') })
  })
})

suiteNeeding(['local'], 'the command line', () => {
  test('many that start at the same moment end up with one host', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => json(['sessions'])))
    for (const answer of answers)
      expect(answer).toMatchObject({ exit: 0, success: true, data: { sessions: [], count: 0 } })
    const first = hostPid()
    expect((await json(['sessions'])).success).toBe(true)
    expect(hostPid()).toBe(first)
    // Its own session, and nothing of ours: a terminal that closes does not take it along.
    expect(readFileSync(`/proc/${first}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(String(first))
  })

  test('init begins a session, again attaches to it', async () => {
    const first = await json(['init', workspace])
    expect(first).toMatchObject({
      exit: 0,
      success: true,
      data: { path: workspace, status: 'running', session: 'rewind_sandbox', engine: 'local', attached: false },
    })
    expect(await json(['init', '.'])).toMatchObject({ exit: 0, data: { attached: true, id: first.data.id } })
    const sessions = await rewind(['sessions'])
    expect(sessions.stdout).toMatch(/^SESSION +STATUS +ENGINE/)
    expect(sessions.stdout).toContain(workspace)
  })

  test('init of what is not there is code 5, and --create makes it', async () => {
    const missing = join(base, 'missing/deep')
    expect(await json(['init', missing, '--session', 'made'])).toMatchObject({ exit: 5, success: false, code: 5 })
    expect(existsSync(missing)).toBe(false)
    expect(await json(['init', missing, '--session', 'made', '--create'])).toMatchObject({
      exit: 0,
      data: { created: true },
    })
    expect(await json(['init', join(workspace, 'kept.txt'), '--session', 'f'])).toMatchObject({ exit: 5 })
    expect(await json(['init', workspace, '--session', 'made'])).toMatchObject({ exit: 64 })
    expect(await json(['destroy', '--session', 'made'])).toMatchObject({ exit: 0, data: { status: 'destroyed' } })
  })

  test('write and read keep bytes as they are, and the host folder as it is', async () => {
    expect(await json(['write', 'src/a.txt', 'hällo\n'])).toMatchObject({
      exit: 0,
      data: { path: 'src/a.txt', status: 'written', target: expect.stringMatching(/src\/a\.txt$/) },
    })
    expect(await json(['read', 'src/a.txt'])).toMatchObject({ data: { content: 'hällo\n', encoding: 'utf-8' } })
    const bytes = Buffer.from([0, 255, 254, 10, 13, 128])
    expect((await rewind(['write', 'blob', '-'], { input: bytes })).code).toBe(0)
    expect(execFileSync(BIN, ['read', 'blob'], { cwd: workspace, env })).toEqual(bytes)
    expect(await json(['read', 'blob'])).toMatchObject({
      data: { content: bytes.toString('base64'), encoding: 'base64' },
    })
    expect(existsSync(join(workspace, 'src'))).toBe(false)
  })

  test('open goes to the session and the point that are named; one that is not there opens nothing', async () => {
    const alone = { env: { DISPLAY: '', WAYLAND_DISPLAY: '' } }
    const shown = ['--session', 'shown']
    await json(['init', join(base, 'shown'), '--create', ...shown])
    await json(['checkpoint', 'to be seen', ...shown])
    expect(await json(['open', '--at', 'nowhere', ...shown], alone)).toMatchObject({
      success: false,
      error: expect.stringContaining('nowhere'),
    })
    expect(await json(['open', '--session', 'nobody'], alone)).toMatchObject({ exit: 2, success: false })
    expect(await json(['open', '--at', 'to be seen', ...shown], alone)).toMatchObject({
      exit: 0,
      data: { way: 'address' },
    })
    const client = await connectHost({ home, start: false })
    const { value } = await (await client.rpc.host.places({})).next()
    client.close()
    expect(value).toMatchObject({ at: 'shown-ckpt-1' })
    await json(['destroy', ...shown])
  })

  test('elsewhere it says for which folder it looked, and where sessions live', async () => {
    const elsewhere = mkdtempSync(join(base, 'elsewhere-'))
    const other = join(base, 'other-data')
    // The default name stands for a session wherever one is asked for; a data folder without it has none to give.
    expect((await rewind(['status'], { cwd: elsewhere })).code).toBe(0)
    const { code, stderr } = await rewind(['status'], { cwd: elsewhere, env: { REWIND_HOME: other } })
    expect(code).toBe(2)
    expect(stderr).toContain(`No live session has ${elsewhere} in its workspace, and none is called rewind_sandbox.`)
    process.kill((JSON.parse(readFileSync(join(other, 'host.json'), 'utf8')) as { pid: number }).pid)
  })

  test.each([
    [['read', 'nothing'], 5],
    [['read', '../outside'], 5],
    [['write', '/etc/passwd', 'x'], 5],
    [['write', '', 'x'], 5],
    [['status', '--session', 'nobody'], 2],
    [['rollback', 'never'], 3],
    [['rewind', '--to', 'never', '-y'], 3],
    [['checkpoint', 'latest'], 64],
    [['diff', 'never'], 3],
  ])('%j fails with code %i, one object and a sentence', async (args, code) => {
    expect(await json(args)).toMatchObject({ exit: code, success: false, code, error: expect.stringMatching(/\w/) })
    const { stdout, stderr, code: exit } = await rewind(args)
    expect([exit, stdout]).toEqual([code, ''])
    expect(stderr).toMatch(/^rewind: /)
  })

  test('exec passes output, both ways and live', async () => {
    const { code, stdout, stderr } = await rewind(['exec', 'echo out; echo err >&2'])
    expect([code, stdout, stderr]).toEqual([0, 'out\n', 'err\n'])
    expect((await rewind(['exec', '--', 'printf', '%s|', 'a b', '$HOME'])).stdout).toBe('a b|$HOME|')
    expect((await rewind(['exec', 'ls', '-1', 'src'])).stdout).toBe('a.txt\n')
    expect((await rewind(['exec', '--stdin', 'wc -c'], { input: '12345' })).stdout.trim()).toBe('5')
    expect((await rewind(['exec', '--env', 'A=b=c', '--cwd', 'src', 'echo $A; ls'])).stdout).toBe('b=c\na.txt\n')

    const child = start(['exec', 'echo first; sleep 5; echo last'])
    const began = Date.now()
    const [first] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
    expect(String(first)).toBe('first\n')
    expect(Date.now() - began).toBeLessThan(4_500)
    expect((await answerOf(child)).stdout).toBe('last\n')
  })

  test('exec tells how a command ended', async () => {
    expect(await json(['exec', 'echo so; exit 3'])).toMatchObject({
      exit: 1,
      success: false,
      code: 1,
      error: expect.stringContaining('code 3'),
      data: { stdout: 'so\n', stderr: '', code: 3, duration_ms: expect.any(Number) },
    })
    expect((await rewind(['exec', '--propagate', 'exit 3'])).code).toBe(3)
    expect(await json(['exec', 'true'])).toMatchObject({ exit: 0, success: true, data: { code: 0 } })
    expect(await json(['exec', '--timeout', '0.5', 'sleep 30'])).toMatchObject({
      exit: 1,
      error: expect.stringContaining('time limit'),
    })
  })

  test('output of any length comes whole', async () => {
    const { stdout } = await rewind(['exec', 'seq 1 300000'])
    expect(stdout.split('\n')).toHaveLength(300_001)
    expect((await json(['exec', 'seq 1 300000'])).data.stdout).toBe(stdout)
  })

  test('Ctrl-C stops the command inside', async () => {
    const child = start(['exec', 'echo begun; exec sleep 300'])
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGINT')
    const { code, stderr } = await answerOf(child)
    expect(code).toBe(130)
    expect(stderr).toContain('was stopped')
    expect((await rewind(['exec', "ps ax | grep -c '[s]leep 300'"])).stdout.trim()).toBe('0')
  })

  test('a reader that has read enough is no error', async () => {
    const text = execFileSync('sh', ['-c', `"${BIN}" exec 'seq 1 200000' 2>"${base}/err" | head -1`], {
      cwd: workspace,
      env,
    })
    expect(String(text)).toBe('1\n')
    expect(readFileSync(join(base, 'err'), 'utf8')).toBe('')
    // What nobody reads any more does not go on inside.
    execFileSync('sh', ['-c', `"${BIN}" exec yes | head -1`], { cwd: workspace, env })
    expect((await rewind(['exec', "ps ax | grep -c '[y]es$'"])).stdout.trim()).toBe('0')
  })

  test('checkpoint, ls, diff, rewind and undo', async () => {
    const saved = await rewind(['checkpoint', 'before it', '--why', 'the risky bit'])
    expect(saved.stdout).toMatch(/^checkpoint rewind_sandbox-ckpt-\d+ \(before it\) saved in \d+ ms\n/)
    expect(saved.stdout).toContain("rewind rewind --to 'before it'")
    expect(await json(['checkpoint', 'before it'])).toMatchObject({ exit: 3, code: 3 })

    await rewind(['write', 'src/a.txt', 'changed\n'])
    await rewind(['exec', 'rm blob; mkdir made; printf x > made/new'])
    expect((await rewind(['diff'])).stdout).toBe('D blob\nA made/\nA made/new\nM src/a.txt\n')
    expect((await rewind(['diff', '--stat'])).stdout).toContain('M src/a.txt | +1 -1')
    expect((await rewind(['diff', '--patch'])).stdout).toMatch(/^-hällo\n\+changed$/m)
    expect(await json(['diff', 'base', 'before it'])).toMatchObject({
      data: {
        counts: { added: 2 },
        truncated: false,
        changes: expect.arrayContaining([expect.objectContaining({ path: 'blob', status: 'added' })]),
      },
    })

    const point = await json(['checkpoint', 'second'])
    expect(point.data).toMatchObject({
      checkpoint: 'second',
      status: 'saved',
      id: expect.stringMatching(/-ckpt-\d+$/),
      ms: expect.any(Number),
    })
    const { stdout } = await rewind(['checkpoint', 'ls'])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^ CHECKPOINT +WHEN +TAKEN +WHY$/)
    expect(lines[1]).toMatch(/^ rewind_sandbox-ckpt-\d+ +just now +you +before it: the risky bit$/)
    expect(lines[2]).toMatch(/^\*rewind_sandbox-ckpt-\d+ +just now +you +second$/)
    expect(stdout.trimEnd()).toMatch(/\* is where `rewind rewind` goes$/)
    expect((await json(['checkpoint', 'ls'])).data).toMatchObject({
      count: 2,
      checkpoints: [{ rewind_target: false }, { rewind_target: true, label: 'second', taken_by: 'you' }],
    })

    // Nobody is asked here: nothing may happen.
    const refused = await rewind(['rewind', '--to', 'before it'])
    expect([refused.code, refused.stdout]).toEqual([8, ''])
    expect(refused.stderr).toContain('-y')
    expect(await json(['rewind', '--to', 'before it'])).toMatchObject({ exit: 8, code: 8 })
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('changed\n')

    const back = await rewind(['rewind', '--to', 'before it', '-y'])
    expect(back.stdout).toMatch(/^back at rewind_sandbox-ckpt-\d+ — before it \(\d+ ms\)\n/)
    expect(back.stdout).toMatch(/1 later point left the line, kept as branch A/)
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('hällo\n')
    expect((await rewind(['checkpoint', 'ls', '--branches'])).stdout).toContain('branch A')

    expect(await json(['undo'])).toMatchObject({ exit: 0, data: { status: 'rolled_back' } })
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('changed\n')
    expect(await json(['rollback', 'before it'])).toMatchObject({
      exit: 0,
      data: { checkpoint: 'before it', status: 'rolled_back', id: expect.any(String), ms: expect.any(Number) },
    })
    expect((await rewind(['rollback', 'before it'])).stdout).toMatch(/^Nothing to take back/)
  })

  test('the result is taken home by a patch, however many files and whatever is in them', async () => {
    const point = (await json(['checkpoint', 'before many'])).data.checkpoint
    const taken = join(base, 'taken')
    mkdirSync(taken)
    execFileSync('git', ['init', '-q', taken])
    await rewind([
      'exec',
      'mkdir many; cd many; for n in $(seq 5100); do echo $n >f$n; done; head -c 9999 /dev/zero >z',
    ])
    expect((await json(['diff', point])).data.changes).toHaveLength(5102)
    const patch = await rewind(['diff', point, '--patch'])
    expect([patch.code, patch.stderr]).toEqual([0, ''])
    execFileSync('git', ['apply', '-'], { cwd: taken, input: patch.stdout })
    expect(readdirSync(join(taken, 'many'))).toHaveLength(5101)
    expect(readFileSync(join(taken, 'many/z'))).toEqual(Buffer.alloc(9999))

    await rewind(['exec', 'mkfifo many/pipe'])
    const partly = await rewind(['diff', point, '--patch'])
    expect([partly.code, partly.stderr]).toEqual([1, 'rewind: the patch does not hold many/pipe\n'])
    expect(await json(['diff', point, '--patch'])).toMatchObject({ exit: 1, data: { missing: ['many/pipe'] } })
    const head = execFileSync('sh', ['-c', `"${BIN}" diff '${point}' --stat 2>&1 | head -2`], { cwd: workspace, env })
    expect(String(head)).toBe('A many/ | folder added\nA many/f1 | +1 -0\n')
    await rewind(['rewind', point, '-y'])
    expect((await json(['diff'])).data.changes).toEqual([])
  })

  test('on a terminal it asks, and tells what will be lost', async () => {
    await rewind(['write', 'src/a.txt', 'in the way\n'])
    const declined = await onTerminal(['rewind', '--to', 'before it'], 'n\n')
    expect(declined.stdout).toMatch(/Everything since .* will be lost: 1 file change/)
    expect(declined.stdout).toContain('  M src/a.txt')
    expect(declined.stdout).toMatch(/Rewind to rewind_sandbox-ckpt-\d+ — before it\? \[y\/N\]/)
    expect(declined.code).toBe(8)
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('in the way\n')
    const agreed = await onTerminal(['rewind', '--to', 'before it'], 'y\n')
    expect(agreed.code).toBe(0)
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('hällo\n')
  })

  test('the point that was shown is the one gone back to, whatever its name means by then', async () => {
    const { id } = (await json(['checkpoint', 'shown'])).data
    await rewind(['write', 'src/a.txt', 'in the way\n'])
    const agreed = await onTerminal(['rewind', '--to', 'latest'], 'y\n', {
      beforeTyping: () => rewind(['checkpoint', 'later']),
    })
    expect(agreed.stdout).toContain(`back at ${id} — shown`)
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('hällo\n')
  })

  test('a name that steers terminals does not', async () => {
    await rewind(['exec', '--', 'sh', '-c', 'printf x > "$(printf "a\\033[2Jb")"'])
    const { stdout } = await rewind(['diff'])
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/\\x1b\[2J/i)
    await rewind(['checkpoint', 'tame'])
    expect(await json(['init', workspace, '--session', 'a\u001b[2Jb'])).toMatchObject({ exit: 64 })
    const turned = await rewind(['checkpoint', 'exe\u202egpj'])
    expect(turned.stdout).toContain('(exe\\u{202e}gpj)')
    expect(turned.stdout).toMatch(/--to rewind_sandbox-ckpt-\d+`/)
  })

  test('messages go in, out, and back', async () => {
    const messages = [
      { role: 'user', content: 'hello', customField: 1 },
      { role: 'assistant', content: 'hi' },
    ]
    writeFileSync(join(base, 'messages.json'), JSON.stringify(messages))
    expect(await json(['messages', '--set', join(base, 'messages.json')])).toMatchObject({
      exit: 0,
      data: { message_count: 2 },
    })
    await rewind(['checkpoint', 'talked', '--messages', join(base, 'messages.json')])
    expect((await rewind(['messages', '--set', '-'], { input: '[]' })).stdout).toBe('0 messages kept (openai)\n')
    expect((await json(['messages', '--at', 'talked'])).data.messages).toEqual(messages)
    expect((await rewind(['messages'])).stdout).toBe('No messages.\n')
    expect(await json(['messages', '--set', '-'], { input: '{' })).toMatchObject({ exit: 64, code: 64 })
    expect(await json(['messages', '--set', '-'], { input: '[1]' })).toMatchObject({ exit: 64 })
    expect(await json(['messages', '--set', join(base, 'none.json')])).toMatchObject({ exit: 5 })
  })

  test('messages have formats, and sub-agents conversations of their own', async () => {
    const odd =
      '[{"role":"user","content":"\\ud800","__proto__":{"b":1},"a":2},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"1","name":"ls","input":{}}]}]'
    const set = await rewind(['messages', '--set', '-', '--conversation', 'reviewer'], { input: odd })
    expect(set.stdout).toBe('2 messages kept (anthropic)\n')
    const back = await json(['messages', '--conversation', 'reviewer'])
    // Text, not toEqual: that would forgive another order of keys.
    expect(JSON.stringify(back.data.messages)).toBe(odd)
    expect(back.data).toMatchObject({
      format: 'anthropic',
      problems: ['messages[1] has no result for ls (call 1).'],
      conversations: [{ conversation: 'main' }, { conversation: 'reviewer', count: 2 }],
    })
    const shown = (await rewind(['messages', '--conversation', 'reviewer', '--format', 'openai'])).stdout
    expect(shown).toContain('assistant: [calls ls]')
    expect(shown).toContain('not carried over: messages[1]: reasoning cannot be expressed')
    expect((await rewind(['messages'])).stdout).toContain('also: reviewer (2 messages, anthropic)')
    expect(await json(['messages', '--conversation', 'nobody'])).toMatchObject({
      exit: 64,
      next_step: 'There are main, reviewer.',
    })
    expect(await json(['messages', '--format', 'klingon'])).toMatchObject({
      exit: 64,
      next_step: expect.stringContaining('openai-responses'),
    })
    const wrong = await json(['messages', '--set', '-', '--format', 'anthropic'], { input: '[{"role":"system"}]' })
    expect(wrong).toMatchObject({ exit: 64, error_code: 'INVALID_MESSAGES', details: { index: 0 } })
  })

  test('rules act on exec --as-tool, and the ledger tells', async () => {
    expect(await json(['auto-checkpoint'])).toMatchObject({
      exit: 0,
      data: { auto_checkpoint: { trigger: 'before_tool_call', keep_last: null } },
    })
    const rule = await rewind(['auto-rollback', 'exception', '--to', 'tame'])
    expect(rule.stdout).toContain('auto-rollback: on exception to tame')
    const failed = await json(['exec', '--as-tool', 'echo bad > src/a.txt; exit 1'])
    expect(failed).toMatchObject({ exit: 1, data: { code: 1, auto_rollback: { to: 'tame', status: 'rolled_back' } } })
    expect((await rewind(['read', 'src/a.txt'])).stdout).toBe('hällo\n')
    const { data } = await json(['ledger', '--type', 'rollback'])
    expect(data.count).toBe(data.entries.length)
    expect(data.entries.at(-1)).toMatchObject({
      event_type: 'rollback',
      resolution: 'rollback',
      checkpoint: 'tame',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await rewind(['ledger'])).stdout).toMatch(/^TIMESTAMP +TYPE +STATUS/)
    expect(await json(['ledger', 'verify'])).toMatchObject({ exit: 0, data: { whole: true, broken_at: null } })
    expect(await json(['ledger', '--status', 'no_target'])).toMatchObject({ data: { entries: [], count: 0 } })
    expect((await rewind(['ledger', '--type', 'rollbak'])).stderr).toContain(
      'one of verification, escalation, rollback',
    )
    expect(await rewind(['ledger', '--status', 'failed'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('one of pass, fail, unknown, rolled_back'),
    })
    expect(await json(['auto-rollback', '--off'])).toMatchObject({ data: { auto_rollback: null } })
    expect(await json(['auto-checkpoint', '--off'])).toMatchObject({ data: { auto_checkpoint: null } })
  })

  test('ledger --export writes all of it to a file, or nothing', async () => {
    const exports = mkdtempSync(join(base, 'exports-'))
    const file = join(exports, 'audit.json')
    const { data } = await json(['ledger'])
    expect(await json(['ledger', '--export', 'json', file])).toMatchObject({
      exit: 0,
      data: { path: file, format: 'json', whole: true, anchor: 'agrees', rows: data.count },
    })
    const written = JSON.parse(readFileSync(file, 'utf8'))
    expect(written.entries).toHaveLength(data.count)
    expect(written.ledger.head).toBe(written.entries.at(-1).hash)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await rewind(['ledger', '--export', 'csv', '-'])).stdout).toMatch(/^id,timestamp,event_type,/)
    expect((await rewind(['ledger', '--export', 'html', join(exports, 'audit.html')])).stdout).toContain('is whole')

    const left = readdirSync(exports)
    for (const [args, exit, told] of [
      [['--export', 'json'], 64, 'needs a file'],
      [['--export', 'xml', file], 64, 'json, csv, html'],
      [['--export', 'json', file, '--status', 'fail'], 64, 'whole ledger'],
      [['--export', 'json', join(exports, 'absent/audit.json')], 5, 'cannot be written'],
      [['--export', 'json', exports], 5, 'cannot be written'],
      [['audit.json'], 64, '--export'],
    ] as const) {
      const answer = await rewind(['ledger', ...args])
      expect(answer, args.join(' ')).toMatchObject({ code: exit, stderr: expect.stringContaining(told) })
    }
    expect(readdirSync(exports)).toEqual(left)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(written)
  })

  test('report writes the run on one page, and over nothing that is there', async () => {
    const file = join(mkdtempSync(join(base, 'reports-')), 'run.html')
    expect(await json(['report', '--out', file])).toMatchObject({ exit: 0, data: { path: file } })
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toContain('<h2>Timeline and cost</h2>')
    expect(page).toContain((await json(['ledger', 'verify'])).data.head)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await rewind(['report', '--out', file])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('is there already'),
    })
    expect(readFileSync(file, 'utf8')).toBe(page)
    writeFileSync(file, 'old')
    expect((await rewind(['report', '--out', file, '--force'])).stdout).toBe(`Wrote ${file}\n`)
    expect((await rewind(['report'])).stdout).toContain('</html>')
    expect((await json(['report'])).exit).toBe(64)
  })

  test('points are pinned, pruned, and what they held is freed', async () => {
    for (const label of ['kept', 'dropped', 'newest']) {
      await rewind(['exec', 'head -c 500000 /dev/urandom >large'])
      await rewind(['checkpoint', label])
    }
    expect((await rewind(['pin', 'kept'])).stdout).toBe('kept is pinned\n')
    expect((await rewind(['prune', 'dropped'])).stdout).toMatch(/^1 point removed, 50\d\.\d kB freed\n$/)
    expect(await rewind(['prune', 'kept'])).toMatchObject({ code: 64, stderr: expect.stringContaining('it is pinned') })
    expect(await rewind(['prune'])).toMatchObject({ code: 64, stderr: expect.stringContaining('--keep N') })
    expect(await rewind(['rollback', 'dropped'])).toMatchObject({ code: 3 })
    expect(await json(['pin', '--off', 'kept'])).toMatchObject({ data: { pinned: false } })
    expect(await json(['prune', 'kept'])).toMatchObject({
      exit: 0,
      data: { removed: [expect.any(String)], waits: false },
    })
    expect(await json(['gc'])).toMatchObject({ exit: 0, data: { removed: [], freed: 0, waits: false } })
    const { data } = await json(['ledger', '--type', 'prune', '--status', 'pruned'])
    expect(data.entries.map(({ notes }: { notes: string }) => notes)).toEqual(['1 point: dropped', '1 point: kept'])
    expect(await json(['auto-checkpoint', '--keep-last', '2'])).toMatchObject({
      data: { auto_checkpoint: { trigger: 'before_tool_call', keep_last: 2 } },
    })
    await rewind(['auto-checkpoint', '--off'])
  })

  test('verify says pass with 0 and fail with 1', async () => {
    const verdict = (status: string) => `echo '{"status": "${status}", "summary": "it is ${status}"}'`
    await rewind(['auto-rollback', 'test_failure', '--to', 'tame', '--verifier', 'true', '--retries', '0'])
    expect(await json(['verify', verdict('pass')])).toMatchObject({
      exit: 0,
      data: { status: 'pass', text: 'it is pass' },
    })
    expect(await json(['verify', verdict('fail')])).toMatchObject({
      exit: 1,
      code: 1,
      error: expect.stringContaining('it is fail'),
    })
    expect((await rewind(['verify', verdict('pass')])).stdout).toBe('PASS it is pass\n')
    expect((await rewind(['verify', verdict('fail')])).stderr).toMatch(/^rewind: FAIL it is fail\n/)
    await rewind(['auto-rollback', '--off'])
  })

  test('status has the fields that scripts look for', async () => {
    const { data } = await json(['status'])
    expect(data).toMatchObject({
      id: expect.any(String),
      name: 'rewind_sandbox',
      container: 'rewind_sandbox',
      engine: 'local',
      status: 'running',
      workspace,
      mode: 'interactive',
      checkpoints: expect.arrayContaining(['tame']),
      layers: expect.any(Number),
      processes: expect.any(Array),
      pending_escalations: 0,
      rules: { auto_checkpoint: null, auto_rollback: null },
    })
  })

  test('a folder with two live sessions asks which, code 64', async () => {
    await rewind(['init', workspace, '--session', 'other'])
    const { exit, error } = await json(['status'])
    expect(exit).toBe(64)
    expect(error).toMatch(/rewind_sandbox, other|other, rewind_sandbox/)
    expect(await json(['status', '--session', 'other'])).toMatchObject({ exit: 0, data: { name: 'other' } })
    expect(await json(['status', '--container-name', 'other'])).toMatchObject({ data: { name: 'other' } })
    expect(await json(['status'], { env: { REWIND_SESSION: 'other' } })).toMatchObject({ data: { name: 'other' } })
    expect(await json(['destroy', '--session', 'other'])).toMatchObject({ exit: 0 })
    expect(await json(['status'])).toMatchObject({ exit: 0, data: { name: 'rewind_sandbox' } })
  })

  test('a host that ends under a command that runs: the command goes on, and its end is told', async () => {
    const child = start(['exec', 'echo begun; sleep 2; echo ended'])
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    const before = hostPid()
    killHost('SIGTERM')
    const { code, stdout, stderr } = await answerOf(child)
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'ended\n', stderr: '' })
    expect(hostPid()).not.toBe(before)
  })

  test('a host that is killed in mid-command: the same', async () => {
    const child = start(['exec', 'echo begun; sleep 2; echo ended'])
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    killHost('SIGKILL')
    expect(await answerOf(child)).toMatchObject({ code: 0, stdout: 'ended\n' })
    expect(await json(['status'])).toMatchObject({ exit: 0, data: { status: 'running' } })
  })

  test('doctor names what there is and what is missing', async () => {
    const { data } = await json(['doctor'])
    const names = data.checks.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['node', 'local', 'browser', 'electron', 'docker', 'data folder']))
    for (const { ok, remedy } of data.checks) if (!ok) expect(remedy).toMatch(/\w/)
    expect((await rewind(['doctor'])).stdout).toMatch(/^ok +node +v24/)
  })

  test('serve takes over an idle host and serves until it is told to end', async () => {
    const before = hostPid()
    const child = start(['serve'])
    const [text] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
    expect(String(text)).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{40,} within a minute\n/)
    expect(hostPid()).not.toBe(before)
    child.kill('SIGINT')
    expect((await answerOf(child)).code).toBe(0)
    expect(existsSync(join(home, 'host.json'))).toBe(false)
  })

  test('the demo tells its story, piped too', async () => {
    const { code, stdout } = await rewind(['demo'], { cwd: base })
    expect(code).toBe(0)
    for (const told of [
      /1\/\d+ {2}/,
      /\+ {4}return user == "admin".* and$/m,
      /verifier: FAIL/,
      /back at /,
      /the conversation before/,
      /the conversation after/,
      /^TIMESTAMP/m,
      /Try next:/,
    ])
      expect(stdout).toMatch(told)
    const demo = await json(['demo'], { cwd: base })
    expect(demo).toMatchObject({ exit: 0, data: { rolled_back: true } })
    expect(demo.data.entries.some(({ status }: { status: string }) => status === 'fail')).toBe(true)
  })

  describe('a demo that cannot come to its end', () => {
    const elsewhere = { env: { REWIND_HOME: join(base, 'demo-data'), REWIND_DEMO_PACE_MS: '1000' }, cwd: base }
    const pid = () => (JSON.parse(readFileSync(join(base, 'demo-data/host.json'), 'utf8')) as { pid: number }).pid

    async function demoUntilItsFirstStep(): Promise<{ session: string; answer: Promise<Answer> }> {
      const child = start(['demo'], elsewhere)
      const answer = answerOf(child)
      let said = ''
      await new Promise<void>((resolve) =>
        child.stdout?.on('data', (part: string) => {
          said += part
          if (said.includes('1/')) resolve()
        }),
      )
      return { session: /^Session (\S+)/m.exec(said)?.[1] ?? '', answer }
    }

    afterAll(async () => {
      const { data } = await json(['sessions'], elsewhere)
      for (const { id } of data.sessions) await rewind(['destroy', '-y', '--session', id], elsewhere)
      process.kill(pid(), 'SIGTERM')
    })

    test('because its session was destroyed, says so with code 4', async () => {
      const { session, answer } = await demoUntilItsFirstStep()
      await rewind(['destroy', '-y', '--session', session], elsewhere)
      const { code, stderr } = await answer
      expect(code).toBe(4)
      expect(stderr).toMatch(/was destroyed before the demo was over/)
    })

    test('because its host was killed, says so with code 4', async () => {
      const { session, answer } = await demoUntilItsFirstStep()
      process.kill(pid(), 'SIGKILL')
      const { code, stderr } = await answer
      expect(code).toBe(4)
      expect(stderr).toMatch(/The host went away in the middle of the demo/)
      expect(stderr).toContain(`rewind destroy --session ${session}`)
    })
  })

  describe('a program whole in the sandbox', () => {
    const run = (args: string[], options: Options = {}) => rewind(['run', ...args], options)

    test('runs in a session of its own, and ends with its own code', async () => {
      const first = await run(['sh', '-c', 'echo out; echo err >&2; echo made >made.txt; exit 9'])
      expect(first).toMatchObject({ code: 9, stdout: 'out\n' })
      expect(first.stderr).toMatch(
        /Session sh on .*\nerr\nSession sh holds 1 changed file: rewind diff base --session sh\n$/s,
      )
      expect(existsSync(join(workspace, 'made.txt'))).toBe(false)
      expect((await rewind(['read', 'made.txt', '--session', 'sh'])).stdout).toBe('made\n')
      // No terminal here: it is told from one that is.
      const second = await run(['--', 'sh', '-c', 'test -t 1; echo $?; kill -TERM $$'])
      expect(second).toMatchObject({ code: 143, stdout: '1\n' })
      expect(second.stderr).toContain('Session sh-2 has changed no file.')
      expect((await rewind(['status', '--session', 'sh-2'])).stdout).toContain('running')
    })

    test('is given our terminal, keys and all', async () => {
      const script = 'test -t 0 && test -t 1 && echo ready; read line; echo "got $line"; exit 4'
      const { code, stdout } = await onTerminal(['run', '--session', 'sh', 'sh', '-c', script], 'hello\r', {
        at: 'ready',
      })
      expect(code).toBe(4)
      expect(stdout).toContain('got hello')
      const shell = await onTerminal(['shell', '--session', 'sh'], 'cat made.txt; exit 6\r', { at: '$' })
      expect(shell).toMatchObject({ code: 6, stdout: expect.stringContaining('made\r\n') })
    })

    test('leaves a point for its turn', async () => {
      await run(['--session', 'sh', 'sh', '-c', 'echo turn >made.txt'])
      await expect
        .poll(
          async () =>
            (await json(['checkpoint', 'ls', '--all', '--session', 'sh'])).data.checkpoints.map(
              (one: Data) => one.label,
            ),
          { timeout: 20_000 },
        )
        .toContain('auto_0002_turn')
      const before = (await json(['checkpoint', 'ls', '--all', '--session', 'sh'])).data.count
      await run(['--session', 'sh', '--no-auto', 'sh', '-c', 'echo more >made.txt'])
      expect((await json(['checkpoint', 'ls', '--all', '--session', 'sh'])).data.count).toBe(before)
    })

    test('an agent that is known gets its own keys, and it is said which', async () => {
      writeFileSync(join(workspace, 'claude'), '#!/bin/sh\nenv\n', { mode: 0o755 })
      const keys = { ANTHROPIC_API_KEY: 'anthropic', OPENAI_API_KEY: 'openai' }
      const { stdout, stderr } = await run(['./claude', '--version'], { env: keys })
      expect(stdout).toContain('ANTHROPIC_API_KEY=anthropic\n')
      expect(stdout).not.toContain('openai')
      expect(stderr).toContain('Passed on to claude: ANTHROPIC_API_KEY.')
      expect((await run(['sh', '-c', 'env'], { env: keys })).stdout).not.toContain('anthropic')
    })

    describe('with settings in the person’s home', () => {
      const user = join(base, 'user')
      const own = { env: { HOME: user } }
      const agent = './codex'
      /** The agent of these tests shows what it finds. */
      const shows = 'cat ~/.codex/config.toml ~/.codex/auth.json 2>/dev/null; exit 0'

      beforeAll(async () => {
        writeFileSync(join(workspace, 'codex'), `#!/bin/sh\n${shows}\n`, { mode: 0o755 })
        mkdirSync(join(user, '.codex'), { recursive: true })
        writeFileSync(join(user, '.codex/config.toml'), 'model = "mine"\n')
        writeFileSync(join(user, '.codex/auth.json'), '{"key": "s3cret"}\n')
        writeFileSync(join(user, '.codex/history.jsonl'), 'not on the list\n')
        await rewind(['setup', 'codex'], own)
      })

      test('it gets none of them unasked', async () => {
        expect(await run([agent], own)).toMatchObject({ code: 0, stdout: '' })
      })

      test('asked at a terminal, no is no, and remembered', async () => {
        const asked = await onTerminal(['run', agent], '\r', own)
        expect(asked.stdout).toMatch(
          /keeps these in yours:\s+~\/\.codex\/config\.toml\s+~\/\.codex\/auth\.json\s.*Give it copies\?/s,
        )
        expect(asked.stdout).toContain('Remembered for codex')
        expect(asked.stdout).not.toContain('s3cret')
        expect((await onTerminal(['run', agent], '', own)).stdout).not.toContain('[y/N]')
      })

      test('given, it has copies of those that are listed, without the server that it could not reach', async () => {
        const { stdout, stderr } = await run(['--session', 'lent', '--settings', agent], own)
        expect(stdout).toBe('model = "mine"\n{"key": "s3cret"}\n')
        expect(stderr).toContain('Passed on to codex: copies of ~/.codex/config.toml, ~/.codex/auth.json.')
        expect(readFileSync(join(user, '.codex/config.toml'), 'utf8')).toContain('rewind setup')
        const lists = await rewind(['exec', '--session', 'lent', 'ls -A ~/.codex; stat -c %a ~/.codex/auth.json'])
        expect(lists.stdout).toBe('auth.json\nconfig.toml\n600\n')
        // What was copied is in no record; what the agent itself shows is its output.
        const client = await connectHost({ home, start: false })
        const records = JSON.stringify(await client.rpc.commands.list({ session: 'lent' }))
        client.close()
        expect(records).toContain('auth.json')
        expect(records).not.toContain('s3cret')
      })

      test('remembered; what it changes in the sandbox stays', async () => {
        await rewind(['exec', '--session', 'lent', 'echo theirs >~/.codex/config.toml'])
        expect((await run(['--session', 'lent', agent], own)).stdout).toBe('theirs\n{"key": "s3cret"}\n')
        expect((await run([agent], own)).stdout).toContain('s3cret')
        expect((await run(['--no-settings', agent], own)).stdout).toBe('')
        expect((await run([agent], own)).stdout).toBe('')
      })

      test('of a program that nobody knows there are none', async () => {
        expect((await run(['--settings', 'sh', '-c', 'ls -A ~'], own)).stderr).toContain('No settings of sh are known')
      })
    })

    test('one that is not there is code 127', async () => {
      expect((await run(['--session', 'sh', 'no-such-program'])).code).toBe(127)
    })
  })

  describe('a rewind from the window', () => {
    const session = ['--session', 'told']
    /** As the window does it. */
    async function rewound(to: string): Promise<void> {
      const client = await connectHost({ home, start: false })
      await client.rpc.timeline.rollback({ session: 'told', to })
      client.close()
    }

    beforeAll(async () => {
      await rewind(['init', ...session, '.'])
      await rewind(['checkpoint', ...session, 'start'])
    })

    test('is told by the next command; one that would change something is not carried out before', async () => {
      await rewind(['write', ...session, 'plan.md', 'step 1'])
      await rewound('start')
      const refused = await rewind(['exec', ...session, 'echo 2 >> plan.md'])
      expect(refused).toMatchObject({ code: 8, stdout: '' })
      expect(refused.stderr).toMatch(/^\[REWIND\] This session was rewound since your last call\.\nA person rewound /)
      expect(refused.stderr).toContain('Read again: plan.md.')
      expect(refused.stderr).toContain('not carried out')
      expect(await rewind(['exec', ...session, 'echo 2 >> plan.md'])).toMatchObject({ code: 0, stderr: '' })

      await rewound('start')
      const looked = await rewind(['--json', 'status', ...session])
      expect(looked.stderr).toMatch(/^\[REWIND\]/)
      expect(JSON.parse(looked.stdout)).toMatchObject({ success: true })
      expect(await rewind(['write', ...session, 'plan.md', 'step 3'])).toMatchObject({ code: 0, stderr: '' })
    })

    test('one of its own is no news to it, nor one that its own failure set off', async () => {
      await rewind(['rewind', ...session, '--to', 'start', '-y'])
      expect((await rewind(['undo', ...session])).stderr).toBe('')
      await rewind(['auto-rollback', ...session, 'exception', '--to', 'start'])
      const failed = await json(['exec', ...session, '--as-tool', 'echo x > y; exit 3'])
      expect(failed.data.auto_rollback).toMatchObject({ status: 'rolled_back' })
      expect((await rewind(['auto-rollback', ...session, '--off'])).stderr).toBe('')
    })

    test('at a terminal it is said, and the command goes on', async () => {
      const go = join(workspace, 'go')
      const words = (...args: string[]) => [BIN, ...args].map((word) => `'${word}'`).join(' ')
      const line = [
        words('write', ...session, 'a.txt', 'a'),
        `while [ ! -e '${go}' ]; do sleep 0.05; done`,
        words('exec', ...session, 'ls a.txt; echo done'),
      ].join('; ')
      const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: workspace, env })
      children.add(child)
      const answer = answerOf(child)
      await expect.poll(async () => (await rewind(['read', ...session, 'a.txt'])).code, { timeout: 20_000 }).toBe(0)
      await rewound('start')
      writeFileSync(go, '')
      const { stdout } = await answer
      rmSync(go)
      expect(stdout).toMatch(/\[REWIND\].*Read again: a\.txt\..*done/s)
    })

    test('ends a program at its terminal, which says why', async () => {
      let over: Promise<void> | undefined
      const { code, stdout } = await onTerminal(
        ['run', ...session, 'sh', '-c', 'echo b > b.txt; echo ready; sleep 100'],
        '',
        { at: 'ready', beforeTyping: () => (over = rewound('start')) },
      )
      await over
      expect(code).not.toBe(0)
      expect(stdout).toMatch(/\[REWIND\].*A person rewound .* to "start".*b\.txt.*ended by the rewind to start/s)
    })
  })

  test('destroy leaves the record: timeline and ledger can still be read', async () => {
    expect(await json(['destroy', '--session', 'rewind_sandbox'])).toMatchObject({
      exit: 0,
      data: { session: 'rewind_sandbox', status: 'destroyed' },
    })
    expect((await json(['ledger', '--session', 'rewind_sandbox'])).data.count).toBeGreaterThan(0)
    expect((await json(['checkpoint', 'ls', '--session', 'rewind_sandbox'])).data.count).toBeGreaterThan(0)
    expect((await json(['status', '--session', 'rewind_sandbox'])).data.status).toBe('destroyed')
    expect((await json(['exec', '--session', 'rewind_sandbox', 'true'])).success).toBe(false)
  })
})
