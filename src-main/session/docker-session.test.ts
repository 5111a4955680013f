import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { EngineUnavailableError, InvalidOptionError } from '../contract/index.ts'
import { createDockerProvider, productImage } from '../sandbox/index.ts'
import { openStore } from '../store/index.ts'
import type { Session, SessionManager } from './index.ts'
import { checkpoint, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'

suiteNeeding(['docker'], 'a session in docker', () => {
  let home: TestHome
  let host: { manager: SessionManager; close(): Promise<void> }

  beforeEach(async () => {
    home = testHome()
    host = await home.open()
  })

  afterEach(async () => {
    vi.unstubAllEnvs()
    await host.close()
    await home.remove()
  })

  async function begin(scope: 'machine' | 'workspace' = 'machine', network = false): Promise<Session> {
    const { session } = await host.manager.create({
      name: network ? 'test-with-network' : 'test',
      workspace: home.workspace,
      explicit: true,
      create: false,
      force: false,
      engine: 'docker',
      scope,
      mode: 'interactive',
      base: 'auto',
      network,
      env: {},
    })
    return host.manager.find(session.id)
  }

  async function asRoot(session: Session, command: string): Promise<string> {
    const id = `root-${Math.random().toString(36).slice(2)}`
    await session.startCommand({
      id,
      command,
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool: null,
      user: 'root',
    })
    return (await session.waitCommand({ id })).stdout
  }

  test('what the project will miss inside is said at the beginning, and how it gets there', async () => {
    writeFileSync(join(home.workspace, 'stack.yaml'), '')
    mkdirSync(join(home.workspace, '.venv/bin'), { recursive: true })
    writeFileSync(join(home.workspace, '.venv/pyvenv.cfg'), '')
    symlinkSync('/bin/sh', join(home.workspace, '.venv/bin/python'))
    const { notes } = (await begin('machine', true)).summary()
    expect(notes.join('\n')).toMatch(/Not in the sandbox .*: stack \(stack\.yaml\)\. .*rewind exec --user root/)
    const alone = (await begin('workspace')).summary().notes.join()
    expect(alone).toMatch(/Not in the sandbox .*: stack \(stack\.yaml\)\. Begin with an image that has them\./)
    expect(notes.join('\n')).toMatch(/The scripts of \.venv name it by its place on the host/)
  })

  test('what was changed is committed to the host, and taken back', async () => {
    const at = (path: string) => join(home.workspace, path)
    for (const path of ['edited', 'deleted', 'theirs']) writeFileSync(at(path), 'as it was\n')
    for (const path of ['edited', 'deleted', 'theirs', '.']) chownSync(at(path), 1000, 1000)
    const session = await begin('workspace')
    const everything = { paths: null, force: false, skipConflicts: false }
    await run(
      session,
      'echo new >edited; rm deleted; echo mine >theirs; mkdir -m 750 folder; head -c 20000000 /dev/zero >folder/large; ' +
        'ln -s edited link; mkfifo pipe; git init -q repository',
    )
    writeFileSync(at('theirs'), 'theirs\n')
    await expect(session.commits.apply(everything, 'you')).rejects.toThrow(
      /theirs: changed in the sandbox and on the host/,
    )
    const result = await session.commits.apply({ ...everything, skipConflicts: true }, 'you')
    expect(result.skipped.map(({ path }) => path)).toEqual(['theirs'])
    expect(readFileSync(at('edited'), 'utf8')).toBe('new\n')
    expect(existsSync(at('deleted'))).toBe(false)
    expect(statSync(at('folder')).mode & 0o7777).toBe(0o750)
    expect(readFileSync(at('folder/large')).equals(Buffer.alloc(20_000_000))).toBe(true)
    expect(readlinkSync(at('link'))).toBe('edited')
    expect(statSync(at('pipe')).isFIFO()).toBe(true)
    expect(statSync(at('repository/.git/HEAD')).uid).toBe(statSync(home.workspace).uid)
    await rollback(session, 'base')
    expect(await tree(session)).toContain('./edited: as it was')
    await session.commits.undo({ id: null, force: false }, 'you')
    expect(readdirSync(home.workspace).sort()).toEqual(['deleted', 'edited', 'kept.txt', 'theirs'])
    expect(readFileSync(at('theirs'), 'utf8')).toBe('theirs\n')
  })

  test('output that is read while its command ends is whole, and no failure', async () => {
    const session = await begin('workspace')
    for (let n = 0; n < 30; n++) {
      const id = `read-${n}`
      await session.startCommand({
        id,
        command: `echo ${n}`,
        cwd: null,
        env: {},
        stdin: null,
        timeoutMs: null,
        asTool: false,
        tool: null,
      })
      const read: Buffer[] = []
      for (let offset = 0, ended = false; !ended; ) {
        const part = await session.output({ id, stream: 'stdout', offset, limit: 1024 })
        read.push(Buffer.from(part.bytes, 'base64'))
        ;({ next: offset, ended } = part)
      }
      expect(Buffer.concat(read).toString()).toBe(`${n}\n`)
    }
  })

  test('files, machine and messages go back together, and the record says what it ran in', async () => {
    const session = await begin()
    expect(session.summary()).toMatchObject({
      engine: 'docker',
      image: productImage(),
      scope: 'machine',
      workspaceInside: '/workspace',
    })
    await write(session, 'work.txt', 'good\n')
    expect(await asRoot(session, 'id -u; echo true > /usr/local/bin/tool; chmod +x /usr/local/bin/tool')).toBe('0\n')
    await checkpoint(session, 'stable', [{ role: 'user', content: 'go on' }])
    await write(session, 'work.txt', 'bad\n')
    await asRoot(session, 'rm /usr/local/bin/tool; echo x > /etc/mark')
    await rollback(session, 'stable')
    expect(await tree(session)).toContain('./work.txt: good')
    expect((await run(session, 'ls /usr/local/bin/tool /etc/mark')).stdout).toBe('/usr/local/bin/tool\n')
    expect(session.conversation({ at: 'now' }).messages[0]).toEqual({ role: 'user', content: 'go on' })
  })

  test('root is refused where the machine does not go back', async () => {
    const session = await begin('workspace')
    await expect(asRoot(session, 'id')).rejects.toBeInstanceOf(InvalidOptionError)
  })

  test('the next host takes it over with its running command', async () => {
    const session = await begin()
    await session.startCommand({
      id: 'long',
      command: 'echo begun; sleep 2; echo done',
      cwd: null,
      env: {},
      stdin: null,
      timeoutMs: null,
      asTool: false,
      tool: null,
    })
    await host.close()
    host = await home.open()
    const again = host.manager.find(session.id)
    expect((await again.waitCommand({ id: 'long' })).stdout).toBe('begun\ndone\n')
  })

  test('where docker is gone it is unreachable and says so, and it is there again once docker is', async () => {
    const { id } = (await begin()).summary()
    await host.close()
    vi.stubEnv('DOCKER_HOST', `unix://${home.folder}/none.sock`)
    host = await home.open()
    const lost = await run(host.manager.find(id), 'true').catch((error: unknown) => error)
    expect(lost).toBeInstanceOf(EngineUnavailableError)
    expect(host.manager.find(id).summary().status).toBe('unreachable')
    expect((await host.manager.engines()).docker).toMatchObject({ ok: false })
    vi.unstubAllEnvs()
    await expect.poll(async () => (await host.manager.find(id).details()).status, { timeout: 20_000 }).toBe('running')
    expect((await run(host.manager.find(id), 'cat kept.txt')).stdout).toBe('as it was\n')
  })

  test('what a host left that died while it made a sandbox is removed by the next one, and only that', async () => {
    const { id } = (await begin()).summary()
    await host.close()
    const store = openStore(join(home.home, 'store.db'))
    const provider = createDockerProvider({ home: home.home, storeId: store.settings.get('storeId') ?? '' })
    store.close()
    const stray = await provider.create({
      id: 's0123456789abcdef',
      workspace: home.workspace,
      base: 'auto',
      network: false,
      image: null,
      scope: 'workspace',
      env: {},
      hidden: [],
    })
    await stray.detach()
    expect((await provider.list()).toSorted()).toEqual(['s0123456789abcdef', id].toSorted())
    host = await home.open()
    await expect.poll(() => provider.list(), { timeout: 20_000 }).toEqual([id])
  })
})
