import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { InvalidOptionError, InvalidPathError } from '../contract/index.ts'
import { dataFolder, ensureHome } from './home.ts'
import { assertPrivate, ensureSocketFolder, socketPath } from './socket-path.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewind-home-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('where the data folder is', () => {
  test.each<[string, Record<string, string>, NodeJS.Platform, string]>([
    ['REWIND_HOME', { REWIND_HOME: '/data/mine', HOME: '/home/u' }, 'linux', '/data/mine'],
    ['XDG_DATA_HOME', { XDG_DATA_HOME: '/xdg', HOME: '/home/u' }, 'linux', '/xdg/rewind-desktop'],
    [
      'a relative XDG_DATA_HOME is ignored',
      { XDG_DATA_HOME: 'xdg', HOME: '/home/u' },
      'linux',
      '/home/u/.local/share/rewind-desktop',
    ],
    ['Linux', { HOME: '/home/u' }, 'linux', '/home/u/.local/share/rewind-desktop'],
    ['macOS', { HOME: '/Users/u' }, 'darwin', '/Users/u/Library/Application Support/Rewind Desktop'],
  ])('%s', (_title, env, platform, expected) => {
    expect(dataFolder(env, platform)).toBe(expected)
  })

  test('a relative REWIND_HOME is refused', () => {
    expect(() => dataFolder({ REWIND_HOME: 'data' })).toThrow(InvalidOptionError)
  })
})

describe('making it', () => {
  test('it is made with its parents, closed to others', () => {
    const home = ensureHome(join(folder, 'a/b'))
    expect(statSync(home).mode & 0o777).toBe(0o700)
  })

  test('one that others can enter is closed', () => {
    chmodSync(folder, 0o755)
    ensureHome(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  test('two names of one folder are one', () => {
    const alias = join(folder, 'alias')
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), alias)
    expect(ensureHome(alias)).toBe(ensureHome(join(folder, 'real')))
  })

  test('a file in its place is an error that says what to do', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => ensureHome(join(folder, 'file'))).toThrow(InvalidPathError)
    expect(() => ensureHome(join(folder, 'file/below'))).toThrow(/cannot be used/)
  })

  // Any user but root: /usr is somebody else's; as root: a folder of another uid can be looked at only when made.
  test('one of another user is refused', async () => {
    const { chownSync } = await import('node:fs')
    const theirs = process.getuid?.() === 0 ? join(folder, 'theirs') : '/usr'
    if (process.getuid?.() === 0) {
      mkdirSync(theirs)
      chownSync(theirs, 12345, 12345)
    }
    expect(() => ensureHome(theirs)).toThrow(/belongs to another user/)
  })
})

describe('where the socket is', () => {
  test('in the data folder where that is short enough', () => {
    expect(socketPath('/data/mine')).toBe('/data/mine/rewind.sock')
  })

  test('else in a folder of its own, the same each time and another for another data folder', () => {
    const long = `/${'x'.repeat(120)}`
    const path = socketPath(long)
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107)
    expect(socketPath(long)).toBe(path)
    expect(socketPath(`${long}y`)).not.toBe(path)
  })

  test('a path of exactly 107 bytes fits, one of 108 does not', () => {
    const inside = (bytes: number) => `/${'x'.repeat(bytes - '/rewind.sock'.length - 1)}`
    expect(socketPath(inside(107))).toBe(`${inside(107)}/rewind.sock`)
    expect(socketPath(inside(108))).not.toContain('xxxx')
  })

  test('a folder that others may enter is not trusted', () => {
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    expect(() => assertPrivate(open)).toThrow(InvalidPathError)
    expect(() => ensureSocketFolder(folder, join(open, 'rewind.sock'))).toThrow(InvalidPathError)
  })

  test('a symlink to a folder of ours is not trusted', () => {
    mkdirSync(join(folder, 'mine'), { mode: 0o700 })
    symlinkSync(join(folder, 'mine'), join(folder, 'link'))
    expect(() => assertPrivate(join(folder, 'link'))).toThrow(InvalidPathError)
  })
})
