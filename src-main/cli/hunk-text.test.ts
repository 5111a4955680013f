import { expect, test } from 'vitest'
import { hunkText } from './hunk-text.ts'

const at = { base: 3, sandbox: 4, host: 3 }
const text = (base: string[], sandbox: string[], host?: string[]) =>
  hunkText({ kind: host ? 'clash' : 'sandbox', id: 'abc', at, base, sandbox, host: host ?? base, cut: null }).split(
    '\n',
  )

test('lines as in a patch, whatever all of them end with', () => {
  expect(text(['a\n'], ['b\n', 'c\n'])).toEqual(['abc  line 4', '-a', '+b', '+c'])
  expect(text(['a\r\n'], ['b\r\n'])).toEqual(['abc  line 4', '-a', '+b'])
  expect(text(['a\n'], [], ['b\n'])).toEqual(['abc  line 4  ! changed on the host too', '-a', 'hb'])
  expect(text([], ['\u001b[2J\n'])).toEqual(['abc  line 4', '+\\x1b[2J'])
})

test('where only what lines end with differs, that is said and seen', () => {
  expect(text(['a\n', 'b\n'], ['a\r\n', 'b\r\n'])).toEqual([
    'abc  line 4  only line endings differ',
    '-a',
    '-b',
    '+a\\r',
    '+b\\r',
  ])
  expect(text(['a\n'], ['a'])).toEqual([
    'abc  line 4  only line endings differ',
    '-a',
    '+a',
    '\\ no newline at the end',
  ])
  expect(text(['a'], ['b\n'])).toEqual(['abc  line 4', '-a', '\\ no newline at the end', '+b'])
  expect(text(['a\n', 'b\n'], ['a\r\n', 'c\n'])).toEqual(['abc  line 4', '-a', '-b', '+a\\r', '+c'])
  expect(text(['a\n'], ['a\r\n'], ['b\n'])).toEqual(['abc  line 4  ! changed on the host too', '-a', 'hb', '+a\\r'])
})
