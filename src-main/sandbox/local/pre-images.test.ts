/** What the host's folder held before we changed it, kept for what stands and for every point. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { InvalidPathError } from '../../contract/index.ts'
import { preImageCrashPoints } from '../../store/index.ts'
import { type Box, World } from '../conformance/world.ts'
import type { FilesState } from '../sandbox.ts'
import { localSource } from './for-tests.ts'

const bytes = (...paths: string[]) => paths.map((path) => Buffer.from(path))
/** Everything that commands see, with modes, and times of files. */
const seen = (box: Box): Promise<string> =>
  box.say(
    "find . ! -name . -printf '%y %m %p ' \\( -type f -printf '%t ' -exec cat {} \\; -o -printf '%l\\n' \\) | sort",
  )

async function begun(): Promise<{ world: World; box: Box; points: FilesState[] }> {
  const world = await World.make(localSource)
  for (const path of ['edited', 'deleted', 'folder/in/it', 'folder/other', 'was a file', 'odd\nname'])
    world.host(path, `${path} as it was\n`)
  const box = await world.sandbox({ base: 'live' })
  await box.say('echo mine >mine; echo changed inside >folder/other')
  const one = await box.point()
  await box.say('mkdir -p new/deep; echo of the sandbox >new/deep/file; rm deleted')
  return { world, box, points: [box.sandbox.facts.baseState, one, await box.point()] }
}

const CHANGED = [
  'edited',
  'deleted',
  'folder',
  'was a file',
  'odd\nname',
  'new',
  'added/below',
  'edited/beneath a file',
]
/** All kinds of change that there are, on the host. */
function change(world: World): void {
  const at = (path: string) => join(world.workspace, path)
  world.host('edited', 'edited since\n')
  world.host('odd\nname', 'edited since\n')
  for (const path of ['deleted', 'folder', 'was a file']) rmSync(at(path), { recursive: true })
  world.host('folder', 'a file now\n')
  world.host('was a file/now', 'a folder\n')
  world.host('new/deep/file', 'of the host\n')
  world.host('added/below', 'added\n')
}

async function views(box: Box, points: readonly FilesState[]): Promise<string[]> {
  const views: string[] = []
  for (const point of points) {
    await box.back(point)
    views.push(await seen(box))
  }
  return views
}

suiteNeeding(['local'], 'pre-images', () => {
  test('what stands and every point keep what they showed, however often the host is changed', async () => {
    const { world, box, points } = await begun()
    const [base = box.sandbox.facts.baseState, one = base, two = one] = points
    const before = await views(box, points)
    const changes = await box.sandbox.changes(base, two)
    expect(await box.sandbox.keepHostEntries(bytes(...CHANGED))).toBe(true)
    change(world)
    expect(await seen(box)).toBe(before[2])
    expect(await views(box, points)).toEqual(before)
    expect(await box.read('edited', base)).toBe('edited as it was\n')
    expect(await box.sandbox.changes(base, two)).toEqual(changes)

    // Once more, over other entries and over the same.
    world.host('later', 'there meanwhile\n')
    const three = await box.point()
    expect(await box.say('cat later')).toBe('there meanwhile')
    expect(await box.sandbox.keepHostEntries(bytes('later', 'edited', 'last'))).toBe(true)
    world.host('later', 'edited since\n')
    world.host('edited', 'and again\n')
    world.host('last', 'added\n')
    expect(await box.say('cat later edited; ls')).not.toMatch(/since|again|last/)
    expect(await box.read('later', three)).toBe('there meanwhile\n')

    // Layers of pre-images are pruned and folded as others are.
    expect((await box.sandbox.prune([base, two])).waits).toBe(false)
    const [first, , last] = before
    await box.back(base)
    expect(await box.say('cat later; rm later')).toBe('there meanwhile')
    expect(await seen(box)).toBe(first)
    await box.back(two)
    expect(await box.say('rm later; ls -d new/deep/file')).toBe('new/deep/file')
    expect(await seen(box)).toBe(last)
    // A later host knows of it too.
    await box.sandbox.detach()
    const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
    expect(await seen(again)).toBe(last)
    expect(await again.read('edited', base)).toBe('edited as it was\n')
  })

  test('a process that holds the workspace: refused, with nothing changed', async () => {
    const { box, points } = await begun()
    const holder = await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
    await expect.poll(async () => (await box.sandbox.processes()).length).toBe(1)
    expect(await box.sandbox.keepHostEntries(bytes('edited'))).toBe(false)
    expect(await box.say('cat edited')).toBe('edited as it was')
    await holder.kill('cancelled')
    expect(await box.sandbox.keepHostEntries(bytes('edited'))).toBe(true)
    expect(await box.read('edited', points[0])).toBe('edited as it was\n')
  })

  test('paths that are none, or lead out, are refused', async () => {
    const { box } = await begun()
    for (const path of ['', '/etc/passwd', '..', 'folder/../..', './edited', 'folder//other'])
      await expect(box.sandbox.keepHostEntries(bytes(path))).rejects.toBeInstanceOf(InvalidPathError)
  })

  test('a copied base needs none', async () => {
    const world = await World.make(localSource)
    world.host('edited', 'as it was')
    const box = await world.sandbox({ base: 'copy' })
    expect(await box.sandbox.keepHostEntries(bytes('edited'))).toBe(true)
    world.host('edited', 'since')
    expect(await box.say('cat edited')).toBe('as it was')
  })

  for (const point of preImageCrashPoints) {
    test(`host killed at ${point}`, async () => {
      const { world, box, points } = await begun()
      const before = await views(box, points)
      await box.sandbox.detach()
      const script = `
        const { createLocalProvider } = await import(${JSON.stringify(localSource.module)})
        const sandbox = await createLocalProvider({ home: ${JSON.stringify(world.home)} }).attach(${JSON.stringify(box.sandbox.id)})
        await sandbox.keepHostEntries(${JSON.stringify(CHANGED)}.map((path) => Buffer.from(path)))`
      const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, REWIND_CRASH_AT: point },
        encoding: 'utf8',
      })
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
      const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
      expect(await seen(again)).toBe(before[2])
      expect(await again.sandbox.keepHostEntries(bytes(...CHANGED))).toBe(true)
      change(world)
      expect(await views(again, points)).toEqual(before)
    })
  }
})
