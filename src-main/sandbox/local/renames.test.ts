/** Folders of earlier points, renamed: the points before keep them, the points after hold them whole. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { type Box, World } from '../conformance/world.ts'
import { Overlay } from '../layers/overlay-for-tests.ts'
import { localSource } from './for-tests.ts'
import { mayHoldRenames } from './renames.ts'
import { viewOf } from './view-for-tests.ts'

const asRoot = process.getuid?.() === 0

const listing = (box: Box): Promise<string> =>
  box.say('find . -type f | sort | while read -r f; do echo "$f $(cat "$f")"; done')

async function start(
  base: 'copy' | 'live' = 'copy',
): Promise<{ world: World; box: Box; rename: (from: string, to: string) => void }> {
  const world = await World.make(localSource)
  for (const folder of ['one', 'two', 'two/inner', 'three']) {
    for (const file of ['a', 'b']) world.host(`${folder}/${file}`, `${folder} ${file}`)
  }
  const box = await world.sandbox({ base })
  const rename = (from: string, to: string): void => {
    const view = viewOf(join(world.home, 'sandboxes', box.sandbox.id), world.workspace)
    fs.renameSync(join(view, from), join(view, to))
  }
  return { world, box, rename }
}

if (asRoot) {
  suiteNeeding(['local'], 'folders renamed in a sandbox', () => {
    const steps: [string, (box: Box, rename: (from: string, to: string) => void) => Promise<unknown>][] = [
      ['once', async (_, rename) => rename('one', 'uno')],
      [
        'twice, edited in between',
        async (box, rename) => {
          rename('uno', 'ein')
          await box.say('echo more >>ein/a; rm ein/b')
          rename('ein', 'un')
        },
      ],
      [
        'into each other',
        async (_, rename) => {
          rename('three', 'two/three')
          rename('two', 'un/two')
        },
      ],
      [
        'there and back',
        async (_, rename) => {
          rename('un', 'x')
          rename('x', 'un')
        },
      ],
      [
        'changed for each other',
        async (box, rename) => {
          await box.say('mkdir left right; echo l >left/f; echo r >right/g')
          await box.point()
          rename('left', 'between')
          rename('right', 'left')
          rename('between', 'right')
        },
      ],
      [
        'away, and made anew',
        async (box, rename) => {
          rename('un/two', 'two')
          await box.say('mkdir un/two; echo anew >un/two/c')
        },
      ],
      [
        'over one that was removed',
        async (box, rename) => {
          await box.say('rm -r left')
          rename('two', 'left')
        },
      ],
    ]
    test('every way, one after another, and back through all of them', async () => {
      const { box, rename } = await start()
      const points = [{ state: await box.point(), tree: await listing(box) }]
      for (const [what, act] of steps) {
        await act(box, rename)
        const tree = await listing(box)
        points.push({ state: await box.point(), tree })
        expect(await listing(box), what).toBe(tree)
      }
      for (const { state, tree } of [...points.slice().reverse(), ...points]) {
        await box.back(state)
        expect(await listing(box)).toBe(tree)
      }
    })

    test('over a live base: what the host renames or removes later does not empty a renamed folder', async () => {
      const { world, box, rename } = await start('live')
      rename('two', 'renamed')
      const point = await box.point()
      fs.rmSync(join(world.workspace, 'two/a'))
      fs.renameSync(join(world.workspace, 'two'), join(world.workspace, 'elsewhere'))
      expect(await box.read('renamed/inner/b')).toBe('two/inner b')
      await box.back(box.sandbox.facts.baseState)
      await box.back(point)
      expect(await box.read('renamed/a')).toBe('two a')
      expect(await box.say('stat -c %u renamed renamed/a renamed/inner')).toBe('1000\n1000\n1000')
    })

    test('beside a folder whose path is as long as paths can be', async () => {
      const { box, rename } = await start()
      await box.say(
        'i=0; while [ $i -lt 15 ]; do n=$(printf "%0250d" 0); mkdir $n; cd $n; i=$((i+1)); done; echo >deep',
      )
      rename('two', 'renamed')
      const tree = await box.say('find . | sort')
      const point = await box.point()
      await box.back(box.sandbox.facts.baseState)
      await box.back(point)
      expect(await box.say('find . | sort')).toBe(tree)
    })

    test('under a process that holds the workspace', async () => {
      const { box, rename } = await start()
      const first = await box.point()
      const holder = await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
      rename('two', 'renamed')
      await box.say('until [ -e held ]; do :; done; echo new >renamed/new')
      const tree = await listing(box)
      const under = await box.point()
      rename('renamed', 'again')
      await box.say('rm -r again/inner')
      const later = await listing(box)
      const second = await box.point()
      await holder.kill('cancelled')
      for (const [state, expected] of [
        [under, tree],
        [second, later],
      ] as const) {
        await box.back(first)
        await box.back(state)
        expect(await listing(box)).toBe(expected)
      }
    })

    test('under a process, moved between two points: what did not change meanwhile is in the second one too', async () => {
      const { box, rename } = await start()
      await box.sandbox.exec({ id: 'holder', command: 'exec sleep 300 >held' })
      await box.say('until [ -e held ]; do :; done; echo old >two/inner/old; mkdir three/inner')
      await box.point()
      rename('two', 'three/inner/moved')
      await box.say('echo new >three/inner/moved/new')
      const tree = await listing(box)
      const second = await box.point()
      await box.back(box.sandbox.facts.baseState)
      await box.back(second)
      expect(await listing(box)).toBe(tree)
    })
  })

  let overlay: Overlay | null = null
  afterEach(async () => {
    await overlay?.remove()
    overlay = null
  })

  suiteNeeding(['local'], 'whether folders may have been renamed', () => {
    const looked: [string, boolean, (at: (path: string) => string) => void][] = [
      ['nothing', false, () => {}],
      [
        'files edited and made, deep below',
        false,
        (at) => {
          fs.appendFileSync(at('one/deep/a'), 'more')
          fs.writeFileSync(at('one/deep/new'), '')
        },
      ],
      [
        'a file removed, renamed, replaced',
        false,
        (at) => {
          fs.rmSync(at('two/a'))
          fs.renameSync(at('two/b'), at('two/c'))
          fs.writeFileSync(at('two/b'), 'again')
        },
      ],
      [
        'folders made, renamed, filled',
        false,
        (at) => {
          fs.mkdirSync(at('new/inner'), { recursive: true })
          fs.renameSync(at('new'), at('newer'))
          fs.writeFileSync(at('newer/inner/f'), '')
        },
      ],
      ['a mode changed', false, (at) => fs.chmodSync(at('one'), 0o700)],
      ['a folder renamed', true, (at) => fs.renameSync(at('one'), at('uno'))],
      ['a folder below renamed', true, (at) => fs.renameSync(at('one/deep'), at('one/deeper'))],
      [
        'renamed, a file in its place',
        true,
        (at) => {
          fs.renameSync(at('one'), at('uno'))
          fs.writeFileSync(at('one'), '')
        },
      ],
      [
        'renamed, a folder in its place',
        true,
        (at) => {
          fs.renameSync(at('one/deep'), at('uno'))
          fs.mkdirSync(at('one/deep'))
        },
      ],
      [
        'changed for each other',
        true,
        (at) => {
          fs.renameSync(at('one'), at('x'))
          fs.renameSync(at('two'), at('one'))
          fs.renameSync(at('x'), at('two'))
        },
      ],
      [
        'put into a new one, over which the way is lost',
        true,
        (at) => {
          fs.mkdirSync(at('new'))
          fs.renameSync(at('one/deep'), at('new/deep'))
          fs.rmSync(at('one'), { recursive: true })
          fs.mkdirSync(at('one'))
        },
      ],
    ]
    test.each(looked)('%s: %s', async (_, expected, act) => {
      overlay = new Overlay('root')
      for (const folder of ['one/deep', 'two']) {
        fs.mkdirSync(join(overlay.base, folder), { recursive: true })
        for (const file of ['a', 'b']) fs.writeFileSync(join(overlay.base, folder, file), file)
      }
      const first = await overlay.mountWritable({ redirects: true })
      fs.writeFileSync(join(first.tree, 'one/older'), '')
      await overlay.freeze(first.upper, first.tree)
      const { upper, tree } = await overlay.mountWritable({ redirects: true })
      act((path) => join(tree, path))
      const lowers = overlay.frozen.map(({ path }) => path)
      expect(mayHoldRenames({ upper: upper.path, lowers, view: tree })).toBe(expected)
    })
  })
} else {
  suiteNeeding(['local'], 'folders renamed in a sandbox, as an ordinary user', () => {
    test('the kernel refuses, and mv copies', async () => {
      const { box, rename } = await start()
      expect(() => rename('two', 'renamed')).toThrow(/EXDEV/)
      await box.say('mv two renamed')
      await box.point()
      expect(await box.read('renamed/inner/a')).toBe('two/inner a')
    })
  })
}
