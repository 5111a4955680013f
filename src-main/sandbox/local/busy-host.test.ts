/** A host whose thread is taken up when a command starts: what it is told late is no reason to do anything twice. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

suiteNeeding(['local'], 'a busy host', () => {
  test('starts a command once, also where it has ended before it heard of its start', async () => {
    const box = await (await World.make(localSource)).sandbox()
    const { workspace } = box.sandbox.facts
    for (let n = 0; n < 5; n++) {
      let isStarted = false
      const starting = box.sandbox
        .exec({ id: `busy-${n}`, command: `echo once >>${n}`, cwd: n === 4 ? 'nowhere' : workspace })
        .finally(() => {
          isStarted = true
        })
      starting.catch(() => {})
      // Longer than the launcher is left without a look: timers and news are due in the same turn.
      while (!isStarted) {
        block(130)
        await turn()
      }
      if (n === 4) await expect(starting).rejects.toThrow(/no folder nowhere|no folder .*nowhere/)
      else await (await starting).ended
    }
    expect(await box.say('cat 0 1 2 3')).toBe('once\nonce\nonce\nonce')
  })
})
