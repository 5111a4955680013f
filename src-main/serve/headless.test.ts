import { describe, expect, test } from 'vitest'
import { InvalidOptionError } from '../contract/index.ts'
import { idleMinutes } from './idle.ts'

describe('how long a headless host stays', () => {
  test.each([
    [undefined, 15],
    ['', 15],
    ['2', 2],
    ['0.5', 0.5],
  ])('REWIND_IDLE_MINUTES %j is %d minutes', (given, minutes) => {
    expect(idleMinutes(given)).toBe(minutes)
  })

  test.each(['0', '-1', 'never', 'Infinity'])('REWIND_IDLE_MINUTES %j is refused', (given) => {
    expect(() => idleMinutes(given)).toThrow(InvalidOptionError)
  })
})
