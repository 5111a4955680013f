import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bruteForce, treeOf } from '../layers/brute-force.ts'
import { Editor, random } from '../layers/random-edits.ts'
import { HostFolders } from './host-folders.ts'
import type { HostCheck, HostReport } from './tracked-folder.ts'

let folder: string
let home: string
let workspace: string
let folders: HostFolders

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'rewind-host-'))
  home = join(folder, 'home')
  workspace = join(folder, 'project')
  fs.mkdirSync(home)
  fs.mkdirSync(workspace)
  folders = new HostFolders(home)
})
afterEach(async () => {
  await folders.release('s')
  fs.rmSync(folder, { recursive: true, force: true })
})

const put = (path: string, content = 'x') => {
  fs.mkdirSync(join(workspace, path, '..'), { recursive: true })
  fs.writeFileSync(join(workspace, path), content)
}
const reports: HostReport[] = []
async function track(since = Date.now()): Promise<void> {
  reports.length = 0
  await folders.track('s', workspace, since, (report) => reports.push(report))
  await eventually((check) => check.checked)
}
async function check(): Promise<HostCheck> {
  const found = await folders.check('s')
  if (found === null) throw new Error('not tracked')
  return found
}
async function eventually(holds: (check: HostCheck) => boolean): Promise<HostCheck> {
  for (let tries = 0; tries < 300; tries++, await sleep(20)) {
    const found = await check()
    if (holds(found)) return found
  }
  throw new Error(`not within 6 s: ${JSON.stringify(await check())}`)
}
const named = ({ changes }: HostReport) => changes.map(({ path, status }) => `${status} ${path}`)

test('edits, new and removed files are known at the next check, each counted once', async () => {
  for (const name of ['edited', 'removed', 'dir/kept', 'dir/deep/file', 'untouched']) put(name)
  await sleep(20)
  await track()
  expect(await check()).toMatchObject({ changed: 0, fresh: 0, checked: true, there: true })

  put('edited', 'longer than before')
  fs.rmSync(join(workspace, 'removed'))
  put('dir/new')
  const first = await check()
  expect(named(first)).toEqual(['added dir/new', 'modified edited', 'deleted removed'])
  expect(first).toMatchObject({ fresh: 3, changed: 3 })

  put('dir/new', 'again')
  expect(await check()).toMatchObject({ fresh: 1, changed: 3 })
  expect(await check()).toMatchObject({ fresh: 0, changed: 3 })

  fs.rmSync(join(workspace, 'dir/new'))
  expect(named(await check())).toEqual(['modified edited', 'deleted removed'])
})

test('folders that come, go and are renamed bring what is in them, and are watched from then on', async () => {
  for (const name of ['gone/a', 'gone/b/c', 'moved/d']) put(name)
  await sleep(20)
  await track()
  fs.rmSync(join(workspace, 'gone'), { recursive: true })
  fs.renameSync(join(workspace, 'moved'), join(workspace, 'there'))
  put('made/e/f')
  expect(named(await check())).toEqual([
    'deleted gone',
    'deleted gone/a',
    'deleted gone/b',
    'deleted gone/b/c',
    'added made',
    'added made/e',
    'added made/e/f',
    'deleted moved',
    'deleted moved/d',
    'added there',
    'added there/d',
  ])
  put('made/e/later')
  put('there/later')
  expect(await check()).toMatchObject({ fresh: 2, changed: 13 })
})

test('what was changed while the folder was being listed counts as changed', async () => {
  put('before')
  await sleep(20)
  const began = Date.now()
  await sleep(20)
  put('meanwhile')
  await track(began)
  // What it was like before nobody knows, only that it was not this.
  expect(named(await check())).toEqual(['modified meanwhile'])
})

test('a person is told without asking', async () => {
  put('file')
  await sleep(20)
  await track()
  put('file', 'edited')
  for (let tries = 0; reports.at(-1)?.changed !== 1 && tries < 200; tries++) await sleep(20)
  expect(reports.at(-1)).toMatchObject({ checked: true, changed: 1, changes: [{ path: 'file', status: 'modified' }] })
})

test('after a restart the folder is looked through: what changed while nobody watched is found', async () => {
  for (const name of ['a', 'b', 'dir/c']) put(name)
  await sleep(20)
  await track()
  put('a', 'while it was watched')
  await check()
  await folders.release('s')
  put('b', 'while nobody watched')
  fs.rmSync(join(workspace, 'dir'), { recursive: true })
  await track(0)
  const found = await eventually(({ changed }) => changed === 4)
  expect(named(found)).toEqual(['modified a', 'modified b', 'deleted dir', 'deleted dir/c'])
  put('d')
  expect(await check()).toMatchObject({ fresh: expect.any(Number), changed: 5, checked: true })
})

test('more events than the kernel keeps: the folder is looked through, nothing is missed', async () => {
  put('first')
  await sleep(20)
  await track()
  for (let at = 0; at < 9_000; at++) fs.writeFileSync(join(workspace, `f${at % 3_000}`), `${at}`)
  const found = await eventually(({ checked, changed }) => checked && changed === 3_000)
  expect(found.changes).toHaveLength(20)
}, 60_000)

test('a folder that was moved away, or replaced, is said to be gone, and is recognised when it comes back', async () => {
  put('file')
  await sleep(20)
  await track()
  fs.renameSync(workspace, `${workspace}-moved`)
  expect(await check()).toMatchObject({ there: false, checked: false, changed: 0 })
  fs.mkdirSync(workspace)
  put('other')
  expect(await check()).toMatchObject({ there: false, changed: 0 })
  fs.rmSync(workspace, { recursive: true })
  fs.renameSync(`${workspace}-moved`, workspace)
  put('file', 'edited')
  expect(await eventually(({ changed }) => changed === 1)).toMatchObject({ there: true })
})

test('a damaged manifest is begun anew', async () => {
  put('file')
  await sleep(20)
  await track()
  await folders.release('s')
  fs.writeFileSync(
    join(home, 'manifests/s.db'),
    'not a database, but as long as the beginning of one has to be'.repeat(20),
  )
  const began = Date.now()
  await sleep(20)
  put('file', 'since')
  await track(began)
  expect(named(await check())).toEqual(['modified file'])
})

// A disk of its own can only be made as root.
test.runIf(process.getuid?.() === 0)(
  'a full disk: nothing stays open, and the folder is listed as soon as there is room',
  { timeout: 20_000 },
  async () => {
    const manifests = join(home, 'manifests')
    fs.mkdirSync(manifests)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'rewind-test', manifests])
    const fill = (leaving: number) => {
      const { bsize, bavail } = fs.statfsSync(manifests)
      fs.writeFileSync(join(manifests, 'filler'), Buffer.alloc(bsize * bavail - leaving, 1))
    }
    try {
      fill(0)
      await expect(folders.track('s', workspace, Date.now(), () => {})).rejects.toThrow(/full/)
      // Nothing there is open: it can be unmounted.
      execFileSync('umount', [manifests], { stdio: 'pipe' })
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'rewind-test', manifests])

      fill(150 << 10)
      for (let at = 0; at < 2_000; at++) put(`file ${at} with a name of some length`)
      await folders.track('s', workspace, Date.now() + 1_000, () => {})
      await expect.poll(() => fs.statfsSync(manifests).bavail).toBeLessThan(4)
      expect(await check()).toMatchObject({ checked: false, there: true })
      fs.rmSync(join(manifests, 'filler'))
      expect(await eventually(({ checked }) => checked)).toMatchObject({ changed: 0 })
      put('file 7 with a name of some length', 'another')
      expect(named(await check())).toEqual(['modified file 7 with a name of some length'])

      fill(0)
      for (let at = 1_000; at < 2_000; at++) put(`file ${at} with a name of some length`, 'another')
      expect(await check()).toMatchObject({ checked: false, there: true })
      fs.rmSync(join(manifests, 'filler'))
      expect(await eventually(({ checked }) => checked)).toMatchObject({ changed: 1_001 })
    } finally {
      await folders.forget('s')
      execFileSync('umount', ['-l', manifests], { stdio: 'pipe' })
    }
  },
)

test('forgetting leaves nothing behind', async () => {
  await track()
  await folders.forget('s')
  expect(await folders.check('s')).toBeNull()
  expect(fs.readdirSync(join(home, 'manifests'))).toEqual([])
})

const SEEDS = Number(process.env.HOST_SEEDS ?? 6)
test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
  'random edits, seed %i: whatever differs is known',
  async (seed) => {
    const editor = new Editor(workspace, random(seed), false)
    editor.fill()
    await sleep(20)
    await track()
    const before = treeOf(workspace)
    for (let round = 0; round < 4; round++) {
      for (let edits = 0; edits < 10; edits++) editor.edit()
      const differing = bruteForce(before, treeOf(workspace)).filter(({ path }) => path !== '.')
      const found = await check()
      // Where something was replaced by its like, or touched, more than that is named.
      const known = found.changes.map(({ path }) => path)
      const last = known.at(-1) ?? ''
      const expected = differing.map(({ path }) => path).filter((path) => known.length < 20 || path <= last)
      expect(known, `seed ${seed}, round ${round}`).toEqual(expect.arrayContaining(expected))
      expect(found.changed).toBeGreaterThanOrEqual(differing.length)
    }
  },
)
