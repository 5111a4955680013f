import { expect, test } from 'vitest'
import { Askers } from './index.ts'

const clock = () => {
  const time = { now: 1_000_000 }
  return { time, askers: new Askers(() => time.now) }
}

test('a handler is asked alone, also in the mode that asks nobody else', () => {
  const { askers } = clock()
  const gone = askers.arrive('handler', 's1')
  askers.arrive('window', null)
  expect(askers.whoFor('s1', 'interactive')).toBe('handler')
  expect(askers.whoFor('s1', 'agent')).toBe('handler')
  expect(askers.whoFor('s2', 'interactive')).toBe('everybody')
  gone()
  expect(askers.whoFor('s1', 'interactive')).toBe('everybody')
  expect(askers.whoFor('s1', 'agent')).toBe('nobody')
})

test('a window is there while it is open and for a minute after', () => {
  const { askers, time } = clock()
  expect(askers.whoFor('s1', 'interactive')).toBe('nobody')
  const gone = askers.arrive('window', null)
  time.now += 600_000
  expect(askers.whoFor('s1', 'interactive')).toBe('everybody')
  gone()
  time.now += 59_999
  expect(askers.whoFor('s1', 'interactive')).toBe('everybody')
  time.now += 1
  expect(askers.whoFor('s1', 'interactive')).toBe('nobody')
})

test('a terminal is there for its session while it shows the question; the app always', () => {
  const { askers } = clock()
  const gone = askers.arrive('terminal', 's1')
  expect([askers.whoFor('s1', 'interactive'), askers.whoFor('s2', 'interactive')]).toEqual(['everybody', 'nobody'])
  gone()
  expect(askers.whoFor('s1', 'interactive')).toBe('nobody')
  askers.app = true
  expect(askers.whoFor('s1', 'interactive')).toBe('everybody')
  expect(askers.whoFor('s1', 'agent')).toBe('nobody')
})

test('changes are told once the work of now is over, however many there were', async () => {
  const { askers } = clock()
  let told = 0
  const stop = askers.listen(() => told++)
  askers.changed()
  askers.arrive('window', null)
  expect(told).toBe(0)
  await Promise.resolve()
  expect(told).toBe(1)
  stop()
  const abort = new AbortController()
  const next = askers.next(abort.signal)
  abort.abort()
  await next
  expect(told).toBe(1)
})
