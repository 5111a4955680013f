import { beforeEach, describe, expect, test } from 'vitest'
import { BrowserAuth } from './browser-auth.ts'

let stored: string | null
let now: number
const storage = {
  load: () => stored,
  save: (value: string) => {
    stored = value
  },
}
const open = () => new BrowserAuth(storage, () => now)

beforeEach(() => {
  stored = null
  now = 1_000_000
})

const keyOf = (auth: BrowserAuth): string => {
  const result = auth.exchange(auth.newCode())
  if (!result.ok) throw new Error('a fresh code was refused')
  return result.key
}

describe('codes', () => {
  test('a code works once', () => {
    const auth = open()
    const code = auth.newCode()
    expect(auth.exchange(code).ok).toBe(true)
    expect(auth.exchange(code)).toEqual({ ok: false, reason: 'wrong' })
  })

  test('a code lives 60 seconds', () => {
    const auth = open()
    const [first, second] = [auth.newCode(), auth.newCode()]
    now += 59_999
    expect(auth.exchange(first).ok).toBe(true)
    now += 2
    expect(auth.exchange(second)).toEqual({ ok: false, reason: 'wrong' })
  })

  test('after ten wrong ones every code is void, and a minute later there may be new ones', () => {
    const auth = open()
    const code = auth.newCode()
    for (let n = 0; n < 10; n++) expect(auth.exchange(`wrong ${n}`)).toEqual({ ok: false, reason: 'wrong' })
    expect(auth.exchange(code)).toEqual({ ok: false, reason: 'too-many' })
    now += 60_001
    expect(auth.exchange(code)).toEqual({ ok: false, reason: 'wrong' })
    expect(auth.exchange(auth.newCode()).ok).toBe(true)
  })
})

describe('keys', () => {
  test('one that was given out is admitted, others and none are not', () => {
    const auth = open()
    const key = keyOf(auth)
    expect(auth.admits(key)).toBe(true)
    expect(auth.admits(`${key}x`)).toBe(false)
    expect(auth.admits('')).toBe(false)
    expect(auth.admits(null)).toBe(false)
  })

  test('a restart of the host signs nobody out, and the store holds nothing that signs in', () => {
    const key = keyOf(open())
    expect(stored).not.toContain(key)
    expect(open().admits(key)).toBe(true)
  })

  test('one that was not used for 30 days is over; use prolongs it', () => {
    const auth = open()
    const [used, unused] = [keyOf(auth), keyOf(auth)]
    now += 20 * 86_400_000
    expect(auth.admits(used)).toBe(true)
    now += 20 * 86_400_000
    expect(auth.admits(used)).toBe(true)
    expect(auth.admits(unused)).toBe(false)
  })

  test('a damaged record signs out and nothing more', () => {
    for (const damaged of ['{', '7', '[{"hash": 3}, null]', '{"hash":"x"}']) {
      stored = damaged
      expect(keyOf(open())).toBeTruthy()
    }
  })
})
