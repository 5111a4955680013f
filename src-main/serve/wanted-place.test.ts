import { expect, test } from 'vitest'
import type { Place } from '../contract/index.ts'
import { WantedPlace } from './wanted-place.ts'

function places() {
  let kept: string | null = null
  let time = 1_000_000
  const setting = {
    load: () => kept,
    save: (value: string) => {
      kept = value
    },
  }
  const clock = {
    pass: (ms: number) => {
      time += ms
    },
  }
  return { open: () => new WantedPlace(setting, () => time), clock }
}
const next = async (stream: AsyncGenerator<Place>) => (await stream.next()).value as Place
/** Whether nothing comes. */
const isQuiet = (stream: AsyncGenerator<Place>) =>
  Promise.race([stream.next().then(() => false), new Promise((resolve) => setTimeout(resolve, 20, true))])

test('windows that are open go there at once, and of several the last counts', async () => {
  const wanted = places().open()
  const windows = [wanted.follow(null), wanted.follow(null)]
  const first = windows.map(next)
  const here = wanted.want('s1', 'now')
  expect(await Promise.all(first)).toEqual([here, here])
  wanted.want('s1', 'now')
  const there = wanted.want('s2', 'a-ckpt-3')
  expect(await Promise.all(windows.map(next))).toEqual([there, there])
})

test('a window that is opened soon after goes there, whoever else did, at this host or the next', async () => {
  const { open, clock } = places()
  const first = open()
  const told = first.follow(null)
  const place = first.want('s2', 'a-ckpt-3')
  expect(await next(told)).toEqual(place)
  clock.pass(60_000)
  const later = open()
  expect(await next(later.follow(null))).toEqual(place)
  expect(await next(later.follow(null))).toEqual(place)
  clock.pass(60_000)
  expect(await isQuiet(later.follow(null))).toBe(true)
})

test('a window that asks again, having gone there, is left where it is', async () => {
  const { open } = places()
  const wanted = open()
  const place = wanted.want('s1', 'now')
  expect(await isQuiet(wanted.follow(place.wanted))).toBe(true)
  const again = open().want('s1', 'now')
  expect(again.wanted).toBeGreaterThan(place.wanted)
})

test('a window that goes is no longer told', async () => {
  const wanted = places().open()
  const leave = new AbortController()
  const end = wanted.follow(null, leave.signal).next()
  leave.abort()
  expect((await end).done).toBe(true)
})

test('what is damaged keeps no host from starting', async () => {
  for (const kept of ['', '{', '{"place":{"session":"s1","at":"now"},"at":7}']) {
    const wanted = new WantedPlace({ load: () => kept, save: () => {} })
    expect(await isQuiet(wanted.follow(null))).toBe(true)
  }
})
