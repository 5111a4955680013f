/** Hosts die, holders die, disks fill up: what is left, and what is not. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { DiskFullError, SandboxNotFoundError } from '../../contract/index.ts'
import { eventually, type ProviderSource, World } from './world.ts'

const CHILD = join(import.meta.dirname, 'child-host.ts')

/** A host in its own process that made a sandbox and started commands. @returns how to kill it */
/**
 * A host in a process of its own, which has made a sandbox and started commands in it.
 * @param last what it does then
 * @returns kills it
 */
export async function hostThatDies(
  world: World,
  id: string,
  commands: { id: string; command: string; wait: boolean }[],
  last: 'pause' | '' = '',
) {
  const { module, factory } = world.source
  const args = [CHILD, module, factory, world.home, JSON.stringify(world.spec({ id })), JSON.stringify(commands), last]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) if (line === 'ready') break
  return async (): Promise<void> => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

export function survivalBehaviours(source: ProviderSource): void {
  test('attach:after-the-host-was-killed', async () => {
    const world = await World.make(source)
    const kill = await hostThatDies(world, 'outlives', [
      { id: 'done', command: 'echo said >written; echo said; exit 3', wait: true },
      { id: 'server', command: 'echo up; while [ ! -e stop ]; do sleep 0.05; done; echo down; exit 4', wait: false },
    ])
    await kill()
    const box = world.box(await world.provider.attach('outlives'))
    expect({ ended: box.sandbox.ended, losses: box.sandbox.losses }).toEqual({ ended: false, losses: [] })
    expect(await box.read('written')).toBe('said\n')
    const commands = new Map((await box.sandbox.commands()).map((command) => [command.id, command]))
    expect(await commands.get('done')?.ended).toMatchObject({ status: 'exited', code: 3 })
    expect((await box.sandbox.processes()).length).toBeGreaterThan(0)
    const point = await box.sandbox.checkpoint('after')
    expect(point.changed).toBe(true)
    await box.write('stop', '')
    const server = commands.get('server')
    expect(await server?.ended).toMatchObject({ status: 'exited', code: 4 })
    expect(Buffer.from((await server?.read('stdout', 0, 100)) ?? []).toString()).toBe('up\ndown\n')
    await box.back(box.sandbox.facts.baseState)
    expect(await box.say('ls -A; echo on')).toBe('on')
  })

  test('attach:an-older-host-is-refused', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.write('f', 'x')
    await box.sandbox.detach()
    const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
    expect(await again.read('f')).toBe('x')
    await expect(box.sandbox.checkpoint('old')).rejects.toThrow()
    expect((await again.sandbox.checkpoint('new')).changed).toBe(true)
  })

  test('detach:processes-go-on', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.sandbox.exec({ id: 'ticks', command: 'while :; do echo x >>ticks; sleep 0.02; done' })
    await eventually('it ticks', async () => (await box.say('cat ticks 2>/dev/null | wc -l')) !== '0')
    await box.sandbox.detach()
    const again = world.box(await world.provider.attach(box.sandbox.id))
    const before = (await again.read('ticks')).length
    await sleep(200)
    expect((await again.read('ticks')).length).toBeGreaterThan(before)
    const ticks = (await again.sandbox.commands()).find(({ id }) => id === 'ticks')
    await ticks?.kill('cancelled')
    expect(await again.sandbox.processes()).toEqual([])
  })

  test('attach:nothing-there', async () => {
    const world = await World.make(source)
    await expect(world.provider.attach('none')).rejects.toBeInstanceOf(SandboxNotFoundError)
    await expect(world.provider.open('none')).rejects.toBeInstanceOf(SandboxNotFoundError)
    expect(await world.provider.remove('none')).toBeNull()
  })

  test('end:output-can-still-be-collected', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const running = await box.sandbox.exec({ id: 'cut', command: 'echo said; sleep 300' })
    await eventually('it spoke', async () => (await running.size('stdout')) > 0)
    await box.sandbox.end()
    expect(await running.ended).toMatchObject({ status: 'cancelled' })
    await running.collect({ stdout: join(world.folder, 'out'), stderr: join(world.folder, 'err') })
    expect(readFileSync(join(world.folder, 'out'), 'utf8')).toBe('said\n')
  })

  test('destroy:leaves-nothing', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.say(
      'mkdir -p closed/in; chmod 000 closed; mkdir -p /tmp/c; chmod 000 /tmp/c; sleep 300 >/dev/null 2>&1 &',
    )
    await box.point()
    await box.say('echo x >f')
    expect(await world.traces()).not.toEqual([])
    await box.sandbox.destroy()
    expect(await world.provider.list()).toEqual([])
    expect(readdirSync(world.home).flatMap((name) => readdirSync(join(world.home, name)))).toEqual([])
    await eventually('nothing is left', async () => (await world.traces()).length === 0)
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(world.home)
  })

  test('destroy:with-a-command-in-flight-leaves-nothing', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const id = box.sandbox.id
    const tree = 'setsid sleep 300 & trap "" TERM INT HUP; (setsid sleep 301 &) ; while :; do echo x >>log; done'
    const running = await box.sandbox.exec({ id: 'flight', command: tree })
    await eventually('it writes', async () => (await box.read('log').catch(() => '')) !== '')
    const groups = (): string =>
      execFileSync('sh', ['-c', 'find /sys/fs/cgroup -type d -name "rewind-*" 2>/dev/null || :'], { encoding: 'utf8' })
    const ours = (): string[] =>
      groups()
        .split('\n')
        .filter((path) => path.includes(id.slice(-30)))
    expect(await world.traces()).not.toEqual([])
    await box.sandbox.destroy()
    expect(await running.ended).toMatchObject({ status: 'cancelled' })
    expect(box.sandbox.ended).toBe(true)
    expect(await world.provider.list()).toEqual([])
    await eventually('nothing is left', async () => (await world.traces()).length === 0)
    expect(ours()).toEqual([])
  })

  test('remove:whatever-state-it-is-in', async () => {
    const world = await World.make(source)
    const kill = await hostThatDies(world, 'left', [{ id: 'a', command: 'chmod 000 .; sleep 300', wait: false }])
    await kill()
    await world.provider.remove('left')
    await world.provider.remove('left')
    expect(await world.provider.list()).toEqual([])
    await eventually('nothing is left', async () => (await world.traces()).length === 0)
  })

  // A host may be killed at any moment while it makes one, long before anybody wrote down what it had started.
  test('create:a-host-killed-in-the-middle-leaves-what-can-be-removed', async () => {
    const world = await World.make(source)
    world.host('f', 'x')
    for (let after = 20; after <= 620; after += 60) {
      const id = `cut-${after}`
      const { module, factory } = world.source
      const args = [CHILD, module, factory, world.home, JSON.stringify(world.spec({ id })), '[]']
      const child = spawn(process.execPath, args, { stdio: 'ignore' })
      const exit = once(child, 'exit')
      const began = async () => (await world.provider.list()).includes(id) || child.exitCode !== null
      await eventually('it began', began, 30_000)
      await sleep(after - 20)
      child.kill('SIGKILL')
      await exit
      expect(await world.provider.list()).toContain(id)
      expect(await world.provider.remove(id)).toBeNull()
      expect(await world.provider.list()).not.toContain(id)
      await eventually('nothing is left', async () => (await world.traces(id)).length === 0)
    }
  })

  test('list:names-them', async () => {
    const world = await World.make(source)
    const ids = await Promise.all(['one', 'two'].map(async (id) => (await world.sandbox({ id })).sandbox.id))
    expect((await world.provider.list()).sort()).toEqual(ids.sort())
  })

  // As an ordinary user no engine may have a disk of its own for it.
  test.runIf(source.onSmallDisk !== null)('disk-full:is-said-and-changes-nothing', async () => {
    const world = await World.make(source)
    const sandbox = await source.onSmallDisk?.(world)
    if (sandbox === undefined) throw new Error('no small disk')
    try {
      const box = world.box(sandbox)
      await box.write('keep', 'kept')
      const point = await box.point()
      await sleep(50)
      const filled = await box.run(
        'echo x >small; head -c 100000000 /dev/zero >big 2>/dev/null; echo $? >>/dev/null; rm -f small2',
      )
      expect(filled.status).toBe('exited')
      await expect(box.sandbox.writeFile('more', new Uint8Array(8 << 20))).rejects.toBeInstanceOf(DiskFullError)
      const outcome = await box.sandbox.checkpoint('full').then(
        () => 'done',
        (error: unknown) => error,
      )
      if (outcome !== 'done') expect(outcome).toBeInstanceOf(DiskFullError)
      expect(await box.read('keep')).toBe('kept')
      await box.back(point)
      expect(await box.read('keep')).toBe('kept')
      expect(existsSync(join(world.workspace, 'keep'))).toBe(false)
    } finally {
      await sandbox.destroy()
    }
  })
}
