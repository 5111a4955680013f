/** Control shells and holders that die: the next call finds the sandbox as it was, or as it was to become. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { shellCrashPoints } from '../../store/index.ts'
import { Box } from '../conformance/world.ts'
import { createLocalProvider } from './index.ts'
import { isAlive, readProcess } from './processes.ts'
import type { SandboxState } from './state.ts'

function place(): { home: string; workspace: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-crash-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'project')
  mkdirSync(workspace)
  if (process.getuid?.() === 0) {
    execFileSync('chmod', ['755', folder])
    chownSync(workspace, 1000, 1000)
  }
  return { home: join(folder, 'data'), workspace }
}

const stateOf = (home: string, id: string): SandboxState =>
  JSON.parse(readFileSync(join(home, 'sandboxes', id, 'state.json'), 'utf8')) as SandboxState

/** They alone are children of ours; what they started, and what waits for that, is not. */
function controlShells(home: string, id: string): number[] {
  const script = `grep -lz "^FOLDER=${home}/sandboxes/${id}$" /proc/[0-9]*/environ 2>/dev/null || :`
  const paths = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean)
  return paths.map((path) => Number(path.split('/')[2])).filter((pid) => readProcess(pid)?.parent === process.pid)
}

suiteNeeding(['local'], 'what is killed under the local engine', () => {
  // Nothing is left to copy where the kernel refuses to rename a folder.
  const reachable = shellCrashPoints.filter((point) => process.getuid?.() === 0 || !point.endsWith('renamed'))
  for (const point of reachable) {
    test(`control shell killed at ${point}`, () => {
      const { home, workspace } = place()
      mkdirSync(join(workspace, 'folder'))
      writeFileSync(join(workspace, 'folder/inner'), 'inner')
      if (process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', workspace])
      const kind = point.includes('checkpoint') ? 'checkpoint' : 'rollback'
      const operation = point.endsWith('copied') ? 'live' : point.endsWith('renamed') ? `${kind}-renamed` : kind
      const said = execFileSync(
        process.execPath,
        [join(import.meta.dirname, 'crash-child.ts'), home, workspace, operation],
        {
          env: { ...process.env, REWIND_CRASH_AT: point },
          encoding: 'utf8',
        },
      )
      const seen = JSON.parse(said) as Record<string, unknown>
      // The armed shell is gone, so the point was reached; and the operation was done by the one after it.
      expect(seen).toMatchObject({ before: 1, after: 0, changed: true, frozen: 'later\n' })
      expect(seen).toMatchObject({ again: false, now: kind === 'rollback' ? 'point\npoint' : 'later\nlater' })
      expect(seen.renamed).toBe(operation.endsWith('renamed') ? 'inner' : null)
      expect(seen.processes).toEqual(operation === 'live' ? ['sleep 300'] : [])
    })
  }

  test('launcher killed: what goes on is neither hidden by its number nor left by a rollback', async () => {
    const { home, workspace } = place()
    const box = new Box(
      await createLocalProvider({ home }).create({
        id: 'l',
        workspace,
        base: 'auto',
        network: true,
        image: null,
        scope: 'workspace',
        env: {},
        hidden: [home],
      }),
    )
    onTestFinished(() => box.sandbox.destroy())
    const { baseState } = box.sandbox.facts
    // Its supervisor bears the launcher's name too. What stays is one process beside the holder.
    const killing =
      'for p in $(grep -lz rewind-launche[r] /proc/[0-9]*/cmdline); do kill -9 $(basename $(dirname $p)); done'
    await box.sandbox.exec({ id: 'killer', command: `${killing}; echo x >f; exec sleep 300` })
    const running = async () => (await box.sandbox.processes()).map((process) => process.command)
    await expect.poll(running).toEqual(['sleep 300'])
    expect((await box.back(baseState)).stopped.map((process) => process.command)).toEqual(['sleep 300'])
    expect(await box.say('echo on')).toBe('on')
  })

  test('the shells that wait for the next command killed: it is started all the same, once', async () => {
    const { home, workspace } = place()
    const own = { image: null, scope: 'workspace', env: {}, hidden: [home] } as const
    const spec = { id: 'w', workspace, base: 'auto', network: true, ...own } as const
    const box = new Box(await createLocalProvider({ home }).create(spec))
    onTestFinished(() => box.sandbox.destroy())
    // They read a pipe, the launcher a socket. The supervisor of this command is its parent.
    const killing = [
      'for p in $(grep -lz rewind-launche[r] /proc/[0-9]*/cmdline); do p=$(basename $(dirname $p))',
      'case $p,$(readlink /proc/$p/fd/0) in $PPID,*|*,socket:*) ;; *) kill -9 $p; echo killed ;; esac; done',
    ].join('; ')
    // As soon as they wait, which is after the command began.
    expect(await box.say(`sleep 1; ${killing}`)).toBe('killed\nkilled')
    expect(await box.say('echo once >>f; cat f')).toBe('once')
    expect(await box.sandbox.processes()).toEqual([])
  })

  test('everything inside killed by a short command: what the next ones start is theirs to end', async () => {
    const { home, workspace } = place()
    const own = { image: null, scope: 'workspace', env: {}, hidden: [home] } as const
    const spec = { id: 'x', workspace, base: 'auto', network: true, ...own } as const
    const box = new Box(await createLocalProvider({ home }).create(spec))
    onTestFinished(() => box.sandbox.destroy())
    const deadly = await box.sandbox.exec({ id: 'deadly', command: 'kill -9 -1' })
    await deadly.ended
    await sleep(100)
    for (const id of ['one', 'two', 'three']) {
      const slow = await box.sandbox.exec({ id, command: 'sleep 300 & sleep 301', timeoutMs: 400 })
      expect((await slow.ended).status).toBe('timed-out')
      expect(await box.sandbox.processes()).toEqual([])
    }
    expect(await box.say('echo on')).toBe('on')
  })

  test('control shell killed where none can be opened for a while: an adopted command is still seen to end', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const first = await provider.create({
      id: 'd',
      workspace,
      base: 'auto',
      network: true,
      image: null,
      scope: 'workspace',
      env: {},
      hidden: [home],
    })
    await first.exec({ id: 'adopted', command: 'sleep 2; exit 3' })
    await first.detach()
    const again = await createLocalProvider({ home }).attach('d')
    onTestFinished(() => again.destroy())
    const [adopted] = await again.commands()
    const lock = join(home, 'sandboxes', 'd', 'lock')
    rmSync(lock)
    mkdirSync(lock)
    for (const pid of controlShells(home, 'd')) process.kill(pid, 'SIGKILL')
    await sleep(600)
    rmSync(lock, { recursive: true })
    expect(await adopted?.ended).toMatchObject({ status: 'exited', code: 3 })
  })

  test('control shell killed between calls', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const box = new Box(
      await provider.create({
        id: 'a',
        workspace,
        base: 'auto',
        network: true,
        image: null,
        scope: 'workspace',
        env: {},
        hidden: [home],
      }),
    )
    onTestFinished(() => box.sandbox.destroy())
    const server = await box.sandbox.exec({ id: 'server', command: 'sleep 0.5; echo end' })
    for (const pid of controlShells(home, 'a')) process.kill(pid, 'SIGKILL')
    await box.write('f', 'x')
    expect(await box.say('cat f')).toBe('x')
    expect((await box.sandbox.checkpoint('c')).changed).toBe(true)
    expect(await server.ended).toMatchObject({ status: 'exited', code: 0 })
  })

  test('control shell killed right after an operation: what is made ready then takes nobody along', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const box = new Box(
      await provider.create({
        id: 'r',
        workspace,
        base: 'auto',
        network: true,
        image: null,
        scope: 'workspace',
        env: {},
        hidden: [home],
      }),
    )
    onTestFinished(() => box.sandbox.destroy())
    for (let round = 0; round < 5; round++) {
      await box.write('f', String(round))
      await box.sandbox.checkpoint(`c${round}`)
      for (const pid of controlShells(home, 'r')) process.kill(pid, 'SIGKILL')
      await sleep(20)
      expect(await box.say('cat f')).toBe(String(round))
    }
  })

  test('holder killed: processes are lost, files are not', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const box = new Box(
      await provider.create({
        id: 'b',
        workspace,
        base: 'auto',
        network: true,
        image: null,
        scope: 'workspace',
        env: {},
        hidden: [home],
      }),
    )
    const running = await box.sandbox.exec({ id: 'long', command: 'echo up; sleep 300' })
    await box.say('echo kept >f; echo kept >/tmp/f')
    process.kill(stateOf(home, 'b').holder?.pid ?? 0, 'SIGKILL')
    // In the new namespace the numbers begin anew: this one may have those of the one that is lost.
    const next = await box.sandbox.exec({ id: 'next', command: 'echo up; sleep 300' })
    expect(await running.ended).toMatchObject({ status: 'lost' })
    expect(await Promise.race([next.ended, sleep(0, 'runs')])).toBe('runs')
    expect(await box.say('cat f /tmp/f')).toBe('kept\nkept')
    await box.sandbox.detach()
    process.kill(stateOf(home, 'b').holder?.pid ?? 0, 'SIGKILL')
    const again = new Box(await createLocalProvider({ home }).attach('b'))
    onTestFinished(() => again.sandbox.destroy())
    expect(again.sandbox.losses).toEqual([expect.stringContaining('processes were ended')])
    const nextAgain = (await again.sandbox.commands()).find(({ id }) => id === 'next')
    expect(await nextAgain?.ended).toMatchObject({ status: 'lost' })
    expect(await again.say('cat f /tmp/f')).toBe('kept\nkept')
    expect(await again.sandbox.checkpoint('c')).toMatchObject({ changed: true })
    await again.back(again.sandbox.facts.baseState)
    expect(await again.say('ls -A; ls /tmp/f 2>&1 | wc -l')).toBe('1')
  })

  test('host killed before it wrote down the holder: removing it ends the holder all the same', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const sandbox = await provider.create({
      id: 'e',
      workspace,
      base: 'auto',
      network: true,
      image: null,
      scope: 'workspace',
      env: {},
      hidden: [home],
    })
    await sandbox.detach()
    const { holder } = stateOf(home, 'e')
    const path = join(home, 'sandboxes', 'e', 'state.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"holder":\{[^}]*\}/, '"holder":null'))
    expect(stateOf(home, 'e').holder).toBeNull()
    expect(holder && isAlive(holder)).toBe(true)
    expect(await createLocalProvider({ home }).remove('e')).toBeNull()
    expect(holder && isAlive(holder)).toBe(false)
  })

  test('another boot: the head is opened, what was not frozen stays aside', async () => {
    const { home, workspace } = place()
    const box = new Box(
      await createLocalProvider({ home }).create({
        id: 'c',
        workspace,
        base: 'auto',
        network: true,
        image: null,
        scope: 'workspace',
        env: {},
        hidden: [home],
      }),
    )
    await box.write('f', 'frozen')
    const point = await box.point()
    await box.write('f', 'torn')
    await box.sandbox.detach()
    const path = join(home, 'sandboxes', 'c', 'state.json')
    process.kill(stateOf(home, 'c').holder?.pid ?? 0, 'SIGKILL')
    execFileSync('sed', ['-i', 's/"bootId":"[^"]*"/"bootId":"another"/', path])
    const again = new Box(await createLocalProvider({ home }).attach('c'))
    expect((await again.sandbox.status()).head).toEqual(point)
    expect(await again.read('f')).toBe('frozen')
    // Both are said: what is out of view, and that nobody knows whether the checkpoint was on disk.
    expect(again.sandbox.losses).toEqual([
      expect.stringContaining('is no longer in view'),
      expect.stringContaining('may not have reached the disk'),
    ])
    await again.sandbox.detach()
    process.kill(stateOf(home, 'c').holder?.pid ?? 0, 'SIGKILL')
    execFileSync('sed', [
      '-i',
      's/"bootId":"[^"]*"/"bootId":"third"/; s/"syncedThrough":[0-9]*/"syncedThrough":99/',
      path,
    ])
    const third = await createLocalProvider({ home }).attach('c')
    onTestFinished(() => third.destroy())
    expect(third.losses).toHaveLength(1)
  })
})
