import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Remembered } from '../host/remembered.ts'
import { createTroubleStore, isTroubled } from './trouble.ts'

/** What outlives pages, and which of them live. */
let kept: { falls: Remembered; inView: Remembered }
let living: Set<string> | null
let pages = 0

const memory = (): Remembered => {
  let value: string | null = null
  return {
    get: () => value,
    set: (next) => {
      value = next
    },
  }
}
const page = async () => {
  const name = `page-${pages++}`
  const store = createTroubleStore(
    kept,
    { hold: (held) => void living?.add(held), living: async () => living && new Set(living) },
    name,
  )
  await store.look()
  return { ...store, crash: () => void living?.delete(name) }
}

beforeEach(() => {
  vi.useFakeTimers()
  kept = { falls: memory(), inView: memory() }
  living = new Set()
})
afterEach(() => vi.useRealTimers())

test('a session in view at two crashes is shut; another is not', async () => {
  const first = await page()
  first.shows('bad')
  first.crash()
  const second = await page()
  expect(second.isShut('bad')).toBe(false)
  second.shows('bad')
  second.crash()
  const third = await page()
  expect(third.isShut('bad')).toBe(true)
  expect(third.isShut('other')).toBe(false)
  // Nothing is counted twice.
  expect((await page()).getState().falls.bad).toHaveLength(2)
})

test('a page that goes in good order, or still lives, takes no blame; nor is any guessed at', async () => {
  for (let at = 0; at < 3; at++) {
    const closed = await page()
    closed.shows('good')
    closed.shows(null)
    closed.crash()
    const other = await page()
    other.shows('good')
  }
  living = null
  const blind = await page()
  blind.shows('good')
  const last = await page()
  expect(last.getState().falls).toEqual({})
})

test('falls far apart are accidents', async () => {
  const { fell, isShut } = await page()
  fell('s')
  vi.advanceTimersByTime(20 * 60_000)
  fell('s')
  expect(isShut('s')).toBe(false)
  fell('s')
  expect(isShut('s')).toBe(true)
  expect(isTroubled(undefined)).toBe(false)
})

test('let in by a person it is shown; a fall shuts it again, and a minute without one forgives it', async () => {
  const { admit, fell, getState, isShut, shows } = await page()
  fell('s')
  fell('s')
  admit('s')
  expect(isShut('s')).toBe(false)
  shows('s')
  fell('s')
  expect(isShut('s')).toBe(true)
  vi.advanceTimersByTime(120_000)
  expect(isShut('s')).toBe(true)

  shows(null)
  admit('s')
  shows('s')
  vi.advanceTimersByTime(61_000)
  expect(getState().falls).toEqual({})
  expect((await page()).isShut('s')).toBe(false)
})

test('what is kept and makes no sense counts as nothing', async () => {
  kept.falls.set('[[')
  kept.inView.set('null')
  expect((await page()).getState().falls).toEqual({})
})
