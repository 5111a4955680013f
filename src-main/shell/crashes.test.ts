import { expect, test } from 'vitest'
import { Crashes } from './crashes.ts'

test('a few crashes are put up with, many within a minute are not', () => {
  const crashes = new Crashes()
  expect([0, 10_000, 20_000, 30_000].map((now) => crashes.isOften(now))).toEqual([false, false, false, true])
  crashes.forget()
  expect([40_000, 70_000, 110_000, 140_000, 185_000].map((now) => crashes.isOften(now))).toEqual(Array(5).fill(false))
})
