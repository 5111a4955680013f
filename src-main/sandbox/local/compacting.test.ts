/** Long lines under a real sandbox: what keeps mounts short leaves nothing behind. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { World } from '../conformance/world.ts'
import type { FilesState } from '../sandbox.ts'
import { localSource } from './for-tests.ts'
import { StateFile } from './state.ts'

suiteNeeding(['local'], 'a long line', () => {
  test('is shown by a few folders, and those that others stand for now are gone from the disk', async () => {
    const world = await World.make(localSource)
    const box = await world.sandbox()
    const folder = join(world.home, 'sandboxes', box.sandbox.id)
    const states: FilesState[] = []
    for (let n = 0; n < 72; n++) {
      await box.write(`d${n % 5}/f`, String(n))
      states.push(await box.point())
    }
    const tree = () => new StateFile(folder).trees.workspace
    const stack = () => tree().stack(tree().resolve(states.at(-1)?.workspace ?? 0))
    await expect.poll(() => stack().length).toBeLessThan(20)
    // The next point takes what is of no use any more out of the mount.
    await box.write('last', 'x')
    states.push(await box.point())

    /** Older than the newest layer, and neither one of the line nor shown in the place of some. */
    const strays = () => {
      const { layers, compacts } = tree()
      const line = new Set(layers)
      const newest = Math.max(...line)
      return readdirSync(join(folder, 'w'))
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .filter((number) => number > 0 && number < newest && !line.has(number) && !compacts.has(number))
    }
    // By then the background has done what it will do without another step.
    await sleep(1_500)
    expect(strays()).toEqual([])
    expect(await box.read('d1/f', states[11])).toBe('11')
    expect(await box.read('d4/f')).toBe('69')
  })
})
