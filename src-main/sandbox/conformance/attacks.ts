/**
 * Attacks: what hostile code in a sandbox would try (attacks.py), and that none of it gets through. Each has its positive
 * control, the same attack with all rights in a disposable copy of this machine: one that fails there too proves nothing.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InvalidPathError } from '../../contract/index.ts'
import { type Achieved, attackNames, Prey } from './prey.ts'
import { type Box, eventually, type ProviderSource, World } from './world.ts'

const CHILD = join(import.meta.dirname, 'child-host.ts')
const asRoot = process.getuid?.() === 0

/** What an ordinary user cannot do on the machine either, so that root alone has a control for it. */
const OF_ROOT = new Set([
  ...[
    'make-system-files',
    'write-system-files',
    'open-by-handle',
    'reach-devices',
    'core-pattern',
    'sysrq',
    'sys-files',
  ],
  ...['control-groups', 'bpf', 'reboot', 'swap', 'kernel-log', 'high-priority', 'set-user-on-execution'],
  ...['socket-of-the-machine', 'kernel-modules', 'memory-devices', 'raw-sockets'],
])
/** What this machine may lack, so that there is nothing to reach on it. */
const MAY_BE_ABSENT = new Set([
  ...['docker-socket', 'memory-devices', 'kernel-modules', 'sysrq', 'control-groups', 'set-user-on-execution'],
  ...['terminal-of-the-host', 'mount-control-groups', 'sysctl-through-process-one'],
])

export function attackBehaviours(source: ProviderSource): void {
  let tried: Promise<{ inside: Achieved; outside: Achieved }> | null = null
  const tryAll = async () => {
    const prey = await makePrey(source)
    const box = await prey.world.sandbox({ network: false })
    const inside = await prey.attack(box)
    expect(prey.whole).toBe(true)
    return { inside, outside: await prey.attackDisposable() }
  }

  test.each(attackNames)('attack:%s', async (name) => {
    tried ??= tryAll()
    const { inside, outside } = await tried
    expect(inside[name], 'in the sandbox').toBeNull()
    if (OF_ROOT.has(name) && !asRoot) return
    if (MAY_BE_ABSENT.has(name) && outside[name] === null) return
    expect(outside[name], 'where nothing stands in its way').toBeTruthy()
  })

  test('attack:with-a-network-only-what-listens-on-it-is-reached', async () => {
    const prey = await makePrey(source)
    const inside = await prey.attack(await prey.world.sandbox({ network: true }))
    const { 'abstract-socket': listens, ...rest } = inside
    expect(listens).toBe(source.network().shared ? prey.secret : null)
    expect(Object.entries(rest).filter(([, achieved]) => achieved !== null)).toEqual([])
  })

  test('attack:kill-everything', async () => {
    const prey = await makePrey(source)
    const box = await prey.world.sandbox()
    const end = await box.run(prey.words(box, 'kill-everything'))
    expect(end.stdout).not.toContain('killed')
    expect(prey.whole).toBe(true)
    expect(await box.say('echo on')).toBe('on')
    expect(await prey.attackDisposable('kill-everything')).toEqual({ 'kill-everything': 'killed' })
  })

  test('attack:remove-everything', async () => {
    const prey = await makePrey(source)
    prey.world.host('kept/file', 'kept')
    const box = await prey.world.sandbox()
    const before = await box.say('find . | sort')
    await box.run(prey.words(box, 'remove-everything'))
    expect(await box.say('ls')).toBe('')
    expect(prey.whole).toBe(true)
    expect(prey.world.hostText('kept/file')).toBe('kept')
    await box.back(box.sandbox.facts.baseState)
    expect(await box.say('find . | sort')).toBe(before)
    if (!asRoot) return
    expect(await prey.attackDisposable('remove-everything')).toEqual({ 'remove-everything': 'removed' })
    expect(prey.whole).toBe(true)
  })

  test('attack:nothing-but-its-own-places-can-be-written', async () => {
    const prey = await makePrey(source)
    const box = await prey.world.sandbox()
    const own = [
      box.sandbox.facts.workspace,
      '/tmp',
      '/var/tmp',
      '/dev/shm',
      '/run/rewind',
      await box.say('echo $HOME'),
      '/proc',
      // Open to all in an image, and as all of it the sandbox's own.
      ...(source.scope === 'machine' ? ['/run/lock'] : []),
    ]
    const prune = own.flatMap((path) => ['-path', path, '-o']).slice(0, -1)
    const search = (top: string) => [
      'find',
      top,
      '(',
      ...prune,
      ')',
      '-prune',
      '-o',
      '!',
      '-type',
      'l',
      '-writable',
      '-print',
    ]
    const { stdout } = await box.run(search('/'), { timeoutMs: 50_000 })
    const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'pts', 'pts/ptmx']
    expect(
      stdout.split('\n').filter((path) => path !== '' && !devices.some((name) => path === `/dev/${name}`)),
    ).toEqual([])
    const become = asRoot ? ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'] : []
    const [program = '', ...rest] = [...become, ...search(prey.folder)]
    expect(execFileSync(program, rest, { encoding: 'utf8' })).toContain(join(prey.folder, 'public'))
  })

  test('attack:links-lead-no-host-side-read-or-write-out', async () => {
    const prey = await makePrey(source)
    const box = await prey.world.sandbox()
    const secret = join(prey.world.home, 'secret')
    const open = join(prey.folder, 'open')
    await box.say([
      'sh',
      '-c',
      'ln -s "$0" file; ln -s "$1" folder; ln -s "$2" open; mkfifo pipe',
      secret,
      prey.folder,
      open,
    ])
    const point = await box.point()
    for (const state of ['now', point] as const) {
      for (const path of ['file', 'folder/open', 'open', 'pipe'])
        await expect(box.read(path, state === 'now' ? undefined : state)).rejects.toThrow()
      const pair = await box.sandbox.pair(Buffer.from('file'), box.sandbox.facts.baseState, state, 1 << 20)
      expect(JSON.stringify(pair)).not.toContain(prey.secret)
      const changes = await box.sandbox.changes(box.sandbox.facts.baseState, state)
      expect(changes.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
        ...['file symlink', 'folder symlink', 'open symlink', 'pipe other'],
      ])
    }
    for (const path of ['folder/made', 'folder/open'])
      await expect(box.write(path, 'HACK')).rejects.toThrow(InvalidPathError)
    await box.write('open', 'HACK').catch(() => {})
    expect(prey.whole).toBe(true)
  })

  test('attack:output-of-a-command-is-no-link-to-something-else', async () => {
    const prey = await makePrey(source)
    const box = await prey.world.sandbox()
    const secret = join(prey.world.home, 'secret')
    const replaced = {
      link: `ln -s '${secret}' "$run/stdout"; ln -s '${secret}' "$run/stderr"`,
      pipe: 'mkfifo "$run/stdout" "$run/stderr"',
      folder: 'mkdir "$run/stdout" "$run/stderr"',
    }
    for (const [name, replace] of Object.entries(replaced)) {
      const running = await box.sandbox.exec({
        id: name,
        command: `run=/run/rewind/$REWIND_COMMAND; rm "$run/stdout" "$run/stderr"; ${replace}`,
      })
      await running.ended
      const [stdout, stderr] = [join(prey.world.folder, `${name}-out`), join(prey.world.folder, `${name}-err`)]
      await running.collect({ stdout, stderr }).catch(() => {})
      for (const path of [stdout, stderr])
        if (fs.existsSync(path)) expect(fs.readFileSync(path, 'utf8'), name).not.toContain(prey.secret)
    }
    // Taken along by a rewind, where it is out of the sandbox's view.
    const running = await box.sandbox.exec({
      id: 'kept',
      command: `run=/run/rewind/$REWIND_COMMAND; rm "$run/stdout"; ln -s '${secret}' "$run/stdout"; echo >done; exec sleep 300`,
    })
    await eventually('it is replaced', async () => (await box.say('ls')).includes('done'))
    await box.back(box.sandbox.facts.baseState)
    expect(Buffer.from(await running.read('stdout', 0, 1000)).toString()).not.toContain(prey.secret)
  })

  test('attack:descriptors-of-whoever-started-the-host', async () => {
    const world = await World.make(source)
    const path = join(world.folder, 'opened')
    fs.writeFileSync(path, 'host', { mode: 0o600 })
    const fd = fs.openSync(path, 'r+')
    const command = {
      id: 'look',
      command: 'ls -l /proc/self/fd >found; for n in 20 300; do echo HACK >&$n; done',
      wait: true,
    }
    const { module, factory } = world.source
    const args = [
      CHILD,
      module,
      factory,
      world.home,
      JSON.stringify(world.spec({ id: 'd' })),
      JSON.stringify([command]),
    ]
    const stdio: (number | 'ignore' | 'pipe')[] = Array.from({ length: 301 }, () => 'ignore')
    stdio[1] = 'pipe'
    stdio[20] = fd
    stdio[300] = fd
    const child = spawn(process.execPath, args, { stdio })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout ?? child, 'data')
    child.kill('SIGKILL')
    fs.closeSync(fd)
    const box: Box = world.box(await world.provider.attach('d'))
    expect(await box.read('found')).not.toContain('opened')
    expect(fs.readFileSync(path, 'utf8')).toBe('host')
  })

  test.runIf(asRoot)('attack:a-workspace-of-root-is-the-agents-in-the-sandbox-alone', async () => {
    const prey = await makePrey(source)
    const { workspace } = prey.world
    fs.writeFileSync(join(workspace, 'private'), 'root', { mode: 0o600 })
    fs.chownSync(join(workspace, 'private'), 0, 0)
    fs.chownSync(workspace, 0, 0)
    const box = await prey.world.sandbox()
    expect(await box.say('cat private; id -u; stat -c %u private')).toBe('root1000\n1000')
    await box.say('echo HACK >private; cp /bin/sh shell; chmod 4755 shell')
    expect(await box.say(`./shell -c 'cat /proc/self/status' | awk '$1 == "Uid:" { print $3 }'`)).toBe('1000')
    expect(prey.world.hostText('private')).toBe('root')
    expect(fs.readdirSync(workspace)).toEqual(['private'])
  })
}

async function makePrey(source: ProviderSource): Promise<Prey> {
  const prey = await Prey.make(source)
  onTestFinished(() => prey.end())
  return prey
}
