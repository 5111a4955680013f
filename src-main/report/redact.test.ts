import { expect, test } from 'vitest'
import { redactor } from './redact.ts'

test('values of the environment go, the longest first, and say which they were', () => {
  const clean = redactor({ DB_URL: 'postgres://u:secret99@db', PASS: 'secret99' })
  expect(clean('connect postgres://u:secret99@db with secret99')).toBe(
    'connect [redacted: DB_URL] with [redacted: PASS]',
  )
})

test.each([
  ['a value in JSON', 'say "hunter22"', 'say "hunter22"'],
  ['one of several lines in JSON', 'first\nhunter22', 'first\nhunter22'],
  ['one with letters that are not ASCII', 'pässwörd😀', 'pässwörd😀'],
  ['a line of it', '{\n  "private_key_id": "0123456789abcdef"\n}\n', '"private_key_id": "0123456789abcdef"'],
  ['all of it but the line break at its end', 'hunter22\n', 'hunter22'],
])('a secret is found however it is written: %s', (_, value, text) => {
  const clean = redactor({ KEY: value })
  const json = JSON.stringify({ summary: text })
  const ascii = json.replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  expect(clean(text)).toBe('[redacted: KEY]')
  for (const written of [json, ascii]) expect(clean(written)).toBe('{"summary":"[redacted: KEY]"}')
})

test('what occurs in any text stays', () => {
  const clean = redactor({ DEBUG: 'true', PORT: '8000', MODE: 'production', X: '', SHORT: 'abc' })
  expect(clean('true 8000 production abc')).toBe('true 8000 production abc')
})

test('a value is text, not a pattern, and cannot smuggle one in', () => {
  expect(redactor({ A: '.*.*.*' })('all of it')).toBe('all of it')
  expect(redactor({ 'A$&': 'hunter22' })('x hunter22 y')).toBe('x [redacted: A$&] y')
})

test.each([
  ['sk-ant-', 'api03-abcdefghijklmnopqrstuvwxyz'],
  ['gh', `p_${'a1B2'.repeat(9)}`],
  ['AK', `IA${'ABCD'.repeat(4)}`],
  ['xo', 'xb-1234567890-abcdef'],
  ['ey', 'JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N'],
])('a token of a known shape goes: %s', (start, rest) => {
  const token = start + rest
  const text = redactor({})(`Authorization: ${token} failed`)
  expect(text).not.toContain(token)
  expect(text).toContain('[redacted: token]')
})

test('a private key goes whole, also where its end is missing', () => {
  const key = `-----BEGIN ${'PRIVATE'} KEY-----\nMIIabc\n`
  expect(redactor({})(`a\n${key}-----END ${'PRIVATE'} KEY-----\nb`)).toBe('a\n[redacted: token]\nb')
  expect(redactor({})(`a\n${key}`)).toBe('a\n[redacted: token]')
})

test('twice is as once, and ordinary text stays', () => {
  const clean = redactor({ KEY: 'hunter22' })
  const text = 'tests/test_api.py::test_skip FAILED, e.g. sk-learn, hunter22'
  expect(clean(clean(text))).toBe(clean(text))
  expect(clean(text)).toBe('tests/test_api.py::test_skip FAILED, e.g. sk-learn, [redacted: KEY]')
})

test.each([
  ['-eyJ'],
  ['eyJ'],
  ['.eyJ'],
  ['.eyJaaaaaaaa'],
  ['eyJaaaaaaaa.aaaaaaaa.'],
  ['eyJaaaaaaaa.aaaaaaaa.aa '],
  [`.eyJ${'a'.repeat(4096)}`],
  [`eyJ${'a'.repeat(4096)}.${'a'.repeat(65_536)}.`],
  ['-----BEGIN '],
  ['-----BEGIN A'],
  ['PRIVATE KEY-----BEGIN PRIVATE KEY'],
  [`-----BEGIN ${'PRIVATE KEY '.repeat(1000)}`],
  ['-----END A', `-----BEGIN ${'PRIVATE'} KEY-----`],
  ['-----END PRIVATE KEY', `-----BEGIN ${'PRIVATE'} KEY-----`],
  ['-'],
  ['a', 'sk-'],
  ...[
    'sk-',
    'sk-ant-',
    'sk_live_',
    'ghp_',
    'github_pat_',
    'glpat-',
    'xoxb-',
    'npm_',
    'pypi-',
    'hf_',
    'AIza',
    'AKIA',
  ].flatMap((start) => [[start], [`-${start}`], [`.${start}aaaaaaaaaa`], [`.${start}${'A0'.repeat(600)}`]]),
])('a text that is written to be slow to look through is not: %.30s', (unit, start = '') => {
  const clean = redactor({ KEY: 'hunter22' })
  for (const size of [1 << 16, 1 << 20]) {
    const text = start + unit.repeat(size / unit.length)
    const before = process.threadCpuUsage()
    clean(text)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan((2 * size) / (1 << 20))
  }
})

test('a text of any length is looked through to its end', () => {
  expect(() => redactor({})(`sk-${'a'.repeat(1 << 26)}`)).not.toThrow()
})
