/** Several clients on one session: nobody acts on files that are gone, and nobody waits for another. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { RewindSession, SessionRewoundError, session } from './index.ts'
import { type SdkHome, sdkHome, warningsDuring } from './testing.ts'
import type { RewindNotice } from './types.ts'

let home: SdkHome

/** Runs a program of another process with the SDK; what it prints. */
const elsewhere = async (program: string): Promise<string> => {
  const sdk = JSON.stringify(join(import.meta.dirname, 'index.ts'))
  const text = `const sdk = await import(${sdk}); ${program}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', text])
  return stdout
}

suiteNeeding(['local'], 'several clients on one session', () => {
  beforeAll(() => {
    home = sdkHome()
  })
  afterAll(() => home.remove())

  test('the first call that changes something after a rewind by another process is refused with what happened', async () => {
    const mine = await session({ name: 'shared', workspace: home.folder('shared') })
    await mine.writeFile('a', 'one')
    await mine.checkpoint('stable', { messages: [{ role: 'user', content: 'go' }] })
    await mine.writeFile('a', 'two')
    expect(
      await elsewhere(`
        const s = await new sdk.RewindSession({ name: 'shared' }).attach()
        console.log(await s.readFile('a', 'utf-8'))
        await s.rollback('stable')
        console.log(await s.readFile('a', 'utf-8'))
      `),
    ).toBe('two\none\n')

    const error = await mine.writeFile('b', 'x').catch((error: unknown) => error)
    expect(error).toBeInstanceOf(SessionRewoundError)
    expect((error as Error).message).toMatch(/not carried out.*\[REWIND\].*A person rewound.*"stable".*Read again: a/s)
    expect(error).toMatchObject({
      data: {
        epoch: 1,
        rewinds: [{ by: 'you', to: 'stable' }],
        files: { modified: 1 },
        paths: ['a'],
        messages: [{ role: 'user', content: 'go' }, { role: 'system' }],
      },
    })
    await expect(mine.readFile('b')).rejects.toThrow()
    await mine.writeFile('b', 'x')
    expect(await mine.readFile('b', 'utf-8')).toBe('x')
    await mine.destroy()
  })

  test('a sub-agent is given its own history, and an undo is not made over a rewind that was not heard of', async () => {
    const mine = await session({ name: 'subs', workspace: home.folder('subs') })
    await mine.syncMemory([{ role: 'user', content: 'review' }], { conversation: 'sub' })
    await mine.checkpoint('stable', { messages: [{ role: 'user', content: 'go' }] })
    await mine.writeFile('a', 'two')
    await home.ask((rpc) => rpc.timeline.rollback({ session: mine.id, to: 'stable' }))
    const error = await mine
      .syncMemory([{ role: 'user', content: 'more' }], { conversation: 'sub' })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({
      data: { conversation: 'sub', epoch: 1, messages: [{ role: 'user', content: 'review' }, { role: 'system' }] },
    })
    await mine.writeFile('a', 'three')
    await home.ask((rpc) => rpc.timeline.rollback({ session: mine.id, to: 'stable' }))
    await expect(mine.undo()).rejects.toBeInstanceOf(SessionRewoundError)
    await mine.destroy()
  })

  test('a call that only looks is answered, and tells of it once', async () => {
    const mine = await session({ name: 'looked', workspace: home.folder('looked') })
    await mine.writeFile('a', 'one')
    await mine.checkpoint('stable')
    const other = await new RewindSession({ name: 'looked' }).attach()
    await mine.writeFile('a', 'two')
    await other.rollback('stable')

    const notices: RewindNotice[] = []
    const stop = mine.on('rewound', (notice) => notices.push(notice))
    expect(await Promise.all([mine.readFile('a', 'utf-8'), mine.readFile('a', 'utf-8')])).toEqual(['one', 'one'])
    expect(notices).toMatchObject([{ epoch: 1, rewinds: [{ to: 'stable' }], paths: ['a'] }])
    await mine.status()
    expect(notices).toHaveLength(1)
    // Whoever looks may be another part of the program than the one that acts.
    await expect(mine.run('true')).rejects.toBeInstanceOf(SessionRewoundError)
    await mine.run('true')

    stop()
    await mine.writeFile('a', 'three')
    await other.rollback('stable')
    expect(await warningsDuring(() => mine.getMessages())).toMatchObject([{ code: 'REWIND_REWOUND' }])
    await expect(mine.destroy()).rejects.toBeInstanceOf(SessionRewoundError)
    await mine.destroy()
  })

  test('a tool is not called on files that are gone; the model hears of it and calls again', async () => {
    const mine = await session({ name: 'tools', workspace: home.folder('tools') })
    await mine.checkpoint('stable')
    await mine.writeFile('a', 'two')
    const other = await new RewindSession({ name: 'tools' }).attach()
    await other.rollback('stable')
    let calls = 0
    const tool = mine.tool(() => `called ${++calls}`, { name: 'look' })
    expect(await tool()).toMatch(/^ERROR: This call was not carried out\.\n\[REWIND\].*"stable".*Read again: a/s)
    expect(await tool()).toBe('called 1')
    await mine.destroy()
  })

  test('a program that ends without ending its session ends, and the session goes on', async () => {
    const workspace = JSON.stringify(home.folder('left'))
    const began = `
      const s = await sdk.session({ name: 'left', workspace: ${workspace} })
      await s.exec('sleep 600', { background: true })
      console.log(await s.run('echo begun'))
    `
    expect(await elsewhere(began)).toBe('begun\n')
    const found = await new RewindSession({ name: 'left' }).attach()
    expect(JSON.stringify((await found.status()).processes)).toContain('sleep 600')
    await found.destroy()
  })

  test('own rewinds are nobody else’s', async () => {
    const mine = await session({ name: 'own', workspace: home.folder('own') })
    await mine.checkpoint('stable')
    for (let round = 0; round < 3; round++) {
      await mine.writeFile('a', String(round))
      await mine.rollback('stable')
      await mine.undo()
    }
    expect(await mine.readFile('a', 'utf-8')).toBe('2')
    await mine.destroy()
  })

  test('calls side by side need no lock', async () => {
    const mine = await session({ name: 'many', workspace: home.folder('many') })
    const numbers = Array.from({ length: 12 }, (_, at) => at)
    await Promise.all(numbers.map((n) => mine.writeFile(`f${n}`, String(n))))
    const outputs = await Promise.all(numbers.map((n) => mine.run(`cat f${n}; echo x >> log`)))
    expect(outputs).toEqual(numbers.map(String))
    await Promise.all(numbers.map((n) => (n % 3 === 0 ? mine.checkpoint(`c${n}`) : mine.run('cat log'))))
    expect((await mine.checkpoints()).map(({ label }) => label).sort()).toEqual(['c0', 'c3', 'c6', 'c9'])
    await mine.destroy()
  })
})
