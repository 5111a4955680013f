/** Both sides of a path, and file contents, through whiteouts, opaque folders and symlinks. */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { createLayerReader, type LayerFolder, type LayerReader } from './index.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'

const LIMIT = 1000
const INSIDE = '/inside/ws'

let overlay: Overlay
let reader: LayerReader
let before: readonly LayerFolder[]
let now: readonly LayerFolder[]
let tree = ''

for (const mode of modesHere) {
  suiteNeeding(['local'], `entries of a stack, as ${mode}`, () => {
    beforeEach(async () => {
      overlay = new Overlay(mode)
      reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const base = overlay.base
      fs.mkdirSync(join(base, 'dir'))
      fs.writeFileSync(join(base, 'dir/hidden'), 'hidden')
      fs.writeFileSync(join(base, 'gone'), 'gone\r\n')
      fs.writeFileSync(join(base, 'text'), '\ufeffold')
      fs.writeFileSync(join(base, 'binary'), Buffer.from([1, 0, 2]))
      fs.writeFileSync(join(base, 'latin1'), Buffer.from([0xe4]))
      fs.symlinkSync('text', join(base, 'link'))
      before = overlay.frozen
      const mounted = await overlay.mountWritable()
      tree = mounted.tree
      now = [mounted.upper, ...overlay.frozen]
    })
    afterEach(() => overlay.remove())

    const pair = (path: string, limit = LIMIT) => reader.pair(Buffer.from(path), before, now, limit)
    const read = async (path: string) =>
      Buffer.from(await reader.read(path, now, { workspaceInside: INSIDE })).toString('latin1')

    test('a pair is text only where both sides are', async () => {
      fs.writeFileSync(join(tree, 'text'), 'new')
      fs.writeFileSync(join(tree, 'latin1'), 'text now')
      fs.writeFileSync(join(tree, 'added'), '')
      fs.unlinkSync(join(tree, 'gone'))
      expect(await pair('text')).toEqual({ kind: 'text', before: '\ufeffold', after: 'new' })
      expect(await pair('gone')).toEqual({ kind: 'text', before: 'gone\r\n', after: null })
      expect(await pair('added')).toEqual({ kind: 'text', before: null, after: '' })
      expect(await pair('latin1')).toEqual({ kind: 'binary', before: 1, after: 8 })
      expect(await pair('binary')).toEqual({ kind: 'binary', before: 3, after: 3 })
      expect(await pair('dir')).toEqual({ kind: 'text', before: null, after: null })
      await expect(pair('none')).rejects.toThrow(FileNotFoundError)
      await expect(pair('dir/../text')).rejects.toThrow(FileNotFoundError)
    })

    test('a pair over the limit is large, exactly at it is not', async () => {
      fs.writeFileSync(join(tree, 'text'), 'x'.repeat(LIMIT))
      expect(await pair('text')).toMatchObject({ kind: 'text', after: 'x'.repeat(LIMIT) })
      fs.appendFileSync(join(tree, 'text'), 'x')
      expect(await pair('text')).toEqual({ kind: 'large', before: 6, after: LIMIT + 1 })
      expect(await pair('text', LIMIT + 1)).toMatchObject({ kind: 'text' })
    })

    test('a pair shows symlinks as such, never what they lead to', async () => {
      fs.unlinkSync(join(tree, 'link'))
      fs.symlinkSync('/etc/passwd', join(tree, 'link'))
      fs.unlinkSync(join(tree, 'text'))
      fs.symlinkSync(Buffer.from('bad\xff', 'latin1'), join(tree, 'text'))
      fs.symlinkSync('dir', join(tree, 'to-dir'))
      expect(await pair('link')).toEqual({ kind: 'symlink', before: 'text', after: '/etc/passwd' })
      expect(await pair('text')).toEqual({ kind: 'symlink', before: null, after: 'bad\\xFF' })
      await expect(pair('to-dir/hidden')).rejects.toThrow(FileNotFoundError)
    })

    test('what a whiteout or an opaque folder hides cannot be read, and still can be at the point before', async () => {
      fs.unlinkSync(join(tree, 'gone'))
      fs.rmSync(join(tree, 'dir'), { recursive: true })
      fs.mkdirSync(join(tree, 'dir'))
      fs.writeFileSync(join(tree, 'dir/new'), 'new')
      await expect(read('gone')).rejects.toThrow(FileNotFoundError)
      await expect(read('dir/hidden')).rejects.toThrow(FileNotFoundError)
      expect(await read('dir/new')).toBe('new')
      const old = await reader.read('dir/hidden', before, { workspaceInside: INSIDE })
      expect(Buffer.from(old).toString()).toBe('hidden')
    })

    test('reading follows symlinks while they stay in the workspace', async () => {
      fs.symlinkSync('dir', join(tree, 'to-dir'))
      fs.symlinkSync(`${INSIDE}/dir/hidden`, join(tree, 'absolute'))
      fs.symlinkSync('../to-dir/../gone', join(tree, 'dir/up'))
      expect(await read('link')).toBe('\xef\xbb\xbfold')
      expect(await read('to-dir/hidden')).toBe('hidden')
      expect(await read('absolute')).toBe('hidden')
      expect(await read('dir/up')).toBe('gone\r\n')
      expect(await read(`${INSIDE}/dir/hidden`)).toBe('hidden')
    })

    test('reading refuses what leads out, loops, or is no file', async () => {
      const secret = join(overlay.folder, 'secret')
      fs.writeFileSync(secret, 'secret')
      fs.symlinkSync(secret, join(tree, 'out'))
      fs.symlinkSync('../../secret', join(tree, 'out2'))
      fs.symlinkSync(overlay.folder, join(tree, 'out3'))
      fs.symlinkSync(`${INSIDE}/../../${secret}`, join(tree, 'out4'))
      fs.symlinkSync('loop', join(tree, 'loop'))
      execFileSync('mkfifo', [join(tree, 'fifo')])
      for (const path of ['out', 'out2', 'out3/secret', 'out4', 'loop', 'dir', 'fifo', 'text/x', '../secret', secret])
        await expect(read(path), path).rejects.toThrow(InvalidPathError)
      await expect(read('none')).rejects.toThrow(FileNotFoundError)
      expect(fs.readFileSync(join(tree, 'out'), 'utf8'), 'the control: by name it leads out').toBe('secret')
    })

    test('no descriptor stays open', async () => {
      fs.mkdirSync(join(tree, 'dir/a/b'), { recursive: true })
      fs.writeFileSync(join(tree, 'dir/a/b/c'), 'c')
      const open = () => fs.readdirSync('/proc/self/fd').length
      await read('dir/a/b/c')
      const count = open()
      await read('dir/a/b/c')
      await read('dir/a').catch(() => {})
      await pair('dir/a/b/c')
      await pair('dir/a/none').catch(() => {})
      await reader.changes(before, now)
      expect(open()).toBe(count)
    })
  })
}
