/** Opening beneath a folder that an agent controls: nothing outside is ever reached. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FileNotFoundError, InvalidPathError } from '../../contract/index.ts'
import { type OpenBeneathOptions, openBeneath } from './index.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_TRUNC, O_WRONLY } = fs.constants
const WRITE = O_WRONLY | O_CREAT | O_TRUNC

let folder = ''
let root = ''
let victim = ''
let helper: ChildProcess | null = null

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'beneath-'))
  root = join(folder, 'workspace')
  victim = join(folder, 'victim')
  fs.mkdirSync(join(root, 'sub/deep'), { recursive: true })
  fs.writeFileSync(victim, 'host')
  fs.writeFileSync(join(root, 'sub/file'), 'inside')
})

afterEach(() => {
  helper?.kill('SIGKILL')
  helper = null
  fs.rmSync(folder, { recursive: true, force: true })
})

async function write(path: string | Uint8Array, text: string, options?: OpenBeneathOptions): Promise<void> {
  const fd = await openBeneath(root, path, WRITE, options)
  fs.writeSync(fd, text)
  fs.closeSync(fd)
}

async function read(path: string, options?: OpenBeneathOptions): Promise<string> {
  const fd = await openBeneath(root, path, O_RDONLY, options)
  const text = fs.readFileSync(fd, 'utf8')
  fs.closeSync(fd)
  return text
}

const descriptors = () => fs.readdirSync('/proc/self/fd').length

describe('openBeneath', () => {
  test('reads, writes, shortens and makes files', async () => {
    expect(await read('sub/file')).toBe('inside')
    expect(await read('./sub//deep/../file')).toBe('inside')
    await write('sub/file', 'now')
    await write('sub/new', 'made')
    expect(fs.readFileSync(join(root, 'sub/file'), 'utf8')).toBe('now')
    expect(fs.readFileSync(join(root, 'sub/new'), 'utf8')).toBe('made')
  })

  test('takes names of any bytes', async () => {
    const name = Buffer.from('od\xffd\nna\\me', 'latin1')
    await write(name, 'odd')
    expect(fs.readFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), 'utf8')).toBe('odd')
  })

  test.each([
    ['a file, absolute', 'link', () => victim],
    ['a file, relative', 'link', () => '../victim'],
    ['a folder, absolute', 'link/victim', () => folder],
    ['a folder, relative', 'link/victim', () => '..'],
    ['out and in again', 'link', () => '../workspace/sub/file'],
    ['a name beside the workspace that begins like it', 'link', () => `${root}-other`],
  ])('a symlink to the outside is not followed: %s', async (_, path, target) => {
    fs.writeFileSync(`${root}-other`, 'host')
    fs.symlinkSync(target(), join(root, 'link'))
    // The trap is real: by name the same path leads out of the workspace.
    expect(fs.realpathSync(join(root, path))).toBeTypeOf('string')
    const before = [fs.readFileSync(victim, 'utf8'), fs.readFileSync(`${root}-other`, 'utf8')]
    const options = { insideRoot: root }
    await expect(write(path, 'HACKED', options)).rejects.toThrow(InvalidPathError)
    await expect(read(path, options)).rejects.toThrow(InvalidPathError)
    await expect(write(path, 'HACKED')).rejects.toThrow(InvalidPathError)
    expect([fs.readFileSync(victim, 'utf8'), fs.readFileSync(`${root}-other`, 'utf8')]).toEqual(before)
  })

  test('by name the host would be written to: the control of the tests above', () => {
    fs.symlinkSync(victim, join(root, 'link'))
    fs.writeFileSync(join(root, 'link'), 'HACKED')
    expect(fs.readFileSync(victim, 'utf8')).toBe('HACKED')
  })

  test('symlinks that stay inside are followed', async () => {
    fs.symlinkSync('sub', join(root, 'to-folder'))
    fs.symlinkSync('../file', join(root, 'sub/deep/up'))
    fs.symlinkSync('/inside/sub/file', join(root, 'absolute'))
    fs.symlinkSync('to-folder/not-yet', join(root, 'dangling'))
    expect(await read('to-folder/file')).toBe('inside')
    expect(await read('sub/deep/up')).toBe('inside')
    expect(await read('absolute', { insideRoot: '/inside' })).toBe('inside')
    await write('dangling', 'made')
    expect(fs.readFileSync(join(root, 'sub/not-yet'), 'utf8')).toBe('made')
    await expect(openBeneath(root, 'dangling', O_WRONLY | O_CREAT | O_EXCL)).rejects.toThrow(InvalidPathError)
  })

  test('an absolute symlink back into the folder starts again at the root', async () => {
    fs.symlinkSync('/inside/../victim', join(root, 'sub/deep/sly'))
    fs.symlinkSync('/inside', join(root, 'sub/deep/top'))
    await expect(read('sub/deep/sly', { insideRoot: '/inside' })).rejects.toThrow(InvalidPathError)
    expect(await read('sub/deep/top/sub/file', { insideRoot: '/inside' })).toBe('inside')
    await expect(read('sub/deep/top/../victim', { insideRoot: '/inside' })).rejects.toThrow(InvalidPathError)
  })

  test('refuses what is no file, with the reason', async () => {
    fs.symlinkSync('loop', join(root, 'loop'))
    await expect(read('..')).rejects.toThrow('leads out')
    await expect(read('sub/../../victim')).rejects.toThrow('leads out')
    await expect(read('sub')).rejects.toThrow('is a folder')
    await expect(write('sub', 'x')).rejects.toThrow('is a folder')
    await expect(read('.')).rejects.toThrow('is a folder')
    await expect(read('sub/file/x')).rejects.toThrow('no folder')
    await expect(read('loop')).rejects.toThrow('symlinks')
    await expect(read('loop/x')).rejects.toThrow('symlinks')
    await expect(read('a\0b')).rejects.toThrow(InvalidPathError)
    await expect(read('x'.repeat(300))).rejects.toThrow(InvalidPathError)
    await expect(read('sub/none')).rejects.toThrow(FileNotFoundError)
    await expect(read('none/none')).rejects.toThrow(FileNotFoundError)
    await expect(write('none/none', 'x')).rejects.toThrow(FileNotFoundError)
  })

  test('a FIFO, socket or device neither blocks nor is opened', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')])
    fs.symlinkSync('fifo', join(root, 'to-fifo'))
    for (const path of ['fifo', 'to-fifo']) {
      await expect(read(path)).rejects.toThrow(InvalidPathError)
      await expect(write(path, 'x')).rejects.toThrow(InvalidPathError)
    }
    await expect(openBeneath('/dev', 'null', O_RDONLY)).rejects.toThrow(InvalidPathError)
  })

  test('makes missing folders with exactly the mode that was asked for', async () => {
    await write('one/two/file', 'x', { createParents: { mode: 0o777 } })
    expect(fs.statSync(join(root, 'one')).mode & 0o7777).toBe(0o777)
    expect(fs.statSync(join(root, 'one/two')).mode & 0o7777).toBe(0o777)
    const { mode } = fs.statSync(join(root, 'sub'))
    await write('sub/three/file', 'x', { createParents: { mode: 0o700 } })
    expect(fs.statSync(join(root, 'sub')).mode).toBe(mode)
    fs.symlinkSync(folder, join(root, 'out'))
    await expect(write('out/made/file', 'x', { createParents: { mode: 0o700 } })).rejects.toThrow(InvalidPathError)
    expect(fs.existsSync(join(folder, 'made'))).toBe(false)
  })

  test.runIf(process.getuid?.() === 0)('gives the folders that it makes to their owner', async () => {
    await write('one/two/file', 'x', { createParents: { mode: 0o755, uid: 1000, gid: 1001 } })
    for (const path of ['one', 'one/two']) expect(fs.statSync(join(root, path))).toMatchObject({ uid: 1000, gid: 1001 })
    expect(fs.statSync(root).uid).toBe(0)
  })

  test('opens a folder where one is asked for', async () => {
    for (const path of ['sub', '.', 'sub/deep/..']) {
      const fd = await openBeneath(root, path, O_RDONLY | O_DIRECTORY)
      expect(fs.fstatSync(fd).isDirectory()).toBe(true)
      fs.closeSync(fd)
    }
    await expect(openBeneath(root, 'sub/file', O_RDONLY | O_DIRECTORY)).rejects.toThrow(InvalidPathError)
  })

  test('leaves no descriptor open, however it ends', async () => {
    fs.symlinkSync('/inside/sub', join(root, 'sub/deep/again'))
    const before = descriptors()
    await read('sub/deep/again/file', { insideRoot: '/inside' })
    await write('a/b/c/d', 'x', { createParents: { mode: 0o755 } })
    for (const path of ['sub', 'sub/none', '../victim', 'sub/file/x', 'sub/deep/again/none'])
      await read(path, { insideRoot: '/inside' }).catch(() => {})
    expect(descriptors()).toBe(before)
  })

  test('a folder that is swapped for a symlink while we walk never leads out; by name it does', async () => {
    fs.mkdirSync(join(root, 'real'))
    fs.writeFileSync(join(root, 'real/victim'), 'inside')
    const swap = `
      const fs = require('node:fs'); process.chdir(${JSON.stringify(root)}); fs.symlinkSync('..', 'link')
      for (;;) { fs.renameSync('real', 'kept'); fs.renameSync('link', 'real'); fs.renameSync('real', 'link'); fs.renameSync('kept', 'real') }`
    helper = spawn(process.execPath, ['-e', swap], { stdio: 'ignore' })

    let outsideByName = 0
    let insideByWalk = 0
    const end = Date.now() + 20_000
    while ((outsideByName < 3 || insideByWalk < 200) && Date.now() < end) {
      const careful = byName(join(root, 'real'), 'victim')
      if (careful === 'host') outsideByName++
      const walked = await read('real/victim').catch((error: unknown) => {
        if (!(error instanceof InvalidPathError || error instanceof FileNotFoundError)) throw error
        return null
      })
      expect(walked).not.toBe('host')
      if (walked === 'inside') insideByWalk++
    }
    expect(outsideByName, 'the check before opening by name was never outrun: no control').toBeGreaterThan(0)
    expect(insideByWalk).toBeGreaterThan(0)
  })
})

/** What one would do without descriptors: look first, then open. */
function byName(parent: string, name: string): string | null {
  try {
    if (!fs.lstatSync(parent).isDirectory()) return null
    return fs.readFileSync(join(parent, name), 'utf8')
  } catch {
    return null
  }
}
