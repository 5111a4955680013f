/** Files read and written from the host: byte for byte, and never anywhere but in the workspace. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { type ProviderSource, World } from './world.ts'

const ODD_NAMES = [
  'plain.txt',
  'with space',
  'quote\'s "double" $HOME `x`',
  'new\nline',
  'col:on,comma;semi',
  'back\\slash',
  '-rf',
  '.wh.hidden',
  'ünïcode-漢字-🦀',
  '*?[x]',
]

export function fileBehaviours(source: ProviderSource): void {
  test('write:bytes-exactly-and-parents', async () => {
    const box = await (await World.make(source)).sandbox()
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256))
    const { workspace } = box.sandbox.facts
    expect(await box.sandbox.writeFile('a/b/c.bin', bytes)).toBe(`${workspace}/a/b/c.bin`)
    expect(Buffer.from(await box.sandbox.readFile(`${workspace}/a/b/c.bin`)).equals(bytes)).toBe(true)
    expect(await box.say('wc -c <a/b/c.bin')).toBe('100000')
    expect(await box.say('echo more >>a/b/c.bin; echo new >a/b/d; cat a/b/d')).toBe('new')
    await box.sandbox.writeFile('empty', new Uint8Array())
    expect((await box.sandbox.readFile('empty')).length).toBe(0)
  })

  test('write:odd-names', async () => {
    const box = await (await World.make(source)).sandbox()
    for (const name of ODD_NAMES) {
      await box.write(`${name}/${name}`, name)
      expect(await box.read(`${name}/${name}`)).toBe(name)
      expect(await box.say(['cat', '--', `./${name}/${name}`])).toBe(name)
    }
  })

  test('write:keeps-the-mode-and-leaves-no-part', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.say('echo old >script; chmod 750 script')
    await box.write('script', 'new')
    expect(await box.say('stat -c %a script; ls -A; id -u')).toBe(`750\nscript\n${await box.say('stat -c %u script')}`)
  })

  test('write:never-reaches-the-host', async () => {
    const world = await World.make(source)
    world.host('a.txt', 'host')
    const box = await world.sandbox()
    await box.write('a.txt', 'sandbox')
    await box.say('echo sandbox >b.txt')
    expect(world.hostText('a.txt')).toBe('host')
    expect(() => world.hostText('b.txt')).toThrow()
  })

  test('paths:outside-is-refused', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const { workspace } = box.sandbox.facts
    for (const path of ['', '.', './', '..', '../x', 'a/../../x', '/etc/passwd', workspace, `${workspace}/`, 'a\0b']) {
      await expect(box.sandbox.writeFile(path, Buffer.from('x'))).rejects.toBeInstanceOf(InvalidPathError)
      await expect(box.sandbox.readFile(path)).rejects.toBeInstanceOf(InvalidPathError)
    }
    await expect(box.sandbox.readFile('none')).rejects.toBeInstanceOf(FileNotFoundError)
    await expect(box.sandbox.readFile('none/none')).rejects.toBeInstanceOf(FileNotFoundError)
    await box.say('mkdir folder; mkfifo pipe')
    await expect(box.sandbox.readFile('folder')).rejects.toBeInstanceOf(InvalidPathError)
    await expect(box.sandbox.readFile('pipe')).rejects.toBeInstanceOf(InvalidPathError)
    await expect(box.sandbox.writeFile('folder', Buffer.from('x'))).rejects.toBeInstanceOf(InvalidPathError)
  })

  test('paths:symlinks-do-not-lead-out', async () => {
    const world = await World.make(source)
    const victim = join(world.folder, 'victim')
    mkdirSync(victim)
    writeFileSync(join(victim, 'file'), 'host')
    const box = await world.sandbox()
    await box.say(`ln -s ${victim}/file file; ln -s ${victim} folder; ln -s ../.. up; ln -s /etc etc; ln -s loop loop`)
    for (const path of ['file', 'folder/file', 'folder/new', 'up/x', 'etc/passwd', 'loop']) {
      await expect(box.sandbox.readFile(path)).rejects.toBeInstanceOf(InvalidPathError)
      await expect(box.sandbox.writeFile(path, Buffer.from('HACKED'))).rejects.toBeInstanceOf(InvalidPathError)
    }
    expect(readFileSync(join(victim, 'file'), 'utf8')).toBe('host')
  })

  test('paths:symlinks-inside-are-followed', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.say('mkdir real; echo x >real/file; ln -s real/file link; ln -s "$PWD/real" folder')
    expect(await box.read('link')).toBe('x\n')
    await box.write('link', 'y')
    await box.write('folder/other', 'z')
    expect(await box.say('readlink link; cat real/file real/other')).toBe('real/file\nyz')
  })

  test('workspace:odd-paths', async () => {
    const world = await World.make(source)
    for (const name of ['it\'s, a:b\\c "d" $x', 'new\nline', 'ünïcode 漢', '-dash #x']) {
      const workspace = join(world.folder, name)
      mkdirSync(workspace)
      world.own(workspace)
      writeFileSync(join(workspace, 'f'), 'base')
      world.own(join(workspace, 'f'))
      for (const base of ['live', 'copy'] as const) {
        const box = await world.sandbox({ workspace, base })
        expect(await box.say('cat f; printf x >g; printf "|%s" "$REWIND_WORKSPACE"')).toBe(
          `base|${box.sandbox.facts.workspace}`,
        )
        const point = await box.point()
        await box.write('g', 'changed')
        await box.back(point)
        expect(await box.read('g')).toBe('x')
        await box.sandbox.destroy()
      }
    }
  })
}
