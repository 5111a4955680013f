/**
 * The SDK as others have it: packed, put into an empty project outside the repository, typechecked and run there. What
 * the package depends on is linked from here, so that no registry is needed; nothing else of ours can be found there.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DataFolder } from './host.ts'
import { suiteNeeding } from './needs.ts'
import { sdkReference } from './sdk-reference.ts'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

/** A project that has the package, and what else it is given. */
function project(base: string, name: string, tarball: string, dependencies: readonly string[]): string {
  const folder = join(base, name)
  const packages = join(folder, 'node_modules')
  const ours = join(packages, 'rewind-desktop')
  mkdirSync(ours, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', ours])
  for (const path of dependencies) {
    mkdirSync(dirname(join(packages, path)), { recursive: true })
    symlinkSync(join(root, 'node_modules', path), join(packages, path))
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, type: 'module', private: true }))
  return folder
}

/** Names of what the package needs when it runs: the whole tree, as far as it lies at the top. */
function dependencies(): string[] {
  const modules = join(root, 'node_modules')
  const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root, encoding: 'utf8' })
  return listed
    .split('\n')
    .map((path) => relative(modules, path))
    .filter((path) => path !== '' && !path.startsWith('..') && !path.includes('/node_modules/'))
}

const USER = `
import { RewindSession, session, Verifier, withSession } from 'rewind-desktop/sdk'
import { CommandError, type Message, parseVerifierOutput, type SessionOptions, VerificationHaltError } from 'rewind-desktop/sdk'

const options: SessionOptions = { name: 'packed', workspace: './work', embed: EMBED }
const text: string = await withSession(options, async (sandbox: RewindSession) => {
  const path: string = await sandbox.writeFile('a.txt', 'one')
  const label: string = await sandbox.checkpoint('stable', { reason: 'it works' })
  await sandbox.autoRollback(['exception', 'test_failure'], { to: label, verifier: new Verifier({ command: 'true' }) })
  const tool = sandbox.tool(async (n: number) => n + 1, { name: 'increment' })
  const answer: string | number = await tool(1)
  await sandbox.writeFile('a.txt', 'two')
  await sandbox.run('exit 3').catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error
    const { code, message, nextStep } = error
    console.log(code, message, nextStep !== null)
  })
  const bytes: Uint8Array = await sandbox.readFile('a.txt')
  const words: string = await sandbox.readFile('a.txt', 'utf-8')
  const messages: Message[] = await sandbox.getMessages()
  return [answer, path.endsWith('a.txt'), bytes.length, words, messages.length].join(' ')
})
console.log(text)
console.log(parseVerifierOutput('{"status": "pass"}').status)
{
  await using it = await session(options)
  const outcome = await it.exec(['echo', 'hello'])
  console.log(outcome.stdout.trim(), outcome.code satisfies number | null)
}
const halted = (error: unknown): string | null => (error instanceof VerificationHaltError ? error.checkpoint : null)
console.log(halted(null))
`
const SAID = 'COMMAND_FAILED The command failed with code 3. true\n2 true 3 one 1\npass\nhello 0\nnull\n'

/** What reaches for the store, an engine or a window. */
const IMPORTS_MORE = /(from|import|import\(|require\()\s*["'](better-sqlite3|dockerode|tar-stream|electron)["']/

suiteNeeding(['local'], 'the packed SDK', () => {
  const base = mkdtempSync(join(tmpdir(), 'rw-pack-'))
  let data: DataFolder
  let tarball: string
  let user: string
  const node = (folder: string, ...args: string[]) => run(process.execPath, args, { cwd: folder, env: data.env })

  beforeAll(() => {
    data = new DataFolder()
    // It is packed as it was built: `npm test` builds before.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', base]
    const packed = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as { filename: string }[]
    tarball = join(base, packed[0]?.filename ?? '')
    user = project(base, 'user', tarball, dependencies())
    for (const embed of [false, true])
      writeFileSync(join(user, `program-${embed}.ts`), USER.replace('EMBED', String(embed)))
  })

  afterAll(async () => {
    if (existsSync(join(data.home, 'host.json'))) {
      const { pid } = JSON.parse(readFileSync(join(data.home, 'host.json'), 'utf8')) as { pid: number }
      await data.destroySessions()
      process.kill(pid, 'SIGTERM')
      while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    data.remove()
    rmSync(base, { recursive: true, force: true })
  })

  test.each([
    ['nodenext', {}],
    ['node16', {}],
    ['nodenext', { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, isolatedModules: true }],
    ['preserve', { moduleResolution: 'bundler' }],
  ])('a program of its user passes tsc with %s, strict, and every declaration looked at: %j', async (module, more) => {
    const settings = { module, target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: [], ...more }
    writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, include: ['*.ts'] }))
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', user]).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(stdout).toBe('')
  })

  test.each([false, true])('that program runs (embed: %s)', async (embed) => {
    if (embed) {
      const { pid } = JSON.parse(readFileSync(join(data.home, 'host.json'), 'utf8')) as { pid: number }
      process.kill(pid, 'SIGTERM')
      while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect((await node(user, `program-${embed}.ts`)).stdout).toBe(SAID)
  })

  describe('by itself', () => {
    test('it loads where nothing that it depends on is installed: no engine, no store, no window', async () => {
      const bare = project(base, 'bare', tarball, [])
      const text = `
        import { registerHooks } from 'node:module'
        const loaded = []
        registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
        const sdk = await import('rewind-desktop/sdk')
        const unstarted = new sdk.RewindSession()
        console.log(JSON.stringify({ loaded, names: Object.keys(sdk) }))
      `
      const { stdout } = await node(bare, '--input-type=module', '-e', text)
      const { loaded, names } = JSON.parse(stdout) as { loaded: string[]; names: string[] }
      expect(names).toEqual(expect.arrayContaining(['RewindSession', 'Verifier', 'session', 'withSession']))
      const files = loaded.filter((url) => url.startsWith('file:'))
      expect(files.some((url) => url.endsWith('/out/main/sdk.js'))).toBe(true)
      for (const url of files) expect(readFileSync(new URL(url), 'utf8'), url).not.toMatch(IMPORTS_MORE)
    })

    test('it holds no tests, and nothing of the window but its bundle', () => {
      const listed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n')
      expect(listed).toContain('package/out/types/sdk/index.d.ts')
      expect(listed.filter((path) => /\.test\.|src-|e2e/.test(path))).toEqual([])
    })
  })

  test('examples/quick-start.ts does what it says', async () => {
    // Where it stands the package is found by its own name.
    const folder = project(base, 'example', tarball, dependencies())
    writeFileSync(join(folder, 'quick-start.ts'), readFileSync(join(root, 'examples/quick-start.ts')))
    const { stdout, stderr } = await node(folder, 'quick-start.ts')
    expect(stdout).toContain('File reverted: true')
    expect(stdout).toContain('Dangling message dropped: true')
    expect(stdout).toMatch(/The agent is told: \[\s*\{\s*role: 'system',\s*content:.*stable/s)
    // What the block left is taken home.
    expect(stderr).not.toContain('REWIND_NOT_COMMITTED')
    expect(readFileSync(join(folder, 'demo_workspace/auth.py'), 'utf8')).toContain('def ')
  })

  test('its reference page is what the docstrings say', () => {
    expect(readFileSync(join(root, 'docs/sdk.md'), 'utf8')).toBe(sdkReference())
  })
})
