import { describe, expect, test } from 'vitest'
import { have, PARTS, requiredParts } from './parts.ts'

describe('what the machine has', () => {
  test('every missing part says why and what to do', () => {
    for (const part of PARTS) {
      const presence = have(part)
      if (!presence.ok) expect([presence.reason, presence.remedy].every((text) => text.length > 5)).toBe(true)
    }
  })

  test('root does not count as an ordinary user', () => {
    if (process.getuid?.() === 0) expect(have('userns')).toMatchObject({ ok: false, reason: 'running as root' })
    else expect(have('userns')).toEqual(have('local'))
  })
})

describe('REWIND_REQUIRE', () => {
  test('names parts', () => {
    expect(requiredParts('local, browser')).toEqual(['local', 'browser'])
    expect(requiredParts(undefined)).toEqual([])
  })

  test('refuses a name that is no part', () => {
    expect(() => requiredParts('local,broswer')).toThrow(/'broswer'; there are local, userns, browser, agents/)
  })
})
