/** Files and messages on a disk that is really full: each step is done whole or not at all, and says which. */
import { execFileSync } from 'node:child_process'
import { closeSync, globSync, openSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { DiskFullError, type Message, RewindError } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, messagesOf, rollback, type TestHome, testHome, write } from './testing.ts'

let home: TestHome
let manager: SessionManager
let close: () => Promise<void>

const isRoot = process.getuid?.() === 0
const filler = () => join(home.home, 'filler')

beforeEach(async () => {
  home = testHome()
  // A disk of its own can only be made as root.
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m,mode=700', 'rewind-test', home.home])
  ;({ manager, close } = await home.open())
})
afterEach(async () => {
  rmSync(filler(), { force: true })
  await close()
  const { manager: last, close: end } = await home.open()
  for (const { id, status } of last.list()) if (status !== 'destroyed') await last.find(id).destroy()
  await end()
  if (isRoot) await unmount(home.home)
  rmSync(home.folder, { recursive: true, force: true })
})

/** What a thread of the host had open there is closed a moment after it. */
async function unmount(path: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      execFileSync('umount', [path], { stdio: 'pipe' })
      return
    } catch (error) {
      if (tries === 600) throw new Error(`still open there: ${openBelow(path).join(', ')}`, { cause: error })
      await sleep(50)
    }
  }
}

/** Which process has what open below a folder, or works in it. */
function openBelow(folder: string): string[] {
  return globSync('/proc/[0-9]*/{cwd,root,fd/*,map_files/*}').flatMap((link) => {
    try {
      const target = readlinkSync(link)
      return target.startsWith(folder) ? [`${link} ${target}`] : []
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

/** To the last byte: what is there afterwards goes page by page. */
function fill(): void {
  const fd = openSync(filler(), 'a')
  try {
    for (const size of [1 << 20, 4096, 1]) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(size, 1))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(fd)
  }
}

const said = (content: string): Message[] => [{ role: 'user', content }]

async function standing(session: Session) {
  const { points, head, epoch } = session.timeline()
  const { content } = await session.read({ path: 'file', at: 'now', encoding: null })
  return { points: points.map(({ id }) => id), head, epoch, messages: messagesOf(session), content }
}

suiteNeeding(['local'], 'a full disk', () => {
  const steps: Record<string, (session: Session) => Promise<unknown>> = {
    write: (session) => write(session, 'file', 'x'.repeat(2 << 20)),
    checkpoint: (session) => checkpoint(session, 'b', said('and more')),
    rollback: (session) => rollback(session, 'a'),
    undo: (session) => session.undo(),
  }
  test.runIf(isRoot).each(Object.entries(steps))('%s: all as it was, or done', async (name, step) => {
    const session = await begin(manager, home.workspace)
    await write(session, 'file', 'at a')
    await checkpoint(session, 'a', said('at a'))
    if (name === 'undo') {
      await write(session, 'file', 'was left')
      await rollback(session, 'a')
    }
    await write(session, 'file', 'after a')
    const before = await standing(session)

    fill()
    const failure = await step(session).then(
      () => null,
      (error: unknown) => error,
    )
    if (failure !== null) {
      expect(failure).toBeInstanceOf(RewindError)
      const { cause } = failure as RewindError
      expect(
        [failure, cause].some((error) => error instanceof DiskFullError),
        String(failure),
      ).toBe(true)
      expect(await standing(session)).toEqual(before)
    }
    // Writing more than there is room for must have failed.
    if (name === 'write') expect(failure).toBeInstanceOf(DiskFullError)

    rmSync(filler())
    if (failure !== null) await step(session)
    const after = await standing(session)
    const expected = {
      write: { ...before, content: 'x'.repeat(2 << 20) },
      checkpoint: { head: after.points.at(-1), epoch: before.epoch, messages: said('and more'), content: 'after a' },
      rollback: { head: before.head, epoch: before.epoch + 1, content: 'at a' },
      undo: { epoch: before.epoch + 1, content: 'was left' },
    }[name]
    expect(after).toMatchObject(expected ?? {})
    expect((await checkpoint(session, 'goes on')).label).toBe('goes on')
  })
})
