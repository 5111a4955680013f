import { describe, expect, test } from 'vitest'
import { InvalidOptionError } from '../contract/index.ts'
import { assertSendable } from './sendable.ts'

const LIMIT = 20_000

describe('an answer', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['small', { content: 'x'.repeat(1000), at: new Date(), list: [1, null, true] }],
    ['near the limit, of plain letters', { content: 'x'.repeat(18_000) }],
    ['a stream', (async function* () {})()],
  ])('that is %s is sent', (_what, answer) => {
    expect(() => assertSendable(answer, LIMIT)).not.toThrow()
  })

  test.each<[string, unknown]>([
    ['one long text', { content: 'x'.repeat(LIMIT) }],
    ['many short texts', Array.from({ length: 3000 }, () => 'xxxxxxxx')],
    ['long keys', { ['k'.repeat(LIMIT)]: 1 }],
    ['control characters, which grow', { content: '\u0001'.repeat(LIMIT / 5) }],
    ['letters of several bytes', { content: '日'.repeat(LIMIT / 2) }],
    ['numbers', Array.from({ length: 3000 }, () => 1_000_000)],
  ])('that is too large by %s is refused', (_what, answer) => {
    expect(() => assertSendable(answer, LIMIT)).toThrow(InvalidOptionError)
  })

  test('that no string could hold is refused without building it', () => {
    const third = '\u0001'.repeat(100_000_000)
    expect(() => assertSendable({ content: third }, 600_000_000)).toThrow(InvalidOptionError)
  })
})
