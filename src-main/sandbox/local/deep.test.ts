/** Long lines of points: mounts stay short, whatever kills the host while they are made so, and every point is whole. */
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { compactCrashPoints } from '../../store/index.ts'
import { type Box, World } from '../conformance/world.ts'
import type { FilesState } from '../sandbox.ts'
import { localSource } from './for-tests.ts'
import { StateFile } from './state.ts'
import { chainOf, stackOf } from './view-for-tests.ts'

async function start(): Promise<{ world: World; box: Box; folder: string }> {
  const world = await World.make(localSource)
  world.host('kept/lower', 'lower')
  const box = await world.sandbox()
  return { world, box, folder: join(world.home, 'sandboxes', box.sandbox.id) }
}

/** Each point changes two files, makes one and removes another. */
async function points(box: Box, count: number): Promise<FilesState[]> {
  const taken: FilesState[] = []
  for (let at = 1; at <= count; at++) {
    await box.write('counter', String(at))
    await box.write(`d${at % 3}/f${at}`, String(at))
    await box.write('kept/lower', `lower ${at}`)
    if (at > 4) await box.say(`rm d${(at - 4) % 3}/f${at - 4}; echo ${at} >/tmp/t`)
    taken.push(await box.point())
  }
  return taken
}

const listed = (at: number): string =>
  [at - 3, at - 2, at - 1, at]
    .filter((one) => one > 0)
    .map((one) => `d${one % 3}/f${one}`)
    .sort()
    .join('\n')

async function expectAt(box: Box, at: number): Promise<void> {
  expect(await box.say('cat counter kept/lower; echo; ls d*/*')).toBe(`${at}lower ${at}\n${listed(at)}`)
}

const numbered = (names: string[]): string[] => names.filter((name) => /^\d+$/.test(name))

suiteNeeding(['local'], 'long lines of points', () => {
  test('are mounted as a few folders, gone back to anywhere, and cost on disk what changed', async () => {
    const { box, folder } = await start()
    const taken = await points(box, 70)
    const last = taken[69]
    if (!last) throw new Error('seventy points')
    expect(chainOf(folder, last)).toHaveLength(71)
    await box.write('counter', 'left')
    const tip = await box.point()
    await expect.poll(() => stackOf(folder, tip).length, { timeout: 20_000 }).toBeLessThan(1 + 1 + 8 + 8)
    for (const at of [64, 3, 70, 33, 1, 57, 65]) {
      const state = taken[at - 1]
      if (!state) throw new Error(`no point ${at}`)
      await box.back(state)
      await expectAt(box, at)
      expect(await box.read('counter', state)).toBe(String(at))
      expect(stackOf(folder, state).length).toBeLessThan(20)
    }
    expect(fs.statSync(join(folder, 'state.json')).size).toBeLessThan(16_384)
    const [first, second, near] = [taken[0], taken[68], taken[69]]
    if (!first || !second || !near) throw new Error('three points')
    expect((await box.sandbox.changes(second, near)).map(({ path, status }) => `${status} ${path}`)).toEqual(
      ['modified counter', 'added d1/f70', 'deleted d0/f66', 'modified kept/lower'].sort((a, b) =>
        (a.split(' ')[1] ?? '') < (b.split(' ')[1] ?? '') ? -1 : 1,
      ),
    )
    expect((await box.sandbox.changes(first, near)).map(({ path }) => path)).toContain('counter')
    // What is linked is counted once.
    const du = (): number => {
      const what = ['w', 'm', 'kept'].map((name) => join(folder, name))
      return Number.parseInt(
        spawnSync('du', ['-sck', ...what], { encoding: 'utf8' })
          .stdout.split('\n')
          .at(-2) ?? '',
        10,
      )
    }
    expect(Math.abs((await box.sandbox.usage()) / 1024 - du())).toBeLessThan(256)
    const before = await box.sandbox.usage()
    await box.back(last)
    const { waits } = await box.sandbox.prune([box.sandbox.facts.baseState, last])
    expect(waits).toBe(false)
    await expectAt(box, 70)
    expect(await box.sandbox.usage()).toBeLessThan(before / 2)
    expect(Math.abs((await box.sandbox.usage()) / 1024 - du())).toBeLessThan(256)
    await expect.poll(() => numbered(fs.readdirSync(join(folder, 'w'))).length).toBeLessThanOrEqual(2 + 1 + 2)
  })

  test('under a live process too', async () => {
    const { box, folder } = await start()
    const holder = await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
    const taken = await points(box, 20)
    const last = taken[19]
    if (!last) throw new Error('twenty points')
    await expect.poll(() => stackOf(folder, last).length, { timeout: 20_000 }).toBeLessThan(13)
    await holder.kill('cancelled')
    for (const at of [20, 9]) {
      const state = taken[at - 1]
      if (state) await box.back(state)
      await expectAt(box, at)
    }
  })

  for (const point of compactCrashPoints) {
    test(`host killed at ${point}`, async () => {
      const { world, box, folder } = await start()
      const taken = await points(box, 7)
      await box.sandbox.detach()
      const script = `
        const { createLocalProvider } = await import(${JSON.stringify(localSource.module)})
        const sandbox = await createLocalProvider({ home: ${JSON.stringify(world.home)} }).attach(${JSON.stringify(box.sandbox.id)})
        await sandbox.writeFile('counter', Buffer.from('8'))
        process.stdout.write(JSON.stringify((await sandbox.checkpoint('eighth')).state))
        setTimeout(() => process.exit(1), 20_000)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, REWIND_CRASH_AT: point },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += chunk
      })
      const signal = await new Promise((resolve) => child.once('close', (_, how) => resolve(how)))
      expect(signal).toBe('SIGKILL')
      const eighth = JSON.parse(said) as FilesState
      const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
      for (const at of [7, 2]) {
        const state = taken[at - 1]
        if (state) await again.back(state)
        await expectAt(again, at)
      }
      await again.back(eighth)
      expect(await again.read('counter')).toBe('8')
      // It is made after all, and what was left half is gone.
      await expect.poll(() => stackOf(folder, eighth).length, { timeout: 10_000 }).toBeLessThan(4)
      await again.sandbox.prune([...taken, eighth])
      const { trees } = new StateFile(folder)
      const { upper } = JSON.parse(fs.readFileSync(join(folder, 'state.json'), 'utf8')).workspace
      const known = [0, upper, ...trees.workspace.layers, ...trees.workspace.compacts.keys()]
      await expect
        .poll(() => fs.readdirSync(join(folder, 'w')).filter((name) => !known.includes(Number(name))).length)
        .toBeLessThanOrEqual(1)
    })
  }
})
