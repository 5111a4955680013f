/** Points under processes that hold the workspace: each costs what changed since the one before, and holds all of it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { type Box, eventually, World } from '../conformance/world.ts'
import { layerBytes } from '../layers/index.ts'
import type { FilesState } from '../sandbox.ts'
import { localSource } from './for-tests.ts'
import { chainOf } from './view-for-tests.ts'

const MEGABYTE = 1 << 20

suiteNeeding(['local'], 'points under live writers', () => {
  const start = async (): Promise<{
    world: World
    box: Box
    folder: string
    added: (state: FilesState) => Promise<number>
  }> => {
    const world = await World.make(localSource)
    world.host('kept/lower', 'lower')
    const box = await world.sandbox()
    await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >>held' })
    await eventually('it holds', async () => (await box.say('ls')).includes('held'))
    await box.say('mkdir kept/new; head -c 5000000 /dev/urandom >big; head -c 5000000 /dev/urandom >kept/new/big')
    await box.say('echo 0 >kept/new/f; echo 0 >doomed; mkdir doomed-too; echo 0 >doomed-too/f')
    const folder = join(world.home, 'sandboxes', box.sandbox.id)
    const added = async (state: FilesState): Promise<number> =>
      (await layerBytes(join(folder, 'w', String(state.workspace)))).bytes
    return { world, box, added, folder }
  }
  /** Times to a hundredth of a second: those of folders are rounded by a fraction of a microsecond. */
  const listing = (box: Box): Promise<string> =>
    box.say(
      'find . -printf "%p %y %m %s %T@ %l\\n" | sed -E "s/(\\.[0-9]{2})[0-9]{8} /\\1 /" | sort; find . -type f | sort | xargs -d "\\n" cksum',
    )

  test('only the first holds everything', async () => {
    const { box, added } = await start()
    const points: { state: FilesState; tree: string }[] = []
    const point = async (): Promise<number> => {
      const tree = await listing(box)
      const state = await box.point()
      points.push({ state, tree })
      return added(state)
    }
    expect(await point()).toBeGreaterThan(9_000_000)
    for (const edit of [
      'echo 1 >kept/new/f',
      'rm doomed; rm -r doomed-too',
      'mv kept/new/f kept/new/g; touch -d 2001-02-03 big; chmod 700 kept',
      'mkdir doomed-too; echo 1 >doomed-too/f; ln -s big link; rm kept/lower',
      'mkfifo kept/pipe; mv kept/new/g kept/lower; ln kept/lower kept/second',
    ]) {
      await box.say(edit)
      const bytes = await point()
      expect(bytes, edit).toBeLessThan(edit.includes('big') && edit.includes('touch') ? 6_000_000 : MEGABYTE)
    }
    for (const { state, tree } of [...points.slice().reverse(), ...points]) {
      await box.back(state)
      expect(await listing(box)).toBe(tree)
    }
  })

  test('what is changed through memory alone', async () => {
    const { box } = await start()
    const script = `
import mmap, os, time
places = ('mapped', '/dev/shm/mapped', 'odd\\\\012name', 'new\\nline')
maps = []
for name in places:
    with open(name, 'w+b') as file:
        file.truncate(4096)
        maps.append(mmap.mmap(file.fileno(), 4096))
at = 0
while True:
    at += 1
    for one in maps: one[:4] = b'%04d' % at
    open('said', 'w').write(str(at))
    while not os.path.exists(f'go{at}'): time.sleep(0.01)`
    await box.sandbox.exec({ id: 'mapper', command: ['python3', '-c', script] })
    const states: FilesState[] = []
    for (const at of [1, 2, 3]) {
      await eventually('it stored', async () => (await box.run('cat said')).stdout === String(at))
      states.push(await box.point())
      await box.say(`touch go${at}`)
    }
    await eventually('it stored', async () => (await box.run('cat said')).stdout === '4')
    states.push((await box.back(box.sandbox.facts.baseState)).left.state)
    for (const [at, state] of states.entries()) {
      await box.back(state)
      const expected = `000${at + 1}`.repeat(4)
      expect(await box.say('for f in mapped /dev/shm/mapped odd* new*; do head -c 4 "$f"; done')).toBe(expected)
    }
  })

  test('a later host compares what it did not see, and copies no more', async () => {
    const { world, box, added } = await start()
    await box.point()
    await box.say('echo 1 >kept/new/f; echo 1 >new')
    await box.sandbox.detach()
    const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
    const tree = await listing(again)
    const state = await again.point()
    expect(await added(state)).toBeLessThan(MEGABYTE)
    await again.say('rm -r kept')
    await again.back(state)
    expect(await listing(again)).toBe(tree)
  })

  test('when the last process has ended, its layer is set aside without what the points before it hold', async () => {
    const { box, added, folder } = await start()
    const under = await box.point()
    for (const command of await box.sandbox.commands()) await command.kill('cancelled')
    await box.say('echo 1 >kept/new/f')
    const tree = await listing(box)
    const after = await box.point()
    expect(chainOf(folder, after).slice(1)).toEqual(chainOf(folder, under))
    expect(await added(after)).toBeLessThan(MEGABYTE)
    await box.back(box.sandbox.facts.baseState)
    await box.back(after)
    expect(await listing(box)).toBe(tree)
  })
})
