/** Commands: how they start, what they are given, how they end and what becomes of what they started. */

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InvalidOptionError, InvalidPathError } from '../../contract/index.ts'
import { eventually, type ProviderSource, World } from './world.ts'

export function commandBehaviours(source: ProviderSource): void {
  test('exec:string-runs-in-a-shell', async () => {
    const box = await (await World.make(source)).sandbox()
    expect(await box.say('A=1; echo $((A + 1)) | cat')).toBe('2')
  })

  test('exec:array-runs-without-a-shell', async () => {
    const box = await (await World.make(source)).sandbox()
    expect(await box.say(['printf', '%s|', '$HOME', "it's", 'a b', '*', ''])).toBe("$HOME|it's|a b|*||")
  })

  test('exec:exit-codes', async () => {
    const box = await (await World.make(source)).sandbox()
    for (const code of [0, 1, 7, 126, 130, 137, 143, 255]) {
      expect(await box.run(`exit ${code}`)).toMatchObject({ status: 'exited', code, signal: null })
    }
    expect(await box.run(['no-such-program'])).toMatchObject({ status: 'exited', code: 127 })
  })

  test('exec:signals-are-told-from-codes', async () => {
    const box = await (await World.make(source)).sandbox()
    for (const signal of ['KILL', 'TERM', 'SEGV', 'HUP']) {
      const result = await box.run(`kill -${signal} $$`)
      expect(result).toMatchObject({ status: 'exited', code: null, signal: `SIG${signal}`, stderr: '' })
    }
  })

  test('exec:names-in-the-environment-mean-nothing-to-the-launcher', async () => {
    const box = await (await World.make(source)).sandbox()
    const env = { id: '5', run: '/nowhere', dir: '/nowhere', stdin: '/nowhere', pid: 'x', IFS: 'e', name: 'n', _: '1' }
    const running = await box.sandbox.exec({ id: 'named', command: 'env; exit 3', env })
    expect(await running.ended).toMatchObject({ status: 'exited', code: 3 })
    const said = Buffer.from(await running.read('stdout', 0, 1 << 16))
      .toString()
      .split('\n')
    // The shell that the command is sets the last two anew.
    const { IFS: _, _: __, ...kept } = env
    expect(said).toEqual(expect.arrayContaining(Object.entries(kept).map(([name, value]) => `${name}=${value}`)))
  })

  test('exec:interrupts-are-not-ignored', async () => {
    const box = await (await World.make(source)).sandbox()
    expect((await box.run('kill -INT $$; echo still here')).stdout).toBe('')
  })

  test('exec:output-streams-are-apart-and-exact', async () => {
    const box = await (await World.make(source)).sandbox()
    expect(await box.run("printf 'out\\0\\377'; printf err >&2")).toMatchObject({ stderr: 'err' })
    const running = await box.sandbox.exec({ id: 'bytes', command: "printf 'out\\0\\377'" })
    await running.ended
    expect([...(await running.read('stdout', 0, 100))]).toEqual([0x6f, 0x75, 0x74, 0, 0xff])
    expect([...(await running.read('stdout', 2, 2))]).toEqual([0x74, 0])
  })

  test('exec:output-can-be-followed', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await box.sandbox.exec({ id: 'slow', command: 'echo one; read line </dev/zero & sleep 60' })
    await eventually('the first line', async () => (await running.size('stdout')) === 4)
    await running.kill('cancelled')
  })

  test('exec:huge-output-is-whole-on-disk', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const running = await box.sandbox.exec({
      id: 'huge',
      command: 'head -c 50000000 /dev/zero; head -c 3 /dev/zero >&2',
    })
    expect((await running.ended).code).toBe(0)
    expect((await running.read('stdout', 49_999_990, 1 << 20)).length).toBe(10)
    const target = { stdout: join(world.folder, 'out'), stderr: join(world.folder, 'err') }
    await running.collect(target)
    expect([readFileSync(target.stdout).length, readFileSync(target.stderr).length]).toEqual([50_000_000, 3])
    expect(await box.sandbox.commands()).toEqual([])
  })

  // A disk of its own can only be made as root.
  test.runIf(process.getuid?.() === 0)('exec:output-that-found-no-room-can-be-collected-again', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const disk = join(world.folder, 'disk')
    mkdirSync(disk)
    // What comes after the first mebibyte does not fit.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 't', disk])
    try {
      const running = await box.sandbox.exec({ id: 'much', command: 'head -c 1048676 /dev/zero' })
      await running.ended
      const [out, err] = [join(world.folder, 'out'), join(world.folder, 'err')]
      await expect(running.collect({ stdout: join(disk, 'out'), stderr: err })).rejects.toThrow('ENOSPC')
      await running.collect({ stdout: out, stderr: err })
      expect(readFileSync(out).length).toBe(1_048_676)
    } finally {
      execFileSync('umount', [disk])
    }
  })

  test('exec:background-child-hangs-nobody', async () => {
    const box = await (await World.make(source)).sandbox()
    const begun = Date.now()
    const result = await box.run('sleep 300 & echo started')
    expect(result).toMatchObject({ code: 0, stdout: 'started\n' })
    expect(Date.now() - begun).toBeLessThan(5_000)
    await eventually('the child alone runs', async () => {
      return (await box.sandbox.processes()).map(({ command }) => command).join() === 'sleep 300'
    })
  })

  test('exec:stdin', async () => {
    const box = await (await World.make(source)).sandbox()
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
    expect(await box.say('cksum', { stdin: bytes })).toBe('1313719201 256')
    expect(await box.say('cat')).toBe('')
  })

  test('exec:environment', async () => {
    const box = await (await World.make(source)).sandbox({ env: { A: 'session', B: 'session' } })
    const odd = { B: "two\nlines'", 'ODD.NAME': 'x=y', EMPTY: '' }
    expect(await box.say('printf "%s,%s,%s" "$A" "$B" "$EMPTY"', { env: odd })).toBe("session,two\nlines',")
    expect(await box.say(['env'], { env: odd })).toContain('ODD.NAME=x=y')
    const [workspace, home, temporary] = (await box.say('echo "$REWIND_WORKSPACE|$HOME|$TMPDIR"')).split('|')
    expect(workspace).toBe(box.sandbox.facts.workspace)
    expect(await box.say('cd && pwd')).toBe(home)
    expect(temporary).toBe('/tmp')
    expect(await box.say('[ -n "$PATH" ] && [ -n "$LANG" ] && echo both')).toBe('both')
  })

  test('exec:working-folder', async () => {
    const world = await World.make(source)
    world.host("sub dir/it's/x", '')
    const box = await world.sandbox()
    const { workspace } = box.sandbox.facts
    expect(await box.say('pwd')).toBe(workspace)
    expect(await box.say('pwd', { cwd: "sub dir/it's" })).toBe(`${workspace}/sub dir/it's`)
    expect(await box.say('pwd', { cwd: '/usr' })).toBe('/usr')
    for (const cwd of ['missing', '/no/such', "sub dir/it's/x", 'a\0b']) {
      await expect(box.run('touch ran', { cwd })).rejects.toBeInstanceOf(InvalidPathError)
    }
    expect(await box.say('ls')).toBe('sub dir')
  })

  test('exec:nul-bytes-are-refused', async () => {
    const box = await (await World.make(source)).sandbox()
    await expect(box.run('echo a\0b')).rejects.toBeInstanceOf(InvalidOptionError)
    expect(await box.say('echo on')).toBe('on')
  })

  test('exec:long-commands', async () => {
    const box = await (await World.make(source)).sandbox()
    expect(await box.say(`: ${'x'.repeat(500_000)}\necho done`)).toBe('done')
  })

  test('exec:the-same-id-joins', async () => {
    const box = await (await World.make(source)).sandbox()
    const id = randomUUID()
    const [one, two] = await Promise.all([1, 2].map(() => box.sandbox.exec({ id, command: 'echo x >> ran' })))
    await Promise.all([one?.ended, two?.ended])
    expect(await box.read('ran')).toBe('x\n')
  })

  test('exec:many-at-once', async () => {
    const box = await (await World.make(source)).sandbox()
    const said = await Promise.all(Array.from({ length: 20 }, (_, at) => box.say(`sleep 0.05; echo ${at}`)))
    expect(said).toEqual(Array.from({ length: 20 }, (_, at) => String(at)))
  })

  test('exec:time-out-kills-the-whole-tree', async () => {
    const box = await (await World.make(source)).sandbox()
    const tree = 'sleep 300 & setsid sleep 301 & (setsid sh -c "sleep 302; :" &) ; sleep 303'
    const result = await box.run(tree, { timeoutMs: 300 })
    expect(result).toMatchObject({ status: 'timed-out', code: null })
    expect(result.durationMs).toBeGreaterThanOrEqual(300)
    await eventually('nothing is left', async () => (await box.sandbox.processes()).length === 0)
  })

  test('exec:cancel-kills-only-its-own', async () => {
    const box = await (await World.make(source)).sandbox()
    const other = await box.sandbox.exec({ id: 'other', command: 'sleep 300' })
    const doomed = await box.sandbox.exec({ id: 'doomed', command: 'sleep 301 & trap "" TERM INT; sleep 302' })
    await doomed.kill('cancelled')
    expect(await doomed.ended).toMatchObject({ status: 'cancelled', signal: 'SIGKILL' })
    await eventually('only the other one is left', async () => {
      const left = (await box.sandbox.processes()).map(({ command }) => command)
      return left.includes('sleep 300') && left.every((command) => command.includes('sleep 300'))
    })
    await other.kill('cancelled')
  })

  test('exec:an-agent-that-kills-everything-harms-itself-alone', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await box.sandbox.exec({ id: 'suicide', command: 'kill -9 -1; sleep 300' })
    expect((await running.ended).code).not.toBe(0)
    expect(await box.say('echo alive')).toBe('alive')
  })

  test('exec:output-cannot-lead-to-host-files', async () => {
    const world = await World.make(source)
    world.host('secret', '')
    const box = await world.sandbox()
    const hostFile = join(world.home, 'host-secret')
    const running = await box.sandbox.exec({
      id: 'link',
      command: `ln -sf ${hostFile} /proc/self/fd/1; d=$(dirname "$(readlink /proc/self/fd/1)"); ln -sf /etc/passwd "$d/stdout"; echo x`,
    })
    await running.ended
    expect(Buffer.from(await running.read('stdout', 0, 1000)).toString()).not.toContain('root:')
    await running.collect({ stdout: join(world.folder, 'out'), stderr: join(world.folder, 'err') })
    expect(readFileSync(join(world.folder, 'out'), 'utf8')).not.toContain('root:')
    expect(existsSync(hostFile)).toBe(false)
  })
}
