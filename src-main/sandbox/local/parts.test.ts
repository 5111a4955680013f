/** The engine's parts that can be tried without a sandbox. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EngineUnavailableError, InvalidOptionError } from '../../contract/index.ts'
import { quote } from '../channel/index.ts'
import { LocalCommand } from './command.ts'
import { Gate } from './gate.ts'
import { parse } from './launcher.ts'
import { escapeOctal, mountOf, parseMounts, readOnlyOptions } from './mountinfo.ts'
import { overlayOptions, overlayWords, standsAt } from './overlay.ts'
import { type RootPlan, remounts, skeletonPoints } from './root-plan.ts'
import { folderName } from './run-folder.ts'

const MOUNTS = parseMounts(
  [
    '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard',
    '31 27 0:28 / /mnt/a\\040b rw,nosuid,noexec,noatime - tmpfs t rw',
    '32 27 0:29 / /snap/x ro,nodev,nosuid,relatime - squashfs s ro',
    '33 27 0:30 / /run/m/w rw,nosuid - overlay rewind rw,lowerdir=3:2:0,upperdir=4,workdir=../k/4,fsync=volatile',
    '34 27 0:31 / /tmp rw - tmpfs t rw',
    '',
  ].join('\n'),
)

test('mountinfo: points, flags and options as the kernel writes them', () => {
  expect(mountOf(MOUNTS, '/mnt/a b/c')?.point).toBe('/mnt/a b')
  expect(mountOf(MOUNTS, '/mnt/a bc')?.point).toBe('/')
  expect(readOnlyOptions(mountOf(MOUNTS, '/mnt/a b'))).toBe('ro,nosuid,nodev,noexec,noatime')
  expect(escapeOctal('a b\t\n\\#')).toBe('a\\040b\\011\\012\\134\\043')
})

test('overlay: stands only with exactly these layers, and writable', () => {
  expect(standsAt(MOUNTS, '/run/m/w', { upper: 4, lowers: [3, 2, 0] })).toBe(true)
  expect(standsAt(MOUNTS, '/run/m/w', { upper: 4, lowers: [3, 2] })).toBe(false)
  expect(standsAt(MOUNTS, '/run/m/w', { upper: 5, lowers: [3, 2, 0] })).toBe(false)
  expect(standsAt(MOUNTS, '/mnt/a b', { upper: 4, lowers: [3, 2, 0] })).toBe(false)
  const readOnly = MOUNTS.map((mount) => ({
    ...mount,
    options: mount.options.map((one) => (one === 'rw' ? 'ro' : one)),
  }))
  expect(standsAt(readOnly, '/run/m/w', { upper: 4, lowers: [3, 2, 0] })).toBe(false)
})

test('overlay: a stack that the kernel would cut off is refused', () => {
  const lowers = (count: number): number[] => Array.from({ length: count }, (_, at) => count - 1 - at)
  expect(overlayWords({ upper: 500, work: 501, lowers: lowers(490) }, 'root')).toMatch(/^500 501 489:488:/)
  expect(() => overlayWords({ upper: 500, work: 501, lowers: lowers(491) }, 'root')).toThrow(EngineUnavailableError)
  const long = lowers(400).map((number) => number + 1_000_000_000)
  expect(overlayOptions('user').length + long.join(':').length).toBeGreaterThan(4_000)
  expect(() => overlayWords({ upper: 1, work: 1, lowers: long }, 'user')).toThrow(EngineUnavailableError)
})

test('root plan: what is covered or read-only already costs no remount', () => {
  const plan: RootPlan = {
    home: '/home/agent',
    places: [{ folder: 'tmp', inside: '/tmp', mode: 0o1777 }],
    masks: ['/home'],
    shown: ['/home/me/tools'],
    runs: 'run',
    image: null,
  }
  expect(remounts(plan, MOUNTS).map(({ point }) => point)).toEqual(['/', '/mnt/a b'])
  const own = ['/run/k/mask-0/agent', '/run/k/mask-0/me/tools']
  expect(skeletonPoints(plan, '/home/me/project')).toEqual([...own, '/run/k/mask-0/me/project'])
  expect(skeletonPoints(plan, '/homes/me')).toEqual(own)
  expect(skeletonPoints(plan, '/run/user/1/x')).toEqual([...own, '/run/k/run/user/1/x'])
  expect(skeletonPoints(plan, '/tmp/project')).toEqual(own)
})

test('quote: any text is one word; NUL is none', () => {
  expect(quote("it's $x")).toBe("'it'\\''s $x'")
  expect(() => quote('a\0')).toThrow(InvalidOptionError)
})

test('launcher: a line that it cannot have written is no news', () => {
  expect(parse('ended a 137 signal')).toEqual({ kind: 'ended', folder: 'a', code: 137, signalled: true })
  expect(parse('ended a 3 ')).toEqual({ kind: 'ended', folder: 'a', code: 3, signalled: false })
  expect(parse('started a')).toEqual({ kind: 'started', folder: 'a' })
  expect(parse('ahead 7 8')).toEqual({ kind: 'ahead', supervisor: 7, command: 8 })
  for (const line of ['ahead', 'ahead 7', 'ahead 0 8', 'ahead 7 x']) expect(parse(line)).toBeNull()
  for (const line of ['', 'ended', 'ended a', 'ended a x', 'ended a 99999', 'stopped a']) expect(parse(line)).toBeNull()
})

test('run folder: any id has a safe name, and two ids never share one', () => {
  expect(folderName('abc-1.2_3')).toBe('abc-1.2_3')
  const odd = ['../x', '', '.', 'a/b', 'a b', 'x'.repeat(300), 'ü']
  for (const id of odd) expect(folderName(id)).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(odd.map(folderName)).size).toBe(odd.length)
})

test('gate: shared uses run together, an exclusive one alone and in its turn', async () => {
  const gate = new Gate()
  const seen: string[] = []
  let inside = 0
  const use = (name: string, alone: boolean) => async (): Promise<void> => {
    inside++
    if (alone) expect(inside).toBe(1)
    await sleep(10)
    inside--
    seen.push(name)
  }
  const failing = gate.exclusive(() => Promise.reject(new Error('no')))
  const all = [
    gate.shared(use('a', false)),
    gate.shared(use('b', false)),
    gate.exclusive(use('c', true)),
    gate.shared(use('d', false)),
  ]
  await expect(failing).rejects.toThrow('no')
  await Promise.all(all)
  expect(seen).toEqual(['a', 'b', 'c', 'd'])
})

// A disk of its own can only be made as root.
test.runIf(process.getuid?.() === 0)('command: a disk that fills up while output is waited for is told', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'rewind-parts-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 't', disk])
  try {
    const output = Buffer.alloc((1 << 20) + 100)
    const command = new LocalCommand(
      { id: 'a', startedAt: 0, deadline: null },
      {
        size: async () => output.length,
        // As it is while a checkpoint has the sandbox to itself.
        read: async (_, offset, limit) => sleep(20, output.subarray(offset, offset + limit)),
        type: async () => {},
        resize: async () => {},
        kill: async () => {},
        remove: async () => expect.unreachable('it was not collected'),
      },
    )
    const target = { stdout: join(disk, 'out'), stderr: join(disk, 'err') }
    await expect(command.collect(target)).rejects.toThrow('ENOSPC')
  } finally {
    execFileSync('umount', [disk])
    rmdirSync(disk)
  }
})

test('a command that is found gone while it is being ended was ended so, and is not lost', async () => {
  const command = () =>
    new LocalCommand(
      { id: 'a', startedAt: 0, deadline: null },
      {
        size: async () => 0,
        read: async () => new Uint8Array(),
        type: async () => {},
        resize: async () => {},
        kill: () => sleep(50),
        remove: async () => {},
      },
    )
  const late = command()
  const killing = late.kill('timed-out')
  late.vanished()
  await killing
  expect(await late.ended).toMatchObject({ status: 'timed-out', signal: 'SIGKILL' })
  const gone = command()
  gone.vanished()
  expect(await gone.ended).toMatchObject({ status: 'lost', signal: null })
})
