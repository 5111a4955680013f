import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HostRunningError } from '../contract/index.ts'
import { writeHostFile } from './host-file.ts'
import { acquireLock, tryLock } from './lock.ts'
import { removeHome, tempHome } from './test-support.ts'

const SOURCE = join(import.meta.dirname, 'lock.ts')

let home: string
const children: ChildProcess[] = []

beforeEach(() => {
  home = tempHome()
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  removeHome(home)
})

/** A process that tries for the lock, says whether it has it, and keeps it. */
function contender(): { child: ChildProcess; answer: Promise<string> } {
  const script = `const { tryLock } = await import(${JSON.stringify(SOURCE)});
    console.log(tryLock(${JSON.stringify(home)}) ? 'won' : 'lost'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return { child, answer: once(child.stdout as NodeJS.ReadableStream, 'data').then(([data]) => String(data).trim()) }
}

describe('the lock of a data folder', () => {
  test('of processes that try at the same moment exactly one wins', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => contender().answer))
    expect(answers.toSorted()).toEqual(['lost', 'lost', 'lost', 'lost', 'lost', 'won'])
  })

  test('is free at once when its owner is killed', async () => {
    const { child, answer } = contender()
    expect(await answer).toBe('won')
    expect(tryLock(home)).toBeNull()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = tryLock(home)
    expect(lock).not.toBeNull()
    lock?.release()
  })

  test('a second opener is told who the owner is', async () => {
    const { child, answer } = contender()
    await answer
    const pid = child.pid as number
    writeHostFile(home, {
      pid,
      version: '9',
      kind: 'app',
      socket: '',
      url: null,
      mcp: null,
      token: null,
      startedAt: '',
    })
    const error = await acquireLock(home).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(HostRunningError)
    expect(error).toMatchObject({ data: { pid }, message: expect.stringContaining(`process ${pid} (app, version 9)`) })
  })

  test('what a dead host left in host.json is not taken for the owner', async () => {
    const dead = spawn('true')
    await once(dead, 'exit')
    writeHostFile(home, {
      pid: dead.pid as number,
      version: '9',
      kind: 'app',
      socket: '',
      url: null,
      mcp: null,
      token: null,
      startedAt: '',
    })
    await contender().answer
    await expect(acquireLock(home)).rejects.toMatchObject({ code: 'HOST_RUNNING', data: { pid: null } })
  })

  test('a file in its place that is no lock is an error, not a silent second host', async () => {
    writeFileSync(join(home, 'host.lock'), 'this is no database, and long enough to be looked at as one'.repeat(40))
    await expect(acquireLock(home)).rejects.toThrow(/not a database/)
  })
})
