/** Workspaces that are not simple folders: on a share, with mounts in them, with a file of gigabytes. */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { InvalidOptionError } from '../../contract/index.ts'
import { World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

const isRoot = process.getuid?.() === 0
const hasBindfs = existsSync('/dev/fuse') && spawnSync('bindfs', ['--version']).status === 0
const paths = (changes: { path: string; status: string }[]) => changes.map(({ path, status }) => `${status} ${path}`)

/** A file of 5 GB that takes no room. */
function hugeFile(world: World): void {
  world.host('huge', '')
  const fd = openSync(join(world.workspace, 'huge'), 'r+')
  ftruncateSync(fd, 5e9)
  closeSync(fd)
}

suiteNeeding(['local'], 'workspaces of all kinds', () => {
  test.runIf(isRoot && hasBindfs)('a share is copied, which is said; a live base on it is refused', async () => {
    const world = await World.make(localSource)
    world.host('file', 'on the share')
    const share = join(world.folder, 'share')
    mkdirSync(share)
    execFileSync('bindfs', ['--no-allow-other', world.workspace, share])
    onTestFinished(() => void execFileSync('umount', [share]))
    await expect(world.sandbox({ workspace: share, base: 'live' })).rejects.toBeInstanceOf(InvalidOptionError)
    const box = await world.sandbox({ workspace: share })
    expect(box.sandbox.facts).toMatchObject({ base: 'copy', notes: [expect.stringContaining('FUSE')] })
    await box.write('file', 'of the sandbox')
    const point = await box.point()
    expect(paths(await box.sandbox.changes(box.sandbox.facts.baseState, point))).toEqual(['modified file'])
    expect(world.hostText('file')).toBe('on the share')
    await box.sandbox.destroy()
  })

  test.runIf(isRoot)(
    'what is mounted in the workspace is named at the start, and what lies beneath it shows',
    async () => {
      const world = await World.make(localSource)
      world.host('mounted/beneath', 'beneath')
      const at = join(world.workspace, 'mounted')
      execFileSync('mount', ['-t', 'tmpfs', 'rewind-test', at])
      onTestFinished(() => void execFileSync('umount', [at]))
      writeFileSync(join(at, 'above'), '')
      for (const base of ['copy', 'live'] as const) {
        const box = await world.sandbox({ base })
        expect(box.sandbox.facts.notes).toContainEqual(`What is mounted at ${at} does not show in the sandbox.`)
        expect(await box.say('ls mounted')).toBe(base === 'live' ? 'beneath' : '')
        await box.sandbox.destroy()
      }
    },
  )

  for (const base of ['auto', 'copy'] as const) {
    test(`a file of 5 GB, base ${base}: it takes no room of its own, and is refused where it would not fit`, async () => {
      const world = await World.make(localSource)
      hugeFile(world)
      const box = await world.sandbox({ base })
      // Where the file system copies without copying, auto does.
      if (base === 'copy') expect(box.sandbox.facts.base).toBe('copy')
      expect(await box.say('stat -c %s huge')).toBe('5000000000')
      await box.say('echo x >small; chmod 600 small')
      const point = await box.point()
      expect(paths(await box.sandbox.changes(box.sandbox.facts.baseState, point))).toEqual(['added small'])
      const pair = await box.sandbox.pair(Buffer.from('huge'), box.sandbox.facts.baseState, point, 1 << 20)
      expect(pair).toEqual({ kind: 'large', before: 5e9, after: 5e9 })
      await expect(box.sandbox.readFile('huge')).rejects.toBeInstanceOf(InvalidOptionError)
      await expect(box.sandbox.readFile('huge', point)).rejects.toBeInstanceOf(InvalidOptionError)
      expect(await box.sandbox.usage()).toBeLessThan(10e6)
      expect(statSync(join(world.workspace, 'huge')).size).toBe(5e9)
    })
  }
})
