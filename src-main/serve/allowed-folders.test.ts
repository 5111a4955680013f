import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { InvalidPathError } from '../contract/index.ts'
import { AllowedFolders } from './allowed-folders.ts'

let base: string
let kept: string | null
let allowed: AllowedFolders
const open = () =>
  new AllowedFolders({
    load: () => kept,
    save: (value) => {
      kept = value
    },
  })

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'rewind-allowed-')))
  mkdirSync(join(base, 'open/deep'), { recursive: true })
  mkdirSync(join(base, 'closed'))
  kept = null
  allowed = open()
})
afterEach(() => rmSync(base, { recursive: true }))

test('a folder, and all that is or will be below it', () => {
  allowed.add(join(base, 'open'))
  for (const path of ['open', 'open/deep', 'open/not/yet', 'open/deep/..'])
    expect(allowed.admits(join(base, path))).toBe(true)
  for (const path of ['closed', 'open-ish', '.', 'open/../closed']) expect(allowed.admits(join(base, path))).toBe(false)
  expect(allowed.admits('open')).toBe(false)
})

test('it is where a path leads that counts', () => {
  allowed.add(join(base, 'open'))
  symlinkSync(join(base, 'closed'), join(base, 'open/out'))
  symlinkSync(join(base, 'open'), join(base, 'closed/in'))
  expect(allowed.admits(join(base, 'open/out'))).toBe(false)
  expect(allowed.admits(join(base, 'open/out/new'))).toBe(false)
  expect(allowed.admits(join(base, 'closed/in/new'))).toBe(true)
})

test('what a connection was given counts for it alone', () => {
  expect(allowed.admits(join(base, 'closed'), [join(base, 'closed')])).toBe(true)
  expect(allowed.admits(join(base, 'closed'))).toBe(false)
})

test('the list is kept, without repetitions, and can be taken back', () => {
  allowed.add(join(base, 'open'))
  allowed.add(join(base, 'open/../open'))
  expect(open().folders).toEqual([join(base, 'open')])
  allowed.remove(join(base, 'open'))
  expect(open().folders).toEqual([])
})

test('a folder that was removed since can still be closed', () => {
  allowed.add(join(base, 'open'))
  rmSync(join(base, 'open'), { recursive: true })
  allowed.remove(join(base, 'open'))
  expect(allowed.folders).toEqual([])
})

test.each(['missing', 'file.txt', '../relative'])('%s is no folder to open', (name) => {
  writeFileSync(join(base, 'file.txt'), '')
  expect(() => allowed.add(name.startsWith('..') ? name : join(base, name))).toThrow(InvalidPathError)
  expect(kept).toBeNull()
})
