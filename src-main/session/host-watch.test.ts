/** What a session says of its workspace on the host, and that it goes on where the disk is full. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { hostNotice, pointHostNotice } from '../contract/index.ts'
import type { Session, SessionManager } from './index.ts'
import { checkpoint, run, type TestHome, testHome } from './testing.ts'

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

async function beginOn(base: 'copy' | 'live'): Promise<Session> {
  if (process.getuid?.() === 0)
    for (const path of ['', 'kept.txt']) fs.chownSync(join(home.workspace, path), 1000, 1000)
  await sleep(20)
  const { session } = await manager.create({
    name: 'test',
    workspace: home.workspace,
    explicit: true,
    create: false,
    force: false,
    engine: 'auto',
    mode: 'interactive',
    base,
    network: true,
    env: {},
  })
  const begun = manager.find(session.id)
  await until(() => begun.summary().host?.checked === true)
  return begun
}
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++, await sleep(20)) if (tries > 500) throw new Error('not within 10 s')
}
const edit = (text: string) => fs.writeFileSync(join(home.workspace, 'kept.txt'), text)
const pointNamed = (session: Session, id: string) => session.timeline().points.find((point) => point.id === id)

suiteNeeding(['local'], 'the workspace on the host', () => {
  test('live: an edit on the host is told, shows in the sandbox, and the next point says so', async () => {
    const session = await beginOn('live')
    expect(hostNotice(session.summary())).toBeNull()
    edit('edited on the host\n')
    await until(() => session.summary().host?.changed === 1)
    expect(hostNotice(session.summary())).toMatch(
      /^1 entry changed on the host .*: kept\.txt\. They show in the sandbox/,
    )
    expect((await run(session, 'cat kept.txt')).stdout).toBe('edited on the host\n')

    const { id } = await checkpoint(session, 'after the edit')
    await until(() => pointNamed(session, id)?.host?.changed === 1)
    const said = pointNamed(session, id)
    expect(said && pointHostNotice(said)).toBe('1 entry changed on the host before this point.')

    // Nothing more: nothing to say.
    const next = await checkpoint(session, 'next')
    await until(() => pointNamed(session, next.id)?.files !== null)
    await sleep(100)
    expect(pointNamed(session, next.id)?.host).toBeNull()
  })

  test('copy: an edit on the host is told, and the sandbox still has the file as it was', async () => {
    const session = await beginOn('copy')
    edit('edited on the host\n')
    await until(() => session.summary().host?.changed === 1)
    expect(hostNotice(session.summary())).toContain('The sandbox still has them as they were.')
    expect((await run(session, 'cat kept.txt')).stdout).toBe('as it was\n')
  })

  test('what changes while no host runs is known to the next one', async () => {
    const { id } = await beginOn('live')
    await close()
    edit('edited on the host\n')
    ;({ manager, close } = await home.open())
    await until(() => manager.find(id).summary().host?.changed === 1)
  })

  test('a workspace that is moved away is said to be, and nothing of it is left when the session goes', async () => {
    const session = await beginOn('live')
    fs.renameSync(home.workspace, `${home.workspace}-moved`)
    await until(() => session.summary().host?.there === false)
    expect(hostNotice(session.summary())).toContain('was moved, removed or replaced')
    expect((await run(session, 'cat kept.txt')).stdout).toBe('as it was\n')
    await session.destroy()
    expect(session.summary().host).toBeNull()
    expect(fs.readdirSync(join(home.home, 'manifests'))).toEqual([])
  })
})
