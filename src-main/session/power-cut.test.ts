/**
 * After a power cut. A real one cannot be had here: the store is put back as it was when it last reached the disk, and the
 * sandbox bears the id of another boot.
 */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, rollback, run, type TestHome, testHome, tree, write } from './testing.ts'

let home: TestHome
let manager: SessionManager
let close: () => Promise<void>

beforeEach(async () => {
  home = testHome()
  ;({ manager, close } = await home.open())
})
afterEach(async () => {
  await close()
  await home.remove()
})

const FILES = ['store.db', 'store.db-wal', 'store.db-shm']
const ends = (at: string, name: string) => [join(home.home, name), join(home.home, `${name}.${at}`)] as const

/** What of the store is on the disk, where nothing after it gets there. */
function remember(): void {
  for (const name of FILES) {
    const [path, kept] = ends('kept', name)
    if (existsSync(path)) copyFileSync(path, kept)
  }
}

async function powerCut(id: string): Promise<Session> {
  const state = join(home.home, 'sandboxes', id, 'state.json')
  await close()
  const { holder } = JSON.parse(readFileSync(state, 'utf8')) as { holder: { pid: number } }
  process.kill(holder.pid, 'SIGKILL')
  writeFileSync(state, readFileSync(state, 'utf8').replace(/"bootId":"[^"]*"/, '"bootId":"another"'))
  for (const name of FILES) {
    const [path, kept] = ends('kept', name)
    rmSync(path, { force: true })
    if (existsSync(kept)) copyFileSync(kept, path)
  }
  ;({ manager, close } = await home.open())
  return manager.find(id)
}

const labels = (session: Session) => session.timeline().points.map((point) => point.label ?? point.kind)

suiteNeeding(['local'], 'after a power cut', () => {
  test.each([
    ['a checkpoint', (session: Session) => checkpoint(session, 'lost')],
    ['a rewind', (session: Session) => rollback(session, 'base')],
  ])('%s that the store does not know of: the files stand as its timeline says', async (_, operation) => {
    const session = await begin(manager, home.workspace)
    await write(session, 'f', 'one')
    await checkpoint(session, 'one')
    remember()
    await write(session, 'f', 'two')
    await operation(session)

    const again = await powerCut(session.id)
    expect(await tree(again)).toBe('./f: one\n./kept.txt: as it was\n')
    expect(labels(again)).toEqual(['base', 'one'])
    expect(again.timeline().head).toBe(again.timeline().points.at(-1)?.id)

    // The next three operations work.
    await run(again, 'echo three >f')
    await checkpoint(again, 'three')
    await rollback(again, 'one')
    expect(await tree(again)).toBe('./f: one\n./kept.txt: as it was\n')
    await again.undo()
    expect(await tree(again)).toBe('./f: three\n./kept.txt: as it was\n')
  })
})
