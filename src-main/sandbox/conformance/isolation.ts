/** What an agent must not reach: the host's files, processes, home and data folder. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InvalidPathError } from '../../contract/index.ts'
import { eventually, type ProviderSource, World } from './world.ts'

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
    const { address } = source.network()
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    const { port } = server.address() as { port: number }
    try {
      const connect = (to: string) => [
        'python3',
        '-c',
        `import socket; print(socket.create_connection(('${to}', ${port}), 2).recv(9))`,
      ]
      const on = await world.sandbox({ network: true })
      expect(await on.say(connect(address))).toContain('host')
      const off = await world.sandbox({ network: false })
      expect((await off.run(connect(address))).code).not.toBe(0)
      expect((await off.run(connect('127.0.0.1'))).stderr).toContain('refused')
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

  test('host:run-folders-are-never-written-through-links', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const target = join(world.folder, 'target')
    mkdirSync(target, { mode: 0o777 })
    chmodSync(target, 0o777)
    for (const name of ['stdin', 'script', 'launch']) writeFileSync(join(target, name), 'host', { mode: 0o666 })
    // Links in a folder of its own while it is filled, and another folder, or a link, in that one's place.
    const attack = `
import os, time
run = '/run/rewind'
won = open('won', 'a')
while not os.path.exists('stop'):
    for name in os.listdir(run):
        if not name.startswith('victim'): continue
        for file in ('stdin', 'script', 'launch'):
            try: os.symlink('${target}/' + file, f'{run}/{name}/{file}'); won.write(file + '\\n')
            except OSError: pass
            won.flush()
        try: os.rename(f'{run}/{name}', f'{run}/aside-{time.time_ns()}'); os.symlink('${target}', f'{run}/{name}')
        except OSError: pass
`
    await box.write('attack.py', attack)
    const attacker = await box.sandbox.exec({ id: 'attacker', command: ['python3', 'attack.py'] })
    await eventually('it attacks', async () => (await box.say('ls won 2>/dev/null; :')) === 'won')
    const stdin = new Uint8Array(2 << 20)
    const command = `: ${'x'.repeat(400_000)}`
    for (let at = 0; at < 30; at++) {
      // It may make off with the folder, so that a command cannot be started, ended or collected: its own loss.
      const running = await box.sandbox.exec({ id: `victim-${at}`, command, stdin }).catch(() => null)
      await running?.kill('cancelled').catch(() => {})
      await running?.collect({ stdout: join(world.folder, 'out'), stderr: join(world.folder, 'err') }).catch(() => {})
    }
    // It did get at the folders it was after; an attack that never came close would prove nothing.
    await box.write('stop', '')
    await attacker.ended
    expect(await box.read('won')).toContain('s')
    for (const name of ['stdin', 'script', 'launch'])
      expect(readFileSync(join(target, name), 'utf8').slice(0, 40)).toBe('host')
    expect(readdirSync(target).sort()).toEqual(['launch', 'script', 'stdin'])
    expect(await box.say('echo on')).toBe('on')
  })
}
