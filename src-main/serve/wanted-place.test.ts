import { expect, test } from 'vitest'
import type { Place } from '../contract/index.ts'
import { WantedPlace } from './wanted-place.ts'

const here: Place = { session: 's1', at: 'now' }
const there: Place = { session: 's2', at: 'a-ckpt-3' }

function places() {
  let kept: string | null = null
  let time = 0
  const setting = {
    load: () => kept,
    save: (value: string) => {
      kept = value
    },
  }
  const clock = { pass: (ms: number) => (time += ms) }
  return { open: () => new WantedPlace(setting, () => time), clock }
}
const next = async (stream: AsyncGenerator<Place>) => (await stream.next()).value as Place
/** Whether nothing comes. */
const isQuiet = (stream: AsyncGenerator<Place>) =>
  Promise.race([stream.next().then(() => false), new Promise((resolve) => setTimeout(resolve, 20, true))])

test('windows that are open go there at once, and the last of several counts', async () => {
  const wanted = places().open()
  const windows = [wanted.follow(), wanted.follow()]
  const first = windows.map(next)
  wanted.want(here)
  expect(await Promise.all(first)).toEqual([here, here])
  wanted.want(here)
  wanted.want(there)
  expect(await Promise.all(windows.map(next))).toEqual([there, there])
})

test('the next window that is opened goes there, at this host or the next, once and not much later', async () => {
  const { open, clock } = places()
  open().want(there)
  clock.pass(20_000)
  const later = open()
  expect(await next(later.follow())).toEqual(there)
  expect(await isQuiet(later.follow())).toBe(true)
  later.want(here)
  clock.pass(30_000)
  expect(await isQuiet(later.follow())).toBe(true)
})

test('a window that goes is no longer told', async () => {
  const wanted = places().open()
  const leave = new AbortController()
  const stream = wanted.follow(leave.signal)
  const end = stream.next()
  leave.abort()
  expect((await end).done).toBe(true)
  wanted.want(here)
  expect(await next(wanted.follow())).toEqual(here)
})
