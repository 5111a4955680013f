import { describe, expect, test } from 'vitest'
import type { ReportLine } from './parts.ts'
import { type Outcome, summarise } from './summary.ts'

const outcome = (fields: Partial<Outcome> = {}): Outcome => ({
  title: '',
  passed: ['a', 'b', 'c'],
  failed: [],
  skipped: [],
  exitCode: 0,
  report: [],
  ...fields,
})
const noBrowser: ReportLine = { suite: 'window', missing: 'browser', reason: 'no Chromium', remedy: 'install chromium' }
const asRoot: ReportLine = { suite: 'engine', missing: 'userns', reason: 'running as root', remedy: 'be ordinary' }
const shut: ReportLine = { suite: 'engine', missing: 'userns', reason: 'no user namespaces', remedy: 'sysctl' }

const broke = { test: 'd', why: 'Error: expected 1\nto be 2\n    at a.test.ts:1:1' }

describe('the end of a test run', () => {
  test('adds up the runs', () => {
    const { lines, ok } = summarise([outcome(), outcome({ passed: ['a', 'b', 'c', 'd'] })], [])
    expect(lines).toEqual(['not run: nothing, all suites ran', '7 passed, 0 failed'])
    expect(ok).toBe(true)
  })

  test('says what was left out, why, and how to have it, and is still green', () => {
    const { lines, ok } = summarise([outcome({ report: [noBrowser, { ...noBrowser, suite: 'pictures' }] })], [])
    expect(lines).toEqual(['not run: browser (no Chromium; install chromium; 2 suites)', '3 passed, 0 failed'])
    expect(ok).toBe(true)
  })

  test('a suite that one user could not run and the other did is not left out', () => {
    const { lines } = summarise(
      [outcome({ report: [asRoot] }), outcome({ report: [{ suite: 'engine', ran: ['userns'] }] })],
      ['userns'],
    )
    expect(lines).toEqual(['not run: nothing, all suites ran', '6 passed, 0 failed'])
  })

  test('the reason is that of the run that came nearest', () => {
    const { lines } = summarise([outcome({ report: [asRoot] }), outcome({ report: [shut] })], [])
    expect(lines[0]).toBe('not run: userns (no user namespaces; sysctl; 1 suite)')
  })

  test('a part that only the first run missed is not named', () => {
    const needsBoth: ReportLine[] = [asRoot, { ...noBrowser, suite: 'engine' }]
    const { lines } = summarise([outcome({ report: needsBoth }), outcome({ report: needsBoth.slice(1) })], [])
    expect(lines[0]).toBe('not run: browser (no Chromium; install chromium; 1 suite)')
  })

  test('tests that skip themselves are named, unless another run ran them', () => {
    const first = outcome({ skipped: ['only for users', 'needs a rare tool', 'window needs browser (no Chromium; x)'] })
    const { lines } = summarise([first, outcome({ passed: ['only for users'] })], [])
    expect(lines[0]).toBe("not run, by a condition of their own: 'needs a rare tool'")
  })

  test('of a long reason the beginning and the end are told', () => {
    const why = `again with seed 7\n${'a step\n'.repeat(500)}Error: it was another`
    const { lines } = summarise([outcome({ failed: [{ test: 'd', why }], exitCode: 1 })], [])
    expect(lines[0]).toMatch(/^failed: d: again with seed 7 a step .* \[…\] .* a step Error: it was another$/)
    expect(lines[0]?.length).toBeLessThan(700)
  })

  test('a promised part that nothing needed is red', () => {
    const { lines, ok } = summarise([outcome()], ['local'])
    expect(lines).toContain('REWIND_REQUIRE promises local, but no suite that needs it ran')
    expect(lines.at(-1)).toBe('3 passed, 1 failed')
    expect(ok).toBe(false)
  })

  test('what failed is named at the end, with the user and the reason', () => {
    const { lines } = summarise(
      [outcome(), outcome({ title: 'as an ordinary user', failed: [broke], exitCode: 1 })],
      [],
    )
    expect(lines[0]).toBe('failed as an ordinary user: d: Error: expected 1 to be 2')
  })

  test.each([
    ['a failed test', { failed: [broke, broke], exitCode: 1 }, 2],
    ['an unhandled error', { exitCode: 1 }, 1],
    ['a killed runner', { passed: [], exitCode: 137 }, 1],
  ])('%s is red', (_what, fields, failed) => {
    const { lines, ok } = summarise([outcome(fields)], [])
    expect(lines.at(-1)).toMatch(new RegExp(`, ${failed} failed$`))
    expect(ok).toBe(false)
  })
})
