import { expect, test } from 'vitest'
import { CancelledError } from '../contract/index.ts'
import { OneAtATime } from './one-at-a-time.ts'

test('one after another, also after one that failed, without those called off', async () => {
  const queue = new OneAtATime()
  const seen: string[] = []
  let running = 0
  const work =
    (name: string, fails = false) =>
    async () => {
      expect(++running).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      seen.push(name)
      if (fails) throw new Error(name)
    }
  const off = new AbortController()
  const all = [
    queue.run(work('first', true)),
    queue.run(work('called off'), off.signal),
    queue.run(work('last')),
    queue.run(work('never asked'), AbortSignal.abort()),
  ]
  off.abort()
  await expect(all[1]).rejects.toBeInstanceOf(CancelledError)
  expect(seen).toEqual([])
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
  ])
  expect(seen).toEqual(['first', 'last'])
})
