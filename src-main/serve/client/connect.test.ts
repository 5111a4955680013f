import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type CommandResult,
  ConnectionLostError,
  fromRpcError,
  HostUnavailableError,
  InvalidOptionError,
  RewindError,
  type SessionEvent,
  StoreUnavailableError,
} from '../../contract/index.ts'
import type { Host } from '../host.ts'
import { MAX_MESSAGE_BYTES } from '../message-limit.ts'
import { version } from '../package-root.ts'
import { socketPath } from '../socket-path.ts'
import { FakeSessions, removeHome, startFakeHost, tempHome } from '../test-support.ts'
import { connectHost, type HostClient, isOlder } from './connect.ts'
import { LocalSocket } from './local-socket.ts'
import { cleanEnvironment } from './spawn-host.ts'

let home: string
let sessions: FakeSessions
let host: Host
let client: HostClient

beforeEach(async () => {
  home = tempHome()
  sessions = new FakeSessions()
  host = await startFakeHost(home, sessions)
  client = await connectHost({ home, start: false })
})

afterEach(async () => {
  client.close()
  await host.close()
  removeHome(home)
})

/** Processes that were started as hosts of a data folder, whether they became it or not. */
const hostsOf = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`REWIND_HOME=${folder}`)
      } catch {
        return false
      }
    })
    .map(Number)

async function replaceHost(next: FakeSessions = new FakeSessions()): Promise<void> {
  await host.close()
  await sleep(50)
  sessions = next
  host = await startFakeHost(home, next)
}

const result: CommandResult = {
  id: 'c',
  stdout: 'done',
  stderr: '',
  truncated: false,
  code: 0,
  signal: null,
  durationMs: 1,
  autoRollback: null,
}

/** Events 1, 2, 3, ... after `since`, one every 10 ms. */
const counting = async function* (since: number | null, signal?: AbortSignal): AsyncGenerator<SessionEvent> {
  for (let id = (since ?? 0) + 1; !signal?.aborted; id++) {
    yield { id, at: new Date(), session: 's', type: 'filesChanged' }
    await sleep(10)
  }
}

describe('a client', () => {
  test('goes on with the next host', async () => {
    expect((await client.rpc.host.info()).home).toBe(home)
    await replaceHost()
    expect((await client.rpc.host.info()).home).toBe(home)
  })

  test('a wait that is under way is taken up by the next host', async () => {
    const waited = client.rpc.commands.wait({ session: 's', id: 'c' })
    await sleep(50)
    const next = new FakeSessions()
    next.waiting.resolve(result)
    await replaceHost(next)
    expect(await waited).toEqual(result)
  })

  test('a wait that nobody waits for any more ends with the client', async () => {
    const waited = client.rpc.commands.wait({ session: 's', id: 'c' }).catch((error: unknown) => error)
    await sleep(50)
    client.close()
    expect(await waited).toBeInstanceOf(ConnectionLostError)
  })

  test('a call that waits for a connection ends with the client too', async () => {
    await host.close()
    const eager = await connectHost({ home, start: false })
    const asked = eager.rpc.sessions.list().catch((error: unknown) => error)
    eager.close()
    expect(await asked).toBeInstanceOf(RewindError)
  })

  test('a stream of events goes on without gap or repeat', async () => {
    sessions.events = counting
    const seen: number[] = []
    for await (const { id } of await client.rpc.events({ since: 0 })) {
      seen.push(id)
      if (id === 5) {
        const next = new FakeSessions()
        next.events = counting
        void replaceHost(next)
      }
      if (id >= 30) break
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
  })

  test('a stream that fails in the host says why', async () => {
    sessions.events = async function* () {
      yield { id: 1, at: new Date(), session: 's', type: 'filesChanged' }
      throw new StoreUnavailableError('Event 2 is damaged.', { nextStep: 'Load everything again.' })
    }
    const drain = async () => {
      for await (const { id } of await client.rpc.events({ since: 0 })) expect(id).toBe(1)
    }
    const failure = await drain().catch(fromRpcError)
    expect(failure).toBeInstanceOf(StoreUnavailableError)
    expect(failure).toMatchObject({ message: 'Event 2 is damaged.', nextStep: 'Load everything again.' })
  })

  test('an answer that no message can carry is an error, and the line goes on', async () => {
    sessions.file = 'x'.repeat(MAX_MESSAGE_BYTES + 1)
    const read = client.rpc.files.read({ session: 's', path: 'big' })
    await expect(read).rejects.toThrow('The answer is too large to be sent')
    await expect(read).rejects.toBeInstanceOf(InvalidOptionError)
    sessions.file = 'small'
    expect(await client.rpc.files.read({ session: 's', path: 'small' })).toEqual({
      content: 'small',
      encoding: 'utf-8',
    })
  })

  test('a question that no message can carry is not sent', async () => {
    const socket = await LocalSocket.open(socketPath(home))
    expect(() => socket.send(new Uint8Array(MAX_MESSAGE_BYTES + 1))).toThrow(InvalidOptionError)
    socket.close()
  })

  test('a call that changes something is not sent twice, and says that its outcome is not known', async () => {
    sessions.rollbackTakesMs = 5_000
    const rollback = client.rpc.timeline.rollback({ session: 's', to: 'stable' })
    const outcome = rollback.catch((error: unknown) => error)
    await expect.poll(() => sessions.rollbacks).toBe(1)
    const next = new FakeSessions()
    await replaceHost(next)
    const error = await outcome
    expect(error).toBeInstanceOf(ConnectionLostError)
    expect(error).toMatchObject({ message: expect.stringContaining('timeline.rollback'), nextStep: expect.any(String) })
    expect(next.rollbacks).toBe(0)
  })

  test('input that the contract refuses is a usage error that names the field', async () => {
    const error = await client.rpc.commands
      .start({ session: 's', id: 'not an id!', command: 'true' })
      .catch((error: unknown) => error)
    expect(error).toBeInstanceOf(InvalidOptionError)
    expect(String(error)).toMatch(/id/)
  })

  test('large messages pass both ways', async () => {
    const content = 'x'.repeat(3_000_000)
    const error = await client.rpc.files.write({ session: 's', path: 'a', content }).catch((error: unknown) => error)
    // The fake has no write: what matters is that the call came through to be refused for that.
    expect(String(error)).toMatch(/write/)
    const big = new FakeSessions()
    big.waiting.resolve({ ...result, stdout: content })
    await replaceHost(big)
    expect((await client.rpc.commands.wait({ session: 's', id: 'c' })).stdout).toBe(content)
  })
})

describe('with leave to start a host', () => {
  // One that lost the race may come late enough to win a second one: all that were started are looked for.
  afterEach(async () => {
    await expect
      .poll(() => {
        const left = hostsOf(home)
        for (const pid of left) process.kill(pid, 'SIGTERM')
        return left
      })
      .toEqual([])
  })

  /** Connects and tells of the host that answers. */
  async function hostOf(options: { version?: string } = {}): Promise<{ pid: number; version: string }> {
    const eager = await connectHost({ home, start: true, ...options })
    const info = await eager.rpc.host.info()
    eager.close()
    return info
  }

  test('one is started where none runs, in a session of its own, and found by all', async () => {
    await host.close()
    const infos = await Promise.all([hostOf(), hostOf(), hostOf()])
    expect(new Set(infos.map(({ pid }) => pid)).size).toBe(1)
    expect(infos[0]?.pid).not.toBe(process.pid)
  })

  test('one that is not in use starts none in the place of a host that ends, until it is used again', async () => {
    await host.close()
    const resting = await connectHost({ home, start: true })
    const { pid } = await resting.rpc.host.info()
    resting.inUse(false)
    process.kill(pid, 'SIGTERM')
    await expect.poll(() => hostsOf(home)).toEqual([])
    await sleep(300)
    expect(hostsOf(home)).toEqual([])
    resting.inUse(true)
    expect((await resting.rpc.host.info()).pid).not.toBe(pid)
    resting.close()
  })

  test('an idle host of an older version makes way for a new one', async () => {
    await host.close()
    host = await startFakeHost(home, sessions, { version: '0.0.1' })
    const { pid, version: theirs } = await hostOf({ version })
    expect(theirs).toBe(version)
    expect(pid).not.toBe(process.pid)
    expect(await host.closed).toBe('handed-over')
  })

  test('one that is at work stays, and so does one of the same version', async () => {
    expect((await hostOf({ version: '0.1.0' })).pid).toBe(process.pid)
    sessions.busy = true
    expect((await hostOf({ version: '99.0.0' })).pid).toBe(process.pid)
  })
})

describe('without a host', () => {
  test('and without leave to start one, that is said at once', async () => {
    await host.close()
    const lonely = await connectHost({ home, start: false })
    const error = await lonely.rpc.sessions.list().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(HostUnavailableError)
    expect(error).toMatchObject({ message: expect.stringContaining(home), exitCode: 4 })
    lonely.close()
  })
})

test.each([
  ['0.1.0', '0.2.0', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '1.0.0', false],
  ['1.0', '1.0.1', false],
  ['2.0.0', '1.9.9', false],
])('version %s is older than %s: %s', (a, b, expected) => {
  expect(isOlder(a, b)).toBe(expected)
})

test('a host gets no more of the environment than it needs', () => {
  expect(
    cleanEnvironment(
      {
        PATH: '/bin',
        LC_ALL: 'C',
        https_proxy: 'p',
        REWIND_IDLE_MINUTES: '1',
        NODE_OPTIONS: '--require /evil.js',
        LD_PRELOAD: '/evil.so',
        AWS_SECRET_ACCESS_KEY: 's',
        REWIND_SESSION: 'mine',
        REWIND_HOME: '/other',
      },
      '/data',
    ),
  ).toEqual({ PATH: '/bin', LC_ALL: 'C', https_proxy: 'p', REWIND_IDLE_MINUTES: '1', REWIND_HOME: '/data' })
})
