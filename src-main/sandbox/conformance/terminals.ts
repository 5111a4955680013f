/** Commands with a terminal: what they see of it, how they are typed to, and what an agent cannot make of it. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { EngineUnavailableError, InvalidOptionError } from '../../contract/index.ts'
import type { RunningCommand } from '../sandbox.ts'
import { type Box, eventually, type ProviderSource, World } from './world.ts'

const SIZE = { columns: 101, rows: 33 }

const start = (box: Box, command: string): Promise<RunningCommand> =>
  box.sandbox.exec({ id: randomUUID(), command, terminal: SIZE })

const shown = async (running: RunningCommand): Promise<string> =>
  Buffer.from(await running.read('stdout', 0, 1 << 20)).toString()

const appears = (running: RunningCommand, text: string | RegExp): Promise<void> =>
  eventually(`${text} on the terminal`, async () => (await shown(running)).search(text) >= 0)

const type = (running: RunningCommand, text: string): Promise<void> => running.type(Buffer.from(text))

export function terminalBehaviours(source: ProviderSource): void {
  test('terminal:a-program-finds-one-of-that-size', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'test -t 0 && test -t 1 && test -t 2 && stty size; echo to stderr >&2; exit 7')
    expect(await running.ended).toMatchObject({ status: 'exited', code: 7 })
    expect(await shown(running)).toBe('33 101\r\nto stderr\r\n')
    expect(await running.size('stderr')).toBe(0)
  })

  test('terminal:what-is-typed-arrives-in-order-and-is-echoed', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'read one; read two; echo "$two $one"')
    await type(running, 'first\r')
    await type(running, 'second é\r')
    expect((await running.ended).code).toBe(0)
    expect(await shown(running)).toBe('first\r\nsecond é\r\nsecond é first\r\n')
  })

  test('terminal:control-c-interrupts-the-program-in-front', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'trap "echo interrupted; exit 5" INT; echo ready; while :; do sleep 0.1; done')
    await appears(running, 'ready')
    await type(running, '\x03')
    expect(await running.ended).toMatchObject({ status: 'exited', code: 5 })
    expect(await shown(running)).toContain('interrupted')
  })

  test('terminal:another-size-is-told', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.1; done')
    await appears(running, 'ready')
    await running.resize({ columns: 66, rows: 20 })
    await running.ended
    expect(await shown(running)).toContain('20 66')
  })

  test('terminal:words-reach-the-program-as-they-are', async () => {
    const box = await (await World.make(source)).sandbox()
    const command = ['printf', '[%s]', "it's", '$HOME', 'a  b', '', '-c', '"`;\\']
    const running = await box.sandbox.exec({ id: 'words', command, terminal: SIZE, env: { SHELL: '/nowhere' } })
    expect((await running.ended).code).toBe(0)
    expect(await shown(running)).toBe('[it\'s][$HOME][a  b][][-c]["`;\\]')
  })

  test('terminal:the-next-host-goes-on-typing', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const first = await start(box, 'echo ready; read line; echo "got $line"')
    await appears(first, 'ready')
    await box.sandbox.detach()
    const next = world.box(await world.provider.attach(box.sandbox.id))
    const [running] = await next.sandbox.commands()
    if (!running) throw new Error('the command is gone')
    await type(running, 'more\r')
    expect((await running.ended).code).toBe(0)
    expect(await shown(running)).toContain('got more')
  })

  test('terminal:ended-with-all-of-its-processes', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'sleep 1000 & echo ready; sleep 1000')
    await appears(running, 'ready')
    await running.kill('cancelled')
    expect(await running.ended).toMatchObject({ status: 'cancelled' })
    expect(await box.sandbox.processes()).toEqual([])
    // Nobody is there any more to take it.
    await type(running, 'late')
  })

  test('terminal:only-where-it-was-asked-for', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await box.sandbox.exec({ id: 'plain', command: 'test -t 1; echo $?; sleep 1000' })
    await appears(running, '1')
    await expect(type(running, 'x')).rejects.toBeInstanceOf(InvalidOptionError)
    await expect(running.resize(SIZE)).rejects.toBeInstanceOf(InvalidOptionError)
    await running.kill('cancelled')
  })

  test('terminal:one-that-takes-nothing-more-holds-nobody-for-ever', { timeout: 60_000 }, async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await start(box, 'echo ready; read go; kill -STOP $PPID; sleep 1000')
    await appears(running, 'ready')
    await type(running, 'go\r')
    // What is typed before it stands still is taken.
    const typing = async (): Promise<never> => {
      for (;;) await running.type(Buffer.alloc(1 << 20, 'x'))
    }
    await expect(typing()).rejects.toBeInstanceOf(EngineUnavailableError)
    await running.kill('cancelled')
  })

  test('terminal:keys-go-nowhere-else', async () => {
    const world = await World.make(source)
    world.host('victim', 'as it was')
    const box = await world.sandbox()
    const running = await start(box, 'echo ready; sleep 1000')
    await appears(running, 'ready')
    // The run folder is the agent's: a link in the FIFO's place is not followed, wherever it leads.
    await box.say(`cd /run/rewind/${running.id} && rm keys && ln -s "$REWIND_WORKSPACE/victim" keys`)
    await expect(type(running, 'overwritten')).rejects.toBeInstanceOf(InvalidOptionError)
    expect(await box.read('victim')).toBe('as it was')
    await running.kill('cancelled')
  })

  test('last-change:tells-when-the-workspace-was-touched', async () => {
    const world = await World.make(source)
    world.host('old', 'x')
    const box = await world.sandbox()
    expect(await box.sandbox.lastChange()).toBe(null)
    const before = Date.now()
    await box.say('mkdir -p a/b && echo x >a/b/c')
    const changed = (await box.sandbox.lastChange()) ?? 0
    expect(changed).toBeGreaterThanOrEqual(before - 20)
    expect(changed).toBeLessThanOrEqual(Date.now() + 20)
    await box.say('rm old')
    expect(await box.sandbox.lastChange()).toBeGreaterThanOrEqual(changed)
    const running = await box.sandbox.exec({ id: 'live', command: 'cd a && sleep 1000' })
    await box.point()
    expect(await box.sandbox.lastChange()).toBe(null)
    await box.write('later', 'y')
    expect(await box.sandbox.lastChange()).toBeGreaterThanOrEqual(changed)
    await running.kill('cancelled')
  })
}
