/** Decisions at the command line: the built program, a real host, a real sandbox. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { connectHost } from '../serve/client/index.ts'

const BIN = join(import.meta.dirname, '../../bin/rewind')

// biome-ignore lint/suspicious/noExplicitAny: what commands answer is looked at field by field.
type Data = any

interface Answer {
  code: number | null
  text: string
}

suiteNeeding(['local'], 'escalations at the command line', () => {
  const base = mkdtempSync(join(tmpdir(), 'rewind-cli-'))
  const home = join(base, 'data')
  const workspace = join(base, 'project')
  const env: NodeJS.ProcessEnv = { ...process.env, REWIND_HOME: home, REWIND_SESSION: '' }
  const children = new Set<ChildProcess>()

  const answerOf = async (child: ChildProcess): Promise<Answer> => {
    children.add(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, text }
  }
  const rewind = (...args: string[]) =>
    answerOf(spawn(BIN, args, { cwd: workspace, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const json = async (...args: string[]) => {
    const child = spawn(BIN, ['--json', ...args], { cwd: workspace, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const { code, text } = await answerOf(child)
    return {
      exit: code,
      ...(JSON.parse(text) as { success: boolean; data?: Data; error?: string; error_code?: string }),
    }
  }
  /** With a terminal of its own, where each line is typed once it is asked for. */
  const onTerminal = (typed: readonly string[], ...args: string[]) => {
    const line = [BIN, ...args].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: workspace, env })
    const left = [...typed]
    child.stdout.on('data', (part: Buffer) => {
      if (String(part).includes('c, r or s?')) child.stdin.write(left.shift() ?? '')
    })
    return answerOf(child)
  }
  /** Somebody who is there, and does not answer. */
  const aWindow = async () => {
    const client = await connectHost({ home, start: true })
    const waiting = await client.rpc.escalations.watch({ as: 'window' })
    await waiting.next()
    return client
  }
  const waiting = async (): Promise<string> => {
    const ids = async () => (await json('escalations')).data.escalations.map(({ id }: { id: string }) => id)
    await expect.poll(ids, { timeout: 20_000, interval: 200 }).toHaveLength(1)
    return (await ids())[0]
  }

  beforeAll(async () => {
    mkdirSync(workspace)
    await rewind('init', workspace)
    await rewind('checkpoint', 'stable')
    await rewind('write', 'a', 'bad')
    const verifier = ['--verifier', 'echo nonsense', '--retries', '0']
    expect((await rewind('auto-rollback', 'test_failure', '--to', 'stable', ...verifier)).code).toBe(0)
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    if (existsSync(join(home, 'host.json'))) {
      await rewind('destroy', '-y')
      const { pid } = JSON.parse(readFileSync(join(home, 'host.json'), 'utf8')) as { pid: number }
      process.kill(pid, 'SIGTERM')
      while (existsSync(`/proc/${pid}`)) await sleep(50)
    }
    rmSync(base, { recursive: true, force: true })
  })

  test('at a terminal verify asks, again where the answer is none, and goes on as it is told', async () => {
    const { code, text } = await onTerminal(['yes\r', 'c\r'], 'verify')
    expect(text).toMatch(
      /could not decide\. What now\?[\s\S]*rewind_sandbox[\s\S]*stable[\s\S]*echo nonsense[\s\S]*roll back/,
    )
    expect(text.match(/c, r or s\?/g)).toHaveLength(2)
    expect([code, text]).toEqual([6, expect.stringContaining('UNKNOWN Nothing was verified')])
    expect((await json('status')).data.status).toBe('running')
  })

  test('answered from another terminal, the dialog is withdrawn; later answers are told who decided', async () => {
    const verify = onTerminal([], 'verify')
    const id = await waiting()
    expect((await rewind('escalations')).text).toContain(`rewind answer ID`)
    expect((await rewind('escalations', id)).text).toMatch(/echo nonsense[\s\S]*\| nonsense/)
    expect(await json('answer', id, 'continue', '--note', 'looked at it')).toMatchObject({
      exit: 0,
      data: { id, resolution: 'continue', answered_by: 'you', via: 'command line', note: 'looked at it' },
    })
    expect((await verify).text).toContain('Decided elsewhere.')
    expect(await json('answer', id, 'stop')).toMatchObject({
      exit: 8,
      error_code: 'DECLINED',
      error: expect.stringMatching(/decided at .*by you \(command line\): continue/),
    })
    expect((await rewind('answer', 'esc-nothing', 'stop')).code).toBe(64)
    expect((await rewind('answer', id, 'perhaps')).code).toBe(64)
    expect((await rewind('escalations')).text).toBe('Nothing waits for a decision.\n')
    expect((await json('escalations', '--all')).data.escalations.length).toBeGreaterThan(1)
  })

  test('a verifier is tried: what it says, and nothing comes of it', async () => {
    const entries = async () => (await json('ledger')).data.entries.length
    const before = await entries()
    expect(await rewind('verify', '--try')).toMatchObject({
      code: 6,
      text: expect.stringMatching(/UNKNOWN .*no verdict is kept/s),
    })
    expect((await rewind('verify', '--try', `echo '{"status":"fail"}'`)).code).toBe(1)
    expect((await rewind('verify', '--try', `echo '{"status":"pass","summary":"fine"}'`)).text).toBe('PASS fine\n')
    expect([(await json('status')).data.status, await entries()]).toEqual(['running', before])
  })

  test('without anybody there it halts; resume has it go on', async () => {
    const { code, text } = await rewind('verify')
    expect([code, text]).toEqual([6, expect.stringMatching(/UNKNOWN .*halted[\s\S]*resume: rewind resume/)])
    expect(await json('write', 'a', 'x')).toMatchObject({ exit: 6, error_code: 'SESSION_HALTED' })
    // What is to have it go on can be tried first, and does not.
    expect((await rewind('verify', '--try', `echo '{"status":"pass","summary":"fine"}'`)).text).toBe('PASS fine\n')
    expect((await json('status')).data.status).toBe('halted')
    expect((await rewind('resume', '--verifier', 'echo ?')).code).toBe(6)
    expect((await rewind('resume', '--verifier', `echo '{"status":"fail"}'`)).code).toBe(1)
    expect(await json('resume', '--verifier', `echo '{"status":"pass","summary":"mended"}'`)).toMatchObject({
      exit: 0,
      data: { status: 'running', verdict: 'pass', text: 'mended' },
    })
    expect((await rewind('verify')).text).toBe('PASS mended\n')
    expect((await rewind('resume')).code).toBe(64)
    await rewind('verify', 'echo ?')
    expect((await rewind('resume', '--note', 'fine')).text).toContain('unverified, as you decided')
    const rows = (await json('ledger', '--type', 'resume')).data.entries
    expect(rows.map(({ status, notes }: { status: string; notes: string }) => [status, notes])).toEqual([
      ['pass', 'mended'],
      ['waived', 'fine'],
    ])
  })

  test('one that was asked when the host was killed waits at the next one, and is carried out once', async () => {
    const window = await aWindow()
    const verify = rewind('verify', 'echo ?')
    const id = await waiting()
    window.close()
    const { pid } = JSON.parse(readFileSync(join(home, 'host.json'), 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
    while (existsSync(`/proc/${pid}`)) await sleep(20)
    expect((await verify).code).not.toBe(0)
    expect((await json('status')).data).toMatchObject({ pending_escalations: 1, status: 'running' })
    expect((await rewind('answer', id, 'rollback')).text).toContain('is back at stable')
    expect((await rewind('read', 'a')).code).toBe(5)
    expect((await rewind('answer', id, 'rollback')).code).toBe(8)
  })
})
