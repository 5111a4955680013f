import { expect, test } from 'vitest'
import { McpToken } from './mcp-token.ts'

function stored() {
  let kept: string | null = null
  const open = () =>
    new McpToken({
      load: () => kept,
      save: (value) => {
        kept = value
      },
    })
  return open
}

test('a token is made once and kept', () => {
  const open = stored()
  const { value } = open()
  expect(value).toMatch(/^[\w-]{43}$/)
  expect(open().value).toBe(value)
})

test('a new one voids the old', () => {
  const open = stored()
  const token = open()
  const old = token.value
  expect(token.renew()).not.toBe(old)
  expect(token.admits(`Bearer ${old}`)).toBe(false)
  expect(open().admits(`Bearer ${token.value}`)).toBe(true)
})

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer x'])('%j is not it', (header) => {
  expect(stored()().admits(header)).toBe(false)
})

test('neither a part of it nor more than it', () => {
  const token = stored()()
  expect(token.admits(`bearer ${token.value}`)).toBe(true)
  expect(token.admits(`Bearer ${token.value.slice(1)}`)).toBe(false)
  expect(token.admits(`Bearer ${token.value}a`)).toBe(false)
  expect(token.admits(token.value)).toBe(false)
})
