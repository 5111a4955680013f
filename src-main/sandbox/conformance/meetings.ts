/** What a commit asks of an engine: how changes meet the host's folder, and the files themselves. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileNotFoundError } from '../../contract/index.ts'
import type { Meeting } from '../sandbox.ts'
import { type ProviderSource, World } from './world.ts'

const bytes = (paths: readonly string[]) => paths.map((path) => Buffer.from(path))

/** Names that are taken apart if anything takes a list apart. */
const ODD = Buffer.from([0x6f, 0x0a, 0xff, 0x20, 0x64])

export function meetingBehaviours(source: ProviderSource): void {
  for (const base of ['copy', 'live'] as const) {
    test(`meetings:every-kind-over-a-${base === 'copy' ? 'copied' : 'live'}-base`, async () => {
      const world = await World.make(source)
      const at = (path: string) => join(world.workspace, path)
      for (const path of ['edited', 'theirs', 'alike', 'gone', 'gone there', 'mode', 'to folder', 'folder/in/it'])
        world.host(path, `${path} as it was\n`)
      symlinkSync('edited', at('link'))
      const box = await world.sandbox({ base })
      const { baseState } = box.sandbox.facts
      await box.say(
        'for f in edited theirs alike "gone there"; do echo mine >"$f"; done; rm gone "to folder"; mkdir "to folder"; ' +
          'echo new >"to folder/file"; chmod 4755 mode; ln -sfn mode link; mkdir -m 700 empty; mkfifo pipe; ' +
          'echo more >folder/in/it; touch edited/under 2>/dev/null; echo both >added',
      )
      const after = await box.point()
      await box.say('echo later >edited')
      world.host('theirs', 'of the host\n')
      world.host('alike', 'mine\n')
      world.host('added', 'both, but other\n')
      unlinkSync(at('gone there'))
      const paths = [
        'added',
        'alike',
        'edited',
        'edited/under',
        'empty',
        'folder/in/it',
        'gone',
        'gone there',
        'link',
        'mode',
        'pipe',
        'theirs',
        'to folder',
        'to folder/file',
      ]
      const found = await box.sandbox.meetings(baseState, after, bytes(paths))
      const by = (path: string): Meeting | undefined => found[paths.indexOf(path)]
      // What only the host changed shows through a live base, which cannot tell what was there before.
      const unchanged = base === 'live' ? 'shown' : 'same'
      const file = { kind: 'file', mode: 0o644, format: 0o100000, size: 5, target: null }
      expect(by('edited')).toEqual({ after: file, host: unchanged, arrived: false })
      expect(by('edited/under')).toEqual({ after: null, host: unchanged, arrived: true })
      expect(by('alike')).toMatchObject({ arrived: true })
      expect(by('theirs')).toMatchObject({ host: base === 'live' ? 'shown' : 'changed', arrived: false })
      expect(by('gone there')).toMatchObject({
        after: file,
        host: base === 'live' ? 'shown' : 'changed',
        arrived: false,
      })
      expect(by('gone')).toEqual({ after: null, host: unchanged, arrived: false })
      expect(by('mode')).toMatchObject({ after: { mode: 0o755 }, host: unchanged, arrived: false })
      expect(Buffer.from(by('link')?.after?.target ?? []).toString()).toBe('mode')
      expect(by('link')).toMatchObject({
        after: { kind: 'symlink', size: null, target: expect.anything() },
        host: unchanged,
        arrived: false,
      })
      expect(by('empty')).toMatchObject({ after: { kind: 'folder', mode: 0o700 }, host: unchanged, arrived: false })
      expect(by('pipe')).toMatchObject({ after: { kind: 'other', format: 0o010000 }, host: unchanged, arrived: false })
      expect(by('to folder')).toMatchObject({ after: { kind: 'folder' }, host: unchanged, arrived: false })
      expect(by('to folder/file')).toMatchObject({ after: { kind: 'file' }, host: unchanged, arrived: false })
      expect(by('folder/in/it')).toMatchObject({ host: unchanged, arrived: false })
      expect(by('added')).toMatchObject({ host: base === 'live' ? 'shown' : 'changed', arrived: false })

      // From the later point on, the layers say what was there.
      const [since] = await box.sandbox.meetings(after, 'now', bytes(['edited']))
      expect(since).toMatchObject({ after: { size: 6 }, host: 'changed', arrived: false })
      world.host('edited', 'mine\n')
      chmodSync(at('edited'), 0o644)
      const [again] = await box.sandbox.meetings(after, 'now', bytes(['edited']))
      expect(again).toMatchObject({ host: 'same', arrived: false })
    })
  }

  test('extract:bytes-exactly-by-number', async () => {
    const world = await World.make(source)
    world.host('of the host', 'as it was\n')
    const box = await world.sandbox()
    const large = 9 << 20
    await box.say(
      `mkdir deep; seq 1 200000 | head -c 1000000 >deep/some; head -c ${large} /dev/zero | tr '\\0' x >large; : >empty; ` +
        `printf odd >"$(printf 'o\\n\\377 d')"`,
    )
    const point = await box.point()
    await box.say('rm large; echo changed >deep/some')
    const folder = mkdtempSync(join(world.folder, 'out-'))
    const paths = [
      Buffer.from('empty'),
      Buffer.from('large'),
      ODD,
      Buffer.from('deep/some'),
      Buffer.from('of the host'),
    ]
    await box.sandbox.extract(point, paths, folder)
    expect(readdirSync(folder).sort()).toEqual(['0', '1', '2', '3', '4'])
    const read = (index: number) => readFileSync(join(folder, String(index)))
    expect(read(0)).toHaveLength(0)
    expect(read(1).equals(Buffer.alloc(large, 'x'))).toBe(true)
    expect(read(2).toString()).toBe('odd')
    expect(read(3)).toHaveLength(1_000_000)
    expect(read(4).toString()).toBe('as it was\n')
    rmSync(folder, { recursive: true })

    mkdirSync(folder)
    await box.sandbox.extract('now', [Buffer.from('deep/some')], folder)
    expect(read(0).toString()).toBe('changed\n')

    const bounded = mkdtempSync(join(world.folder, 'bounded-'))
    const two = [Buffer.from('deep/some'), Buffer.from('of the host')]
    expect(await box.sandbox.extract('now', two, bounded, 12)).toBe(false)
    expect(readdirSync(bounded)).toEqual(['0'])
    await expect(box.sandbox.extract('now', [Buffer.from('large')], `${folder}`)).rejects.toBeInstanceOf(
      FileNotFoundError,
    )
  })

  test('extract:no-symlink-and-no-pipe-is-followed', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.say('ln -s /etc out; ln -s /etc/passwd secret; mkfifo pipe; mkdir folder')
    const point = await box.point()
    const folder = mkdtempSync(join(world.folder, 'out-'))
    for (const path of ['secret', 'out/passwd', 'pipe', 'folder'])
      for (const state of [point, 'now'] as const)
        await expect(box.sandbox.extract(state, bytes([path]), folder)).rejects.toBeInstanceOf(FileNotFoundError)
    expect(readdirSync(folder)).toEqual([])
  })
}
