/** Points under processes that hold the workspace: each costs what changed since the one before, and holds all of it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { type Box, eventually, type ProviderSource, World } from '../conformance/world.ts'
import { layerBytes } from '../layers/index.ts'
import type { FilesState } from '../sandbox.ts'
import { chainOf } from './view-for-tests.ts'

const source: ProviderSource = { module: join(import.meta.dirname, 'index.ts'), factory: 'createLocalProvider' }
const MEGABYTE = 1 << 20

suiteNeeding(['local'], 'points under live writers', () => {
  const start = async (): Promise<{
    world: World
    box: Box
    folder: string
    added: (state: FilesState) => Promise<number>
  }> => {
    const world = await World.make(source)
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
