import { expect, test } from 'vitest'
import { askerOf, whoAsks } from './asker.ts'

test('a terminal is one, whatever runs in it; all without are one together', () => {
  const stat = (name: string, session: number, terminal: number) =>
    `12 (${name}) S 1 12 ${session} ${terminal} -1 4194304`
  expect(askerOf(stat('node', 7, 34816))).toBe('terminal 34816 of 7')
  expect(askerOf(stat('a) b (c', 7, 34816))).toBe('terminal 34816 of 7')
  expect(askerOf(stat('node', 8, 34816))).not.toBe(askerOf(stat('node', 7, 34816)))
  expect(askerOf(stat('node', 8, 0))).toBe(askerOf(stat('node', 7, 0)))
  expect(askerOf(null)).toBe('no terminal')
  expect(whoAsks()).toMatch(/terminal/)
})
