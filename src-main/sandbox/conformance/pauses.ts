/** Holding everything in a sandbox still: what stops, what goes on all the same, and who finds it so later. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SessionPausedError } from '../../contract/index.ts'
import { hostThatDies } from './survival.ts'
import { type Box, eventually, type ProviderSource, World } from './world.ts'

const TICKS = 'while :; do echo x >>ticks; sleep 0.02; done'

const ticks = async (box: Box): Promise<number> => (await box.read('ticks').catch(() => '')).length

/** It writes every 20 ms where it runs. */
async function standsStill(box: Box): Promise<boolean> {
  const before = await ticks(box)
  await sleep(150)
  return (await ticks(box)) === before
}

export function pauseBehaviours(source: ProviderSource): void {
  test('pause:everything-stands-still-and-goes-on', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.write('f', 'one')
    const one = await box.point()
    await box.sandbox.exec({ id: 'ticks', command: `(setsid sh -c '${TICKS}' &); exec sleep 300` })
    const limited = await box.sandbox.exec({ id: 'limited', command: 'sleep 300', timeoutMs: 1_500 })
    await eventually('it ticks', async () => (await ticks(box)) > 2)
    await box.sandbox.pause()
    await box.sandbox.pause()
    expect(box.sandbox.paused).toBe(true)
    expect(await standsStill(box)).toBe(true)
    await expect(box.sandbox.exec({ id: 'new', command: 'true' })).rejects.toBeInstanceOf(SessionPausedError)
    expect((await box.sandbox.checkpoint('paused')).changed).toBe(true)
    expect(await standsStill(box)).toBe(true)
    await sleep(1_200)
    await box.sandbox.unpause()
    expect(box.sandbox.paused).toBe(false)
    expect(await standsStill(box)).toBe(false)
    // Its time stood still too: it is ended a good while after it would have been.
    expect((await limited.ended).durationMs).toBeGreaterThan(2_500)
    expect(await limited.ended).toMatchObject({ status: 'timed-out' })

    await box.sandbox.pause()
    const running = (await box.sandbox.commands()).find(({ id }) => id === 'ticks')
    await box.back(one)
    expect(await running?.ended).toMatchObject({ status: 'cancelled' })
    expect(box.sandbox.paused).toBe(true)
    expect(await box.sandbox.processes()).toEqual([])
    await box.sandbox.unpause()
    expect(await box.say('cat f; ls')).toBe('onef')
  })

  test('pause:outlives-its-host', async () => {
    const world = await World.make(source)
    const kill = await hostThatDies(world, 'paused', [{ id: 'ticks', command: TICKS, wait: false }], 'pause')
    await kill()
    const box = world.box(await world.provider.attach('paused'))
    expect({ paused: box.sandbox.paused, losses: box.sandbox.losses }).toEqual({ paused: true, losses: [] })
    expect(await standsStill(box)).toBe(true)
    await expect(box.sandbox.exec({ id: 'new', command: 'true' })).rejects.toBeInstanceOf(SessionPausedError)
    await box.sandbox.unpause()
    expect(await standsStill(box)).toBe(false)
    expect(await box.say('echo on')).toBe('on')
    await box.sandbox.pause()
    await box.sandbox.destroy()
    await eventually('nothing is left', async () => (await world.traces()).length === 0)
  })
}
