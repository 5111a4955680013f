import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { InvalidOptionError } from '../../contract/index.ts'
import { type Box, eventually, World } from '../conformance/world.ts'
import { docker, dockerSource } from './for-tests.ts'
import { productImage } from './images.ts'

// A container is started in a second, on a loaded machine in ten.
vi.setConfig({ testTimeout: 300_000 })

const machine = dockerSource('machine')

interface Inspected {
  Config: { Env: string[] }
  HostConfig: Record<string, unknown> & { CapAdd: string[] }
  Mounts: { Destination: string; RW: boolean }[]
}

const inspect = (box: Box): Inspected => {
  const name = docker('ps', '-aq', '--no-trunc', '--filter', `label=rewind.sandbox=${box.sandbox.id}`).trim()
  return (JSON.parse(docker('inspect', name)) as Inspected[])[0] as Inspected
}

const NAMES = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP'],
  ...['LINUX_IMMUTABLE', 'NET_BIND_SERVICE'],
]

/** Capabilities of a command by the kernel's numbers of them. */
async function rightsOf(box: Box, user: 'agent' | 'root'): Promise<Record<string, string[]>> {
  const said = await box.say(['grep', '^Cap', '/proc/self/status'], { user })
  const sets = [...said.matchAll(/^Cap(\w+):\t([0-9a-f]+)$/gm)].map(([, set = '', bits = '']) => {
    const value = BigInt(`0x${bits}`)
    const held = Array.from({ length: 64 }, (_, at) => at).filter((at) => (value >> BigInt(at)) & 1n)
    return [set, held.map((at) => NAMES[at] ?? `number ${at}`)] as const
  })
  return Object.fromEntries(sets)
}

const SERVER = `exec node -e "require('net').createServer((s) => s.pipe(s)).listen(8000, '127.0.0.1')"`

suiteNeeding(['docker'], 'rights in containers', () => {
  test('container: it has the rights that the engine takes, and no more', async () => {
    const box = await (await World.make(machine)).sandbox({ network: false })
    const { HostConfig, Mounts } = inspect(box)
    expect(HostConfig.CapAdd.map((name) => name.replace('CAP_', '')).sort()).toEqual(
      [
        ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETUID', 'SETGID', 'SETPCAP', 'SYS_CHROOT', 'MKNOD'],
        ...['NET_BIND_SERVICE', 'SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_TIME', 'IPC_OWNER'],
      ].sort(),
    )
    expect(HostConfig).toMatchObject({
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', 'seccomp=unconfined', 'apparmor=unconfined'],
      NetworkMode: 'none',
      PidMode: '',
      UTSMode: '',
      Init: true,
      RestartPolicy: { Name: 'no' },
    })
    expect(Mounts.map(({ Destination, RW }) => `${Destination} ${RW}`).sort()).toEqual([
      '/rewind/volume true',
      '/rewind/workspace false',
    ])
  })

  test.each([true, false])(
    'what connects to ports, network %s: the agent’s user, with none at all',
    async (network) => {
      const box = await (await World.make(machine)).sandbox({ network })
      await box.sandbox.exec({ id: 'server', command: SERVER })
      await eventually('it listens', async () => (await box.sandbox.activity()).ports.length === 1)
      const connection = await box.sandbox.connect(8000)
      const name = docker('ps', '-q', '--filter', `label=rewind.sandbox=${box.sandbox.id}`).trim()
      const find = 'for one in /proc/[0-9]*; do ! grep -q port-rela[y] $one/cmdline || cat $one/status; done'
      const found = () => docker('exec', name, 'sh', '-c', `${find} 2>/dev/null; :`)
      const status = found()
      connection.destroy()
      expect(
        status
          .match(/^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):.*$/gm)
          ?.map((line) => line.split(/\s+/).slice(0, 2)),
      ).toEqual([
        ['Uid:', '1000'],
        ['Gid:', '1000'],
        ['Groups:', ''],
        ...['CapInh:', 'CapPrm:', 'CapEff:', 'CapAmb:'].map((set) => [set, '0000000000000000']),
        ['NoNewPrivs:', '1'],
      ])
      await box.sandbox.detach()
      await eventually('it has ended', () => found() === '')
    },
  )

  test('agent and root: none at all, and what apt needs', async () => {
    const box = await (await World.make(machine)).sandbox()
    const none = { Inh: [], Prm: [], Eff: [], Bnd: [], Amb: [] }
    expect(await rightsOf(box, 'agent')).toEqual(none)
    const apt = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE']
    expect(await rightsOf(box, 'root')).toEqual({ ...none, Prm: apt, Eff: apt, Bnd: apt })
    expect(await box.say('id -u; echo $HOME', { user: 'root' })).toBe('0\n/root')
  })

  test('workspace: a live one of somebody else is the agent’s inside, and stays his on the host', async () => {
    const world = await World.make(machine)
    const chown = (owner: string) =>
      docker('run', '--rm', '-v', `${world.workspace}:/w`, productImage(), 'chown', '-R', owner, '/w')
    world.host('folder/file', 'theirs')
    onTestFinished(() => void chown(`${process.getuid?.()}:${process.getgid?.()}`))
    chown('0:0')
    const box = await world.sandbox({ base: 'live' })
    expect(await box.say('stat -c %u:%g . folder folder/file; echo mine >folder/file; echo new >new; ls')).toBe(
      '1000:1000\n1000:1000\n1000:1000\nfolder\nnew',
    )
    const point = await box.point()
    await box.say('rm -r folder')
    await box.back(point)
    expect(await box.say('cat folder/file; stat -c %u . folder')).toBe('mine\n1000\n1000')
    expect(statSync(join(world.workspace, 'folder/file')).uid).toBe(0)
    expect(world.hostText('folder/file')).toBe('theirs')
  })

  test('root: in the scope workspace there is none', async () => {
    const box = await (await World.make(dockerSource('workspace'))).sandbox()
    await expect(box.run('id', { user: 'root' })).rejects.toBeInstanceOf(InvalidOptionError)
    expect(await box.say('id -u')).toBe('1000')
  })

  test('root: all of the image can be changed, and goes back', async () => {
    const box = await (await World.make(machine)).sandbox()
    const point = await box.point()
    const before = await box.say('ls /usr/bin | cksum; dpkg -l | cksum; id games')
    await box.say('dpkg --purge --force-all less >/dev/null && deluser games >/dev/null 2>&1 || userdel games', {
      user: 'root',
    })
    await box.say('mkdir /opt/tool && echo made >/opt/tool/file && chown 1000 /opt/tool', { user: 'root' })
    expect((await box.run('less --version')).code).toBe(127)
    expect((await box.run('id games')).code).not.toBe(0)
    await box.say('echo more >/opt/tool/more')
    const changed = await box.point()
    await box.back(point)
    expect(await box.say('ls /usr/bin | cksum; dpkg -l | cksum; id games; ls /opt')).toBe(before)
    await box.back(changed)
    expect(await box.say('cat /opt/tool/file /opt/tool/more; command -v less || echo gone')).toBe('made\nmore\ngone')
  })

  test('root: folders renamed in the image go back and forth', async () => {
    const box = await (await World.make(machine)).sandbox()
    const { stdout: before } = await box.run('ls /usr/share /usr/share/doc | cksum')
    const point = await box.point()
    await box.say('mv /usr/share/doc /usr/share/moved', { user: 'root' })
    const moved = await box.point()
    await box.back(point)
    expect(await box.say('ls /usr/share /usr/share/doc | cksum')).toBe(before.trimEnd())
    await box.back(moved)
    expect(await box.say('ls /usr/share | grep -cE "^(doc|moved)$"; ls /usr/share/moved | head -1 | wc -l')).toBe(
      '1\n1',
    )
  })

  test('root: there is no way out', async () => {
    const world = await World.make(machine)
    const box = await world.sandbox()
    const tries = [
      'mount -t tmpfs t /mnt',
      'umount /workspace',
      'chroot / true',
      'nsenter -t 1 -m true',
      'unshare -m true',
      'unshare -U true',
      'mknod /tmp/disk b 254 0',
      'echo x >/proc/sys/kernel/core_pattern',
      'echo x >/sys/kernel/mm/ksm/run',
      'ls /proc/1/root/',
      'ls /rewind/volume',
      'touch /.rewind/x',
      'echo x >/.rewind/busybox',
      'rm /.rewind/busybox',
      'echo x >/dev/vda',
      'kill -9 1; sleep 0.2; kill -0 1 && false',
      'date -s 2000-01-01',
      'hostname other',
    ]
    for (const command of tries) expect((await box.run(command, { user: 'root' })).code, command).not.toBe(0)
    expect(await box.say('echo on')).toBe('on')
  })

  // The engine enters the sandbox with rights, and everything in it may be root's own work by then.
  test('root: programs that it puts in place of the image’s are never run with rights', async () => {
    const world = await World.make(machine)
    const box = await world.sandbox()
    const marker = '/workspace/seen'
    const evil = `#!/.rewind/busybox sh\n/.rewind/busybox grep CapEff /proc/self/status >>${marker}\nexit 1\n`
    await box.say(`printf '%s' "$EVIL" >/tmp/evil; chmod 755 /tmp/evil; : >${marker}; chmod 666 ${marker}`, {
      user: 'root',
      env: { EVIL: evil },
    })
    const programs = ['setpriv', 'nsenter', 'setsid', 'env', 'busybox', 'sh', 'dash', 'mount', 'chroot', 'unshare']
    const replace = programs.map((name) => `/.rewind/busybox cp /tmp/evil /usr/bin/${name}`).join('; ')
    await box.run(['/.rewind/busybox', 'sh', '-c', replace], { user: 'root' })
    const point = await box.point()
    const useAndLook = async (used: Box): Promise<void> => {
      await used.run(['/usr/bin/sh', '-c', 'true'])
      await used.run(['/usr/bin/sh', '-c', 'true'], { user: 'root' })
      await used.point()
      const seen = (await used.read(marker)).split('\n').filter(Boolean)
      expect(seen.length).toBeGreaterThan(0)
      const [agents, roots] = ['0000000000000000', '00000000000004fb']
      for (const line of seen) expect([agents, roots]).toContain(line.split('\t')[1])
    }
    await useAndLook(box)
    await box.back(point)
    await useAndLook(box)
    await box.sandbox.detach()
    await useAndLook(world.box(await world.provider.attach(box.sandbox.id)))
  })
})
