/** Control shells and holders that die: the next call finds the sandbox as it was, or as it was to become. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { shellCrashPoints } from '../../store/index.ts'
import { Box } from '../conformance/world.ts'
import { createLocalProvider } from './index.ts'
import { readProcess } from './processes.ts'
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

suiteNeeding(['local'], 'what is killed under the local engine', () => {
  for (const point of shellCrashPoints) {
    test(`control shell killed at ${point}`, () => {
      const { home, workspace } = place()
      const operation = point.endsWith('copied') ? 'live' : point.includes('checkpoint') ? 'checkpoint' : 'rollback'
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
      expect(seen).toMatchObject({ again: false, now: operation === 'rollback' ? 'point\npoint' : 'later\nlater' })
      expect(seen.processes).toEqual(operation === 'live' ? ['sleep 300'] : [])
    })
  }

  test('control shell killed between calls', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const box = new Box(
      await provider.create({ id: 'a', workspace, base: 'auto', network: true, env: {}, hidden: [home] }),
    )
    onTestFinished(() => box.sandbox.destroy())
    const server = await box.sandbox.exec({ id: 'server', command: 'sleep 0.5; echo end' })
    const pids = execFileSync('sh', [
      '-c',
      `grep -lz "^FOLDER=${home}/sandboxes/a$" /proc/[0-9]*/environ 2>/dev/null || :`,
    ])
    // The control shell alone is a child of ours; what it started, and what waits for that, is not.
    for (const path of pids.toString().split('\n').filter(Boolean)) {
      const pid = Number(path.split('/')[2])
      if (readProcess(pid)?.parent === process.pid) process.kill(pid, 'SIGKILL')
    }
    await box.write('f', 'x')
    expect(await box.say('cat f')).toBe('x')
    expect((await box.sandbox.checkpoint('c')).changed).toBe(true)
    expect(await server.ended).toMatchObject({ status: 'exited', code: 0 })
  })

  test('holder killed: processes are lost, files are not', async () => {
    const { home, workspace } = place()
    const provider = createLocalProvider({ home })
    const box = new Box(
      await provider.create({ id: 'b', workspace, base: 'auto', network: true, env: {}, hidden: [home] }),
    )
    const running = await box.sandbox.exec({ id: 'long', command: 'echo up; sleep 300' })
    await box.say('echo kept >f; echo kept >/tmp/f')
    process.kill(stateOf(home, 'b').holder?.pid ?? 0, 'SIGKILL')
    expect(await running.ended).toMatchObject({ status: 'lost' })
    expect(await box.say('cat f /tmp/f')).toBe('kept\nkept')
    await box.sandbox.detach()
    process.kill(stateOf(home, 'b').holder?.pid ?? 0, 'SIGKILL')
    const again = new Box(await createLocalProvider({ home }).attach('b'))
    onTestFinished(() => again.sandbox.destroy())
    expect(again.sandbox.losses).toEqual([expect.stringContaining('processes were ended')])
    expect(await again.say('cat f /tmp/f')).toBe('kept\nkept')
    expect(await again.sandbox.checkpoint('c')).toMatchObject({ changed: true })
    await again.back(again.sandbox.facts.baseState)
    expect(await again.say('ls -A; ls /tmp/f 2>&1 | wc -l')).toBe('1')
  })

  test('another boot: the head is opened, what was not frozen stays aside', async () => {
    const { home, workspace } = place()
    const box = new Box(
      await createLocalProvider({ home }).create({
        id: 'c',
        workspace,
        base: 'auto',
        network: true,
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
