/** The marks as the kernel set them, read by each tool, and what happens where a tool cannot see them. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { EngineUnavailableError } from '../../contract/index.ts'
import { createLayerReader, type LayerFolder } from './index.ts'
import { chooseMarkTool, getfattrTool, type MarkTool, pythonTool, tarTool } from './mark-tools.ts'
import { toByteString } from './names.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'

const installed = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

const NAMES = ['plain', 'new\nline', 'back\\nslash', '-dash', 'qu\'o"te', '$(x) *', 'ünï', ' lead', 'x'.repeat(200)]

let overlay: Overlay
let upper: LayerFolder
const path = process.env.PATH

for (const mode of modesHere) {
  suiteNeeding(['local'], `marks on folders, as ${mode}`, () => {
    beforeEach(async () => {
      overlay = new Overlay(mode)
      for (const name of NAMES) {
        fs.mkdirSync(join(overlay.base, name))
        fs.mkdirSync(join(overlay.base, `${name}-merged`))
      }
      const mounted = await overlay.mountWritable({ redirects: true })
      upper = mounted.upper
      for (const name of NAMES) {
        fs.rmdirSync(join(mounted.tree, name))
        fs.mkdirSync(join(mounted.tree, name))
        fs.writeFileSync(join(mounted.tree, `${name}-merged`, 'file'), '')
      }
    })
    afterEach(async () => {
      process.env.PATH = path
      await overlay.remove()
    })

    const readAll = (tool: MarkTool) => {
      const folders = NAMES.flatMap((name) => [name, `${name}-merged`, `${name}-none`]).map(toByteString)
      const redirect = overlay.opaqueXattr.replace('opaque', 'redirect')
      return tool.read(upper.path, folders, { opaque: overlay.opaqueXattr, redirect })
    }
    const expected = NAMES.flatMap(() => [
      { opaque: true, redirect: null },
      { opaque: false, redirect: null },
      undefined,
    ])

    for (const tool of [tarTool, pythonTool, getfattrTool]) {
      test.runIf(installed(tool.name))(`${tool.name} reads them, for names of all sorts`, async () => {
        expect(await readAll(tool)).toEqual(expected)
        expect(await chooseMarkTool([tool], overlay.folder, overlay.opaqueXattr)).toBe(tool)
        expect(fs.readdirSync(overlay.folder).filter((name) => name.startsWith('.'))).toEqual([])
      })
    }

    for (const tool of [tarTool, pythonTool, getfattrTool]) {
      test.runIf(installed(tool.name))(`${tool.name} sets them, for names of all sorts and lengths`, async () => {
        const long = `${'n'.repeat(200)}/${'m'.repeat(200)}`
        fs.mkdirSync(join(upper.path, long), { recursive: true })
        fs.chmodSync(join(upper.path, long), 0o1750)
        const names = { opaque: overlay.opaqueXattr, redirect: 'user.none' }
        const folders = [...NAMES.map((name) => toByteString(`${name}-merged`)), long]
        await tool.set(upper.path, folders, overlay.opaqueXattr)
        const marked = folders.map(() => ({ opaque: true, redirect: null }))
        expect(await tool.read(upper.path, folders, names)).toEqual(marked)
        expect(fs.statSync(join(upper.path, long)).mode & 0o7777).toBe(0o1750)
        expect(await tool.read(upper.path, ['n'.repeat(200)], names)).toEqual([{ opaque: false, redirect: null }])
      })
    }

    test('a file or a symlink in the place of a folder is a folder that went away', async () => {
      fs.rmdirSync(join(upper.path, 'plain'))
      fs.symlinkSync('ünï', join(upper.path, 'plain-none'))
      fs.writeFileSync(join(upper.path, 'plain'), 'x'.repeat(100_000))
      const names = { opaque: overlay.opaqueXattr, redirect: 'user.none' }
      const [file, , folder] = await tarTool.read(upper.path, ['plain', 'plain-none', '-dash'], names)
      expect(file).toBeUndefined()
      expect(folder).toEqual({ opaque: true, redirect: null })
    })

    /** Puts a program in the place of another on PATH, which keeps only what is listed. */
    const usePrograms = (programs: Record<string, string>) => {
      const bin = join(overlay.folder, 'bin')
      fs.mkdirSync(bin)
      for (const [name, script] of Object.entries(programs)) fs.writeFileSync(join(bin, name), script, { mode: 0o755 })
      process.env.PATH = bin
    }
    // Does all that is asked and says nothing, but leaves the attributes out.
    const blindTar = `#!/bin/sh
for arg; do shift; case $arg in --xattrs*) ;; *) set -- "$@" "$arg" ;; esac; done
exec /bin/tar "$@"\n`

    test('a tar that leaves attributes out in silence is found out, and the next tool is used', async () => {
      usePrograms({ tar: blindTar })
      const chosen = await chooseMarkTool(
        [tarTool, { ...pythonTool, set: async () => {}, read: async () => expected.slice(0, 2) }],
        overlay.folder,
        overlay.opaqueXattr,
      )
      expect(chosen.name).toBe('python3')
    })

    test('where no tool works the reader says so, with the remedy, and tries again later', async () => {
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const stacks = [overlay.frozen, [upper, ...overlay.frozen]] as const
      usePrograms({ tar: blindTar })
      const failure = await reader.changes(...stacks).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(EngineUnavailableError)
      expect(failure).toMatchObject({
        message: expect.stringContaining('tar: does not see a mark that was just set'),
        nextStep: expect.stringContaining('GNU tar'),
      })
      process.env.PATH = path
      expect((await reader.changes(...stacks)).length).toBeGreaterThan(0)
    })
  })
}
