import { expect, test } from 'vitest'
import { createPacer } from './pacer.ts'

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('the first wish is done at once', () => {
  let runs = 0
  createPacer(async () => {
    runs++
  })()
  expect(runs).toBe(1)
})

test('a burst is two runs: one at its start, one that sees its end', async () => {
  let state = 0
  const seen: number[] = []
  const want = createPacer(async () => {
    seen.push(state)
    await later(10)
  })
  for (state = 1; state < 1000; state++) want()
  await later(400)
  expect(seen).toEqual([1, 1000])
})

test('never two at once, and what is wanted later is done later', async () => {
  let running = 0
  let most = 0
  let runs = 0
  const want = createPacer(async () => {
    runs++
    most = Math.max(most, ++running)
    await later(20)
    running--
  })
  want()
  await later(5)
  want()
  await later(500)
  want()
  await later(50)
  expect(most).toBe(1)
  expect(runs).toBe(3)
})
