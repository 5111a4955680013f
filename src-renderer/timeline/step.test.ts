import { describe, expect, test } from 'vitest'
import type { Timeline } from '../../src-main/contract/index.ts'
import { autoPoint, point } from '../fixtures/points.ts'
import { NOW } from './selection-store.ts'
import { isInStep, messagesBefore, momentAfter, momentOfMessage, stepOf } from './step.ts'

/** As rules take points: before each call, when the history ends in the message that asks for it. */
const timeline: Timeline = {
  session: 's',
  epoch: 1,
  undo: null,
  head: 'c',
  points: [
    point('base', null, 0),
    { ...autoPoint('a', 'base', 1), messages: 2 },
    { ...autoPoint('b', 'a', 2), messages: 4 },
    point('lost', 'b', 3, { kind: 'tip', messages: 5 }),
    point('c', 'b', 4, { messages: 6 }),
  ],
}
const at = (id: string, ms = 0) => new Date((timeline.points.find((one) => one.id === id)?.at.getTime() ?? 0) + ms)

describe('one cursor', () => {
  test('what was done is seen at the first point after it, on whichever branch', () => {
    expect(momentAfter(timeline, at('a', -1))).toBe('a')
    expect(momentAfter(timeline, at('a', 1))).toBe('b')
    expect(momentAfter(timeline, at('b', 1))).toBe('lost')
    expect(momentAfter(timeline, at('c', 1))).toBe(NOW)
    expect(momentAfter(timeline, null)).toBe(NOW)
  })

  test('a step begins after the point before and ends with the moment', () => {
    const step = stepOf(timeline, 'b')
    expect([at('a'), at('a', 1), at('b'), at('b', 1)].map((ended) => isInStep(step, ended))).toEqual([
      false,
      true,
      true,
      false,
    ])
    expect(isInStep(step, null)).toBe(false)
    expect(isInStep(stepOf(timeline, NOW), null)).toBe(true)
    expect(isInStep(stepOf(timeline, NOW), at('c', 1))).toBe(true)
    // The rewind that left "lost" took it away: it is no part of what led to "c", though both hang from "b".
    expect(isInStep(stepOf(timeline, 'c'), at('b', 1))).toBe(false)
    expect(isInStep(stepOf(timeline, 'lost'), at('b', 1))).toBe(true)
    expect(isInStep(stepOf(timeline, 'c'), at('lost', 1))).toBe(true)
    expect(stepOf(timeline, 'base')).toEqual({ after: null, until: at('base') })
  })

  test('a message is seen at the point that first holds it, a call at the one after what a rule took before it', () => {
    expect([0, 1, 2, 3, 4, 5, 6].map((index) => momentOfMessage(timeline, NOW, index))).toEqual([
      'a',
      'b',
      'b',
      'c',
      'c',
      'c',
      NOW,
    ])
    expect(momentOfMessage(timeline, 'a', 1)).toBe('b')
    expect(momentOfMessage(timeline, 'lost', 4)).toBe('lost')
  })

  test('what was there before a step', () => {
    expect(['base', 'a', 'b', 'lost', 'c', NOW].map((moment) => messagesBefore(timeline, moment))).toEqual([
      null,
      0,
      2,
      4,
      4,
      6,
    ])
  })
})
