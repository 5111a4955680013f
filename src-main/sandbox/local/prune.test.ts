/** Freeing layers in a sandbox: at once, under processes later, and whole whatever kills the host in the middle. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { pruneCrashPoints } from '../../store/index.ts'
import { type Box, World } from '../conformance/world.ts'
import type { FilesState } from '../sandbox.ts'
import { localSource } from './for-tests.ts'
import { controlShellOf } from './view-for-tests.ts'

/** Points 1 to `count`, each with a file of its own, one that all change, and a megabyte that the next one replaces. */
async function points(box: Box, count: number): Promise<FilesState[]> {
  const taken: FilesState[] = []
  for (let at = 1; at <= count; at++) {
    await box.say(
      `mkdir -p d; echo ${at} >d/f${at}; echo ${at} >d/all; head -c 1000000 /dev/urandom >big; echo ${at} >/tmp/t`,
    )
    taken.push(await box.point())
  }
  return taken
}

const files = (box: Box): Promise<string> => box.say('ls -R .; cat d/all /tmp/t')
const layersOf = (world: World, box: Box): string[] =>
  fs.readdirSync(join(world.home, 'sandboxes', box.sandbox.id, 'w'))

suiteNeeding(['local'], 'freeing layers', () => {
  test('bytes are free at once, and what is kept can be gone back to', async () => {
    const world = await World.make(localSource)
    const box = await world.sandbox()
    const taken = await points(box, 8)
    const [third, last] = [taken[2], taken[7]]
    if (!third || !last) throw new Error('eight points')
    const before = await box.sandbox.usage()
    const { became, waits } = await box.sandbox.prune([third, last])
    // The third is the first now, the last the fourth.
    const [first, fourth] = [taken[0], taken[3]]
    expect({ waits, became: became.workspace }).toEqual({
      waits: false,
      became: [
        [third.workspace, first?.workspace],
        [last.workspace, fourth?.workspace],
      ],
    })
    expect(before - (await box.sandbox.usage())).toBeGreaterThan(5_900_000)
    expect(layersOf(world, box).length).toBeLessThanOrEqual(2 + 1 + 2)
    expect(await files(box)).toContain('f8')
    // As they were named before, until whoever keeps them has learnt of it.
    await box.back(third)
    expect(await files(box)).toBe('.:\nbig\nd\n\n./d:\nall\nf1\nf2\nf3\n3\n3')
    expect(await box.read('d/f2', third)).toBe('2\n')
    expect((await box.sandbox.changes(third, last)).map(({ path }) => path)).toContain('d/f8')
    await box.back(last)
    expect(await box.say('ls d | wc -l; cat d/all')).toBe('9\n8')
    expect((await box.sandbox.prune([last])).waits).toBe(false)
    expect(await box.read('d/f1', last)).toBe('1\n')
  })

  test('over a live base: what was deleted in a folder of the sandbox’s own is gone from its list too', async () => {
    const world = await World.make(localSource)
    world.host('theirs/old', 'old')
    const box = await world.sandbox({ base: 'live' })
    // A layer that was written under a process has no marks on its folders.
    const holder = await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
    await box.say('mkdir own; echo a >own/a; echo b >own/b; rm theirs/old')
    await box.point()
    await holder.kill('cancelled')
    await box.say('rm own/a; echo c >own/c')
    const last = await box.point()
    expect((await box.sandbox.prune([last])).became.workspace).toHaveLength(1)
    expect(await box.say('ls -l own | wc -l; ls own theirs')).toBe('3\nown:\nb\nc\n\ntheirs:')
    // What the host has again under that name was deleted all the same.
    world.host('theirs/old', 'again')
    await box.back(last)
    expect(await box.say('ls theirs')).toBe('')
  })

  test('what a host that was killed left half made goes too', async () => {
    const world = await World.make(localSource)
    const box = await world.sandbox()
    const [last] = await points(box, 1)
    if (!last) throw new Error('one point')
    const folder = join(world.home, 'sandboxes', box.sandbox.id, 'w')
    fs.mkdirSync(join(folder, '7.part', 'inner'), { recursive: true })
    await box.sandbox.prune([last])
    expect(layersOf(world, box).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('a control shell that is killed meanwhile: what is made ready beside its successor takes nothing away', async () => {
    const world = await World.make(localSource)
    const box = await world.sandbox()
    const last = (await points(box, 3))[2]
    if (!last) throw new Error('three points')
    const shell = controlShellOf(join(world.home, 'sandboxes', box.sandbox.id)) ?? 0
    process.kill(shell, 'SIGSTOP')
    const pruning = box.sandbox.prune([last])
    await sleep(50)
    process.kill(shell, 'SIGKILL')
    await expect(pruning).rejects.toThrow('control shell')
    // Making a folder takes the overlay's work folder.
    expect(await box.say('mkdir made /tmp/made && ls -d made')).toBe('made')
    expect((await box.sandbox.prune([last])).waits).toBe(false)
    expect(await box.say('cat d/all')).toBe('3')
  })

  test('layers that a process holds wait for the next time', async () => {
    const world = await World.make(localSource)
    const box = await world.sandbox()
    const taken = await points(box, 4)
    const holder = await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
    const last = taken[3]
    if (!last) throw new Error('four points')
    expect(await box.sandbox.prune([last])).toEqual({ became: { workspace: [], machine: [] }, waits: true })
    const before = await files(box)
    await holder.kill('cancelled')
    expect((await box.sandbox.prune([last])).waits).toBe(false)
    expect(await files(box)).toBe(before)
    await box.back(last)
    expect(await box.say('ls d | wc -l')).toBe('5')
  })

  for (const point of pruneCrashPoints) {
    test(`host killed at ${point}`, async () => {
      const world = await World.make(localSource)
      const box = await world.sandbox()
      const taken = await points(box, 4)
      const kept = [taken[1], taken[3]].flatMap((state) => state ?? [])
      const before = await files(box)
      await box.sandbox.detach()
      const script = `
        const { createLocalProvider } = await import(${JSON.stringify(localSource.module)})
        const sandbox = await createLocalProvider({ home: ${JSON.stringify(world.home)} }).attach(${JSON.stringify(box.sandbox.id)})
        await sandbox.prune(${JSON.stringify(kept)})`
      const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, REWIND_CRASH_AT: point },
        encoding: 'utf8',
      })
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
      const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
      expect(await files(again)).toBe(before)
      expect((await again.sandbox.prune(kept)).became.workspace).toHaveLength(2)
      expect(await files(again)).toBe(before)
      for (const [at, state] of kept.entries()) {
        await again.back(state)
        expect(await again.say('ls d | wc -l; cat d/all /tmp/t')).toBe(at === 0 ? '3\n2\n2' : '5\n4\n4')
      }
      await again.sandbox.prune(kept)
      await expect.poll(() => layersOf(world, again).length).toBeLessThanOrEqual(2 + 1 + 2)
    })
  }
})
