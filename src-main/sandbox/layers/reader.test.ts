/** What reading costs, and that it copes with layers that change meanwhile, are very deep, or hold very large files. */
import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { bruteForce, treeOf } from './brute-force.ts'
import { createLayerReader, type LayerFolder, layerBytes } from './index.ts'
import { type MarkTool, tarTool } from './mark-tools.ts'
import { modesHere, Overlay } from './overlay-for-tests.ts'

let overlay: Overlay

function fill(folder: string, files: number): void {
  for (let at = 0; at < files; at++) {
    const sub = join(folder, `d${at % 50}`)
    if (at < 50) fs.mkdirSync(sub)
    fs.writeFileSync(join(sub, `f${at}`), `file ${at}`)
  }
}

/** Three edits each in ten folders: 30 changes. */
function edit(tree: string): void {
  for (let at = 0; at < 10; at++) {
    fs.writeFileSync(join(tree, `d${at}/f${at}`), 'changed')
    fs.unlinkSync(join(tree, `d${at}/f${50 + at}`))
    fs.writeFileSync(join(tree, `d${at}/new`), 'new')
  }
}

for (const mode of modesHere) {
  suiteNeeding(['local'], `cost and robustness of reading, as ${mode}`, () => {
    beforeEach(() => {
      overlay = new Overlay(mode)
    })
    afterEach(() => overlay.remove())

    test('the cost follows the changes, not the size of the workspace or of older layers', async () => {
      const costs: number[] = []
      for (const files of [200, 2000]) {
        await overlay.remove()
        overlay = new Overlay(mode)
        fill(overlay.base, files)
        const first = await overlay.mountWritable()
        fs.mkdirSync(join(first.tree, 'older'))
        fill(join(first.tree, 'older'), files)
        await overlay.freeze(first.upper, first.tree)
        const { upper, tree } = await overlay.mountWritable()
        edit(tree)
        const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
        const to = [upper, ...overlay.frozen]
        // The first look learns the marks of the frozen layers; they are kept.
        await reader.changes(overlay.frozen, to)
        const before = reader.effort.entries
        expect(await reader.changes(overlay.frozen, to)).toHaveLength(30)
        costs.push(reader.effort.entries - before)
      }
      expect(costs[1]).toBe(costs[0])
      expect(costs[0]).toBeLessThan(30 * 15)
    })

    test('what stands is asked again without a program, until something is noted on a folder', async () => {
      fs.mkdirSync(join(overlay.base, 'dir/inner'), { recursive: true })
      fs.writeFileSync(join(overlay.base, 'dir/old'), '')
      const { upper, tree } = await overlay.mountWritable()
      fs.writeFileSync(join(tree, 'dir/inner/new'), '')
      let asked: number | null = null
      const counting: MarkTool = {
        ...tarTool,
        read: (from, folders, names) => {
          if (asked !== null) asked += folders.length
          return tarTool.read(from, folders, names)
        },
      }
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr, tools: [counting] })
      const paths = async () =>
        (await reader.changes(overlay.frozen, [upper, ...overlay.frozen])).map(({ path }) => path)
      // What changed only just now is asked about again.
      await sleep(50)
      expect(await paths()).toEqual(['dir/inner/new'])
      asked = 0
      expect(await paths()).toEqual(['dir/inner/new'])
      expect(asked).toBe(0)

      fs.rmSync(join(tree, 'dir'), { recursive: true })
      fs.mkdirSync(join(tree, 'dir'))
      expect(await paths()).toEqual(['dir/inner', 'dir/old'])
      expect(asked).toBe(1)
    })

    test('a frozen layer that was changed is read anew once the reader was told', async () => {
      fs.mkdirSync(join(overlay.base, 'dir'))
      fs.writeFileSync(join(overlay.base, 'dir/old'), '')
      const first = await overlay.mountWritable()
      fs.writeFileSync(join(first.tree, 'dir/new'), '')
      await overlay.freeze(first.upper, first.tree)
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const bottom = overlay.frozen.slice(1)
      expect((await reader.changes(bottom, overlay.frozen)).map(({ path }) => path)).toEqual(['dir/new'])

      // As folding would: the folder becomes opaque.
      const template = await overlay.mountWritable()
      fs.rmSync(join(template.tree, 'dir'), { recursive: true })
      fs.mkdirSync(join(template.tree, 'dir'))
      await overlay.unmount(template.tree)
      execFileSync('cp', ['-aT', join(template.upper.path, 'dir'), join(first.upper.path, 'dir')])
      reader.forget(first.upper.path)
      const paths = (await reader.changes(bottom, overlay.frozen)).map(({ path }) => path)
      expect(paths).toEqual(['dir/new', 'dir/old'])
    })

    test('a live layer may change while it is read', async () => {
      fill(overlay.base, 300)
      const { upper, tree } = await overlay.mountWritable()
      const churn = `
        const fs = require('node:fs'); process.chdir(${JSON.stringify(tree)})
        for (let i = 0; ; i++) { const d = 'd' + i % 50, t = 't' + i % 7
          fs.rmSync(d, { recursive: true, force: true }); fs.mkdirSync(d); fs.writeFileSync(d + '/f' + i % 300, String(i))
          fs.rmSync(t, { recursive: true, force: true })
          if (i % 3 === 0) fs.mkdirSync(t + '/a/b', { recursive: true }); else if (i % 3 === 1) fs.writeFileSync(t, ''); else fs.symlinkSync('/', t) }`
      const child = spawn(process.execPath, ['-e', churn], { stdio: ['ignore', 'inherit', 'inherit'] })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const to = [upper, ...overlay.frozen]
      const lengths = new Set<number>()
      try {
        // On a loaded machine it takes its time until something changes.
        const began = Date.now()
        const within = (ms: number) => Date.now() - began < ms
        while (within(2_000) || (lengths.size <= 2 && within(30_000))) {
          const changes = await reader.changes(overlay.frozen, to)
          lengths.add(changes.length)
          for (const { path } of changes.slice(0, 20))
            await reader.pair(Buffer.from(path), overlay.frozen, to, 1e6).catch(onlyGone)
          await layerBytes(upper.path)
        }
        expect(child.exitCode).toBeNull()
      } finally {
        child.kill('SIGKILL')
        await ended
      }
      expect(lengths.size, 'nothing changed meanwhile: no control').toBeGreaterThan(2)
      expect(await reader.changes(overlay.frozen, to)).toEqual(bruteForce(treeOf(overlay.base), treeOf(tree)))
    })

    test('a tree that is deeper than a path may be long', async () => {
      const name = 'n'.repeat(250)
      const make = `for (let i = 0; i < 40; i++) { fs.mkdirSync('${name}'); process.chdir('${name}'); fs.writeFileSync('f', '') }`
      const { upper, tree } = await overlay.mountWritable()
      execFileSync(process.execPath, ['-e', make], { cwd: tree })
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const stacks: LayerFolder[][] = [[upper, ...overlay.frozen]]
      await overlay.freeze(upper, tree)
      stacks.push(overlay.frozen)
      const bottom = overlay.frozen.slice(1)
      for (const stack of stacks) {
        const changes = await reader.changes(bottom, stack)
        expect(changes).toHaveLength(80)
        expect(changes.at(-1)?.path.length).toBeGreaterThan(10_000)
      }
      const next = await overlay.mountWritable()
      const replace = `process.chdir('${name}/${name}'); cp.execFileSync('rm', ['-r', '${name}']); fs.mkdirSync('${name}')`
      execFileSync(process.execPath, ['-e', `const cp = require('node:child_process'); ${replace}`], { cwd: next.tree })
      const changes = await reader.changes(overlay.frozen, [next.upper, ...overlay.frozen])
      expect(changes.filter(({ status }) => status === 'deleted')).toHaveLength(75)
      expect((await layerBytes(upper.path)).bytes).toBe(du(upper.path))
      execFileSync('rm', ['-rf', join(next.tree, name)])
    })

    test('large files are compared in little memory', async () => {
      const size = 600 * 1024 * 1024
      const sparse = (path: string, last: string) => {
        const fd = fs.openSync(path, 'w')
        fs.writeSync(fd, last, size - 1)
        fs.closeSync(fd)
      }
      sparse(join(overlay.base, 'same'), 'a')
      sparse(join(overlay.base, 'differs'), 'a')
      const { upper, tree } = await overlay.mountWritable()
      for (const name of ['same', 'differs']) fs.unlinkSync(join(tree, name))
      sparse(join(tree, 'same'), 'a')
      sparse(join(tree, 'differs'), 'b')
      const reader = createLayerReader({ opaqueXattr: overlay.opaqueXattr })
      const held = process.memoryUsage().rss
      const changes = await reader.changes(overlay.frozen, [upper, ...overlay.frozen])
      expect(changes).toMatchObject([{ path: 'differs', status: 'modified', before: size, after: size }])
      expect(process.memoryUsage().rss - held).toBeLessThan(100 * 1024 * 1024)
    })
  })
}

suiteNeeding(['local'], 'layerBytes', () => {
  test('is what du says: blocks, links once, holes not', async () => {
    overlay = new Overlay(modesHere[0] ?? 'user')
    fill(overlay.base, 100)
    fs.linkSync(join(overlay.base, 'd1/f1'), join(overlay.base, 'd2/again'))
    fs.truncateSync(join(overlay.base, 'd1/f1'), 50_000_000)
    fs.writeFileSync(join(overlay.base, 'large'), Buffer.alloc(300_000, 1))
    expect((await layerBytes(overlay.base)).bytes).toBe(du(overlay.base))
    expect((await layerBytes(join(overlay.folder, 'none'))).bytes).toBe(0)
    await overlay.remove()
  })
})

function du(path: string): number {
  return Number.parseInt(execFileSync('du', ['-s', '--block-size=1', path], { encoding: 'utf8' }), 10)
}

function onlyGone(error: unknown): void {
  if ((error as { code?: string }).code !== 'FILE_NOT_FOUND') throw error
}
