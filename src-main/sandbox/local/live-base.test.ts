/** A sandbox whose lowest layer is the host's folder itself, and what the host does to that folder meanwhile. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { EngineUnavailableError } from '../../contract/index.ts'
import { type Box, World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

async function live(): Promise<{ world: World; box: Box }> {
  const world = await World.make(localSource)
  world.host('host-file', 'as it was')
  world.host('dir/other', 'other')
  return { world, box: await world.sandbox({ base: 'live' }) }
}
const paths = (changes: { path: string; status: string }[]) => changes.map(({ path, status }) => `${status} ${path}`)

suiteNeeding(['local'], 'a live base', () => {
  for (const what of ['moved', 'removed', 'replaced'] as const) {
    test(`the host's folder is ${what}: the sandbox goes on with the one it had`, async () => {
      const { world, box } = await live()
      const base = box.sandbox.facts.baseState
      await box.write('made', 'inside')
      const first = await box.point()
      const away = join(world.folder, 'away')
      if (what === 'removed') rmSync(world.workspace, { recursive: true })
      else renameSync(world.workspace, away)
      if (what === 'replaced') {
        mkdirSync(world.workspace)
        world.own(world.workspace)
        writeFileSync(join(world.workspace, 'of another project'), '')
      }

      const seen = what === 'removed' ? ['made'] : ['dir', 'host-file', 'made']
      // A folder that was removed lists nothing until the next point lays an empty one beneath.
      if (what !== 'removed') expect((await box.say('ls')).split('\n')).toEqual(seen)
      expect(await box.read('made')).toBe('inside')
      await box.write('later', 'too')
      const second = await box.point()
      expect((await box.say('ls')).split('\n')).toEqual([...seen.slice(0, -1), 'later', 'made'].sort())
      expect(paths(await box.sandbox.changes(base, 'now'))).toEqual(['added later', 'added made'])
      expect(paths(await box.sandbox.changes(first, second))).toEqual(['added later'])
      await box.back(first)
      expect((await box.say('ls')).split('\n')).toEqual(seen)
      if (what !== 'removed') expect(await box.read('host-file', base)).toBe('as it was')

      // A later host enters the same namespaces, where the folder still is.
      await box.sandbox.detach()
      const again = world.box(await (await world.newProvider()).attach(box.sandbox.id))
      expect((await again.say('ls')).split('\n')).toEqual(seen)
      expect(paths(await again.sandbox.changes(base, 'now'))).toEqual(['added made'])

      // Once nothing holds it any more it is not taken for what it was.
      await again.sandbox.end()
      const ended = await (await world.newProvider()).open(box.sandbox.id)
      await expect(ended.changes(base, first)).rejects.toBeInstanceOf(EngineUnavailableError)
      if (what === 'removed') return
      rmSync(world.workspace, { recursive: true, force: true })
      renameSync(away, world.workspace)
      expect(paths(await ended.changes(base, first))).toEqual(['added made'])
    })
  }

  test('edits on the host show where the sandbox has not changed the file itself, at earlier points too', async () => {
    const { world, box } = await live()
    await box.write('dir/other', 'of the sandbox')
    const point = await box.point()
    world.host('host-file', 'edited on the host')
    world.host('dir/other', 'edited on the host')
    expect(await box.read('host-file')).toBe('edited on the host')
    expect(await box.read('host-file', point)).toBe('edited on the host')
    expect(await box.read('dir/other')).toBe('of the sandbox')
    expect(await box.read('dir/other', point)).toBe('of the sandbox')
  })
})
