import { afterEach, describe, expect, test, vi } from 'vitest'
import { CommandError, InternalError } from '../contract/index.ts'
import { bytes } from '../contract/text.ts'
import { ago, Output, snakeCase, table } from './output.ts'

afterEach(() => vi.restoreAllMocks())

function captured(options: { json?: boolean; quiet?: boolean }) {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      texts[name] += String(text)
      return true
    })
  return { out: new Output({ json: options.json ?? false, quiet: options.quiet ?? false }), texts }
}

describe('with --json', () => {
  test('a result is one object in snake_case', () => {
    const { out, texts } = captured({ json: true })
    out.line('not shown')
    out.result({ durationMs: 3, takenAt: new Date(0) }, 'text')
    expect(texts.stdout).toBe('{"success":true,"data":{"duration_ms":3,"taken_at":"1970-01-01T00:00:00.000Z"}}\n')
  })

  test('a failure is one object with what the command found out', () => {
    const { out, texts } = captured({ json: true })
    out.failure(new CommandError('no', { nextStep: 'do this' }), 1, { stdOut: 'x' })
    expect(JSON.parse(texts.stdout)).toEqual({
      success: false,
      error: 'no',
      code: 1,
      error_code: 'COMMAND_FAILED',
      next_step: 'do this',
      details: {},
      data: { std_out: 'x' },
    })
    expect(texts.stderr).toBe('')
  })
})

describe('for people', () => {
  test('a failure says what to do, on stderr', () => {
    const { out, texts } = captured({ quiet: true })
    out.note('a note that --quiet drops')
    out.failure(new CommandError('it failed', { nextStep: 'look there' }), 1)
    expect(texts).toEqual({ stdout: '', stderr: 'rewind: it failed\n  look there\n' })
  })

  test('nothing in it steers the terminal or hides', () => {
    const { out, texts } = captured({})
    out.failure(new CommandError('no \u001b[2J\u200b file\nhere', { nextStep: 'look\nthere' }), 1)
    expect(texts.stderr).toBe('rewind: no \\x1b[2J\\u{200b} file\nhere\n  look\\nthere\n')
  })

  test('a fault of ours comes with its stack', () => {
    const { out, texts } = captured({})
    out.failure(new InternalError('oh', { data: { stack: 'Error: oh\n    at x' } }), 70)
    expect(texts.stderr).toContain('    at x')
  })
})

test('messages and environments keep their own keys', () => {
  expect(snakeCase({ toolCalls: [{ aB: 1 }], messages: [{ toolCalls: 1 }], env: { aB: 'c' } })).toEqual({
    tool_calls: [{ a_b: 1 }],
    messages: [{ toolCalls: 1 }],
    env: { aB: 'c' },
  })
})

test('columns are as wide as they must be, without blanks at the end', () => {
  expect(
    table([
      ['A', 'LONG', ''],
      ['bb', 'c', 'd'],
    ]),
  ).toBe('A   LONG\nbb  c     d')
})

test.each([
  [0, 'just now'],
  [9, 'just now'],
  [45, '45s ago'],
  [12 * 60 + 59, '12m ago'],
  [3 * 3600, '3h ago'],
  [49 * 3600, '2d ago'],
])('%i seconds are %s', (seconds, text) => {
  expect(ago(new Date(0), new Date(seconds * 1000))).toBe(text)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_400_000, '1.4 MB'],
  [12_000_000_000, '12.0 GB'],
])('%i bytes are %s', (n, text) => {
  expect(bytes(n)).toBe(text)
})
