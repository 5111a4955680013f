import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EngineUnavailableError, FileNotFoundError } from '../../contract/index.ts'
import { ThreadClient } from './index.ts'

const client = (notice?: (value: unknown) => void) => new ThreadClient('test-thread', import.meta, notice)

test('calls are answered side by side, each with what belongs to it', async () => {
  const thread = client()
  const slow = thread.call<number>('after', 50, 1)
  expect(await thread.call<number>('after', 0, 2)).toBe(2)
  expect(await slow).toBe(1)
})

test('an error comes as the class that was thrown, with its next step', async () => {
  const refused = client().call('refuse')
  await expect(refused).rejects.toBeInstanceOf(FileNotFoundError)
  await expect(refused).rejects.toMatchObject({ message: 'gone', nextStep: 'look elsewhere', data: { path: 'x' } })
})

test('bytes are handed over whole', async () => {
  const bytes = await client().call<Uint8Array>('bytes', 3 << 20)
  expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([3 << 20, 7, 7])
})

test('a thread that dies fails what waits for it, and the next call starts another', async () => {
  const thread = client()
  const waiting = thread.call('after', 60_000, 1)
  const died = expect(waiting).rejects.toBeInstanceOf(EngineUnavailableError)
  void thread.call('die').catch(() => {})
  await died
  expect(await thread.call<number>('after', 0, 3)).toBe(3)
})

test('what it says unasked is heard', async () => {
  const heard: unknown[] = []
  const thread = client((value) => heard.push(value))
  await thread.call('say', 'hello')
  for (let tries = 0; heard.length === 0 && tries < 100; tries++) await sleep(10)
  expect(heard).toEqual(['hello'])
})
