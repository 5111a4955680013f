/** Looking at what runs in a sandbox and what listens there, and ending one process of it. */
import { expect, test } from 'vitest'
import { eventually, type ProviderSource, World } from './world.ts'

/** As every image with the product has it, and every host of the local engine. */
const SERVER = `exec node -e "require('http').createServer((q, s) => s.end('up')).listen(0, '127.0.0.1')"`

export function activityBehaviours(source: ProviderSource): void {
  test('activity:processes-and-ports-with-the-command-they-are-of', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    expect(await box.sandbox.activity()).toEqual({ processes: [], ports: [] })
    const before = Date.now()
    const server = await box.sandbox.exec({ id: 'server', command: SERVER })
    const tree = await box.sandbox.exec({ id: 'tree', command: 'env -i sleep 301 & exec sleep 302' })
    await eventually('it listens', async () => (await box.sandbox.activity()).ports.length === 1)
    const { processes, ports } = await box.sandbox.activity()
    const of = (text: string) => processes.find(({ command }) => command.includes(text))
    expect(processes.map(({ commandId }) => commandId).sort()).toEqual(['server', 'tree', 'tree'])
    expect(of('node')).toMatchObject({ commandId: 'server', cpuMs: expect.any(Number) })
    expect(of('node')?.rssBytes).toBeGreaterThan(1 << 20)
    expect(Math.abs((of('node')?.startedAt.getTime() ?? 0) - before)).toBeLessThan(60_000)
    expect(ports).toEqual([
      { port: expect.any(Number), address: '127.0.0.1', pid: of('node')?.pid, command: of('node')?.command },
    ])

    expect(await box.sandbox.endProcess(of('sleep 301')?.key ?? '')).toBe(true)
    expect(await box.sandbox.endProcess(of('sleep 301')?.key ?? '')).toBe(false)
    expect(await box.sandbox.endProcess(`${of('sleep 302')?.pid}-1`)).toBe(false)
    expect((await box.sandbox.activity()).processes.map(({ command }) => command)).toContain('sleep 302')
    await box.sandbox.pause()
    expect(await box.sandbox.endProcess(of('sleep 302')?.key ?? '')).toBe(true)
    await box.sandbox.unpause()
    expect((await tree.ended).signal).not.toBeNull()
    await server.kill('cancelled')
    expect(await box.sandbox.activity()).toEqual({ processes: [], ports: [] })
  })
}
