/** What an agent must not reach: the host's files, processes, home and data folder. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InvalidPathError } from '../../contract/index.ts'
import { type ProviderSource, World } from './world.ts'

export function isolationBehaviours(source: ProviderSource): void {
  test('agent:has-no-capabilities', async () => {
    const box = await (await World.make(source)).sandbox()
    const status = await box.say(['grep', '-E', '^(Cap|NoNewPrivs)', '/proc/self/status'])
    for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toContain(`${name}:\t0000000000000000`)
    }
    expect(status).toContain('NoNewPrivs:\t1')
    expect(await box.say('id -u')).not.toBe('0')
    expect(await box.say('whoami && id -gn')).toMatch(/^[^\n]+\n[^\n]+$/)
  })

  test('host:files-cannot-be-written', async () => {
    const world = await World.make(source)
    const open = join(world.folder, 'open')
    mkdirSync(open, { mode: 0o777 })
    writeFileSync(join(open, 'f'), 'host', { mode: 0o666 })
    const box = await world.sandbox()
    const places = [
      '/etc/x',
      '/usr/x',
      '/x',
      '/var/x',
      '/sys/x',
      '/proc/sys/kernel/core_pattern',
      '/dev/x',
      '/run/x',
      `${open}/f`,
    ]
    for (const place of places) expect((await box.run(['sh', '-c', 'echo HACK >"$0"', place])).code).not.toBe(0)
    await box.run('mount -o remount,rw /; umount -l /proc; mount -t tmpfs t /tmp')
    expect(readFileSync(join(open, 'f'), 'utf8')).toBe('host')
  })

  test('host:data-folder-is-hidden', async () => {
    const world = await World.make(source)
    writeFileSync(join(world.home, 'secret'), 'SECRET')
    const box = await world.sandbox()
    expect((await box.run(`cat ${world.home}/secret`)).code).not.toBe(0)
    expect(await box.say(`ls -A ${world.home} 2>/dev/null; :`)).toBe('')
    expect(await box.say('cat /proc/1/root/etc/passwd /proc/*/root/run/s/state.json 2>/dev/null | head -c 10; :')).toBe(
      '',
    )
  })

  test('host:real-home-is-hidden', async () => {
    const box = await (await World.make(source)).sandbox()
    const home = await box.say('echo $HOME')
    expect(home).not.toBe(homedir())
    expect(await box.say('ls -A ~ | grep -v "^.gitconfig$"; :')).toBe('')
    expect(await box.say('echo x >~/f && cat ~/f')).toBe('x')
    const seen = await box.say(['sh', '-c', 'ls -A "$0" 2>/dev/null; :', homedir()])
    for (const secret of ['.ssh', '.bash_history', '.npmrc', '.aws', '.bashrc', '.profile'])
      expect(seen.split('\n')).not.toContain(secret)
  })

  test('host:processes-are-invisible', async () => {
    const box = await (await World.make(source)).sandbox()
    expect((await box.run(`kill -0 ${process.pid}; ls /proc/${process.pid}/cwd`)).code).not.toBe(0)
    const pids = (await box.say("ls /proc | grep '^[0-9]*$'")).split('\n').map(Number)
    expect(Math.max(...pids)).toBeLessThan(1_000)
    expect(await box.say('cat /proc/1/environ 2>/dev/null | wc -c')).toBe('0')
  })

  test('host:workspace-within-hidden-places-is-refused', async () => {
    const world = await World.make(source)
    const refused = (workspace: string) => expect(world.provider.create(world.spec({ workspace }))).rejects
    await refused('/').toBeInstanceOf(InvalidPathError)
    await refused(world.folder).toBeInstanceOf(InvalidPathError)
    await refused(join(world.folder, 'missing')).toBeInstanceOf(InvalidPathError)
    expect(await world.provider.list()).toEqual([])
  })

  test('network:off-means-loopback-alone', async () => {
    const world = await World.make(source)
    const server = createServer((socket) => socket.end('host'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    try {
      const connect = [
        'python3',
        '-c',
        `import socket; print(socket.create_connection(('127.0.0.1', ${port}), 2).recv(9))`,
      ]
      const on = await world.sandbox({ network: true })
      expect(await on.say(connect)).toContain('host')
      const off = await world.sandbox({ network: false })
      expect((await off.run(connect)).stderr).toContain('refused')
      expect(await off.say("awk -F: 'NR > 2 { print $1 }' /proc/net/dev | tr -d ' ' | grep -c .")).toMatch(/^\d+$/)
      expect(
        (await off.run(['python3', '-c', "import socket; socket.create_connection(('192.0.2.1', 80), 2)"])).stderr,
      ).toContain('unreachable')
    } finally {
      server.close()
    }
  })

  test('dev:devices-and-terminals', async () => {
    const box = await (await World.make(source)).sandbox()
    expect(await box.say('echo x >/dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c')).toBe('4\n4')
    expect(await box.say(['python3', '-c', 'import os; m, s = os.openpty(); print(os.ttyname(s)[:9])'])).toBe(
      '/dev/pts/',
    )
    const disks = execFileSync('sh', ['-c', 'ls /dev | grep -cE "^(sd|vd|nvme|loop)" || :'], { encoding: 'utf8' })
    expect(Number(disks)).toBeGreaterThanOrEqual(0)
    expect(await box.say('ls /dev | grep -cE "^(sd|vd|nvme|loop|mem|kmem)"; :')).toBe('0')
  })
}
