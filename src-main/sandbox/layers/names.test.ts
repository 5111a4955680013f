import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidPathError } from '../../contract/index.ts'
import { readableBytes, resolveInside, showPath, toByteString } from './names.ts'

describe('showPath', () => {
  test.each([
    ['src/main.ts', 'src/main.ts', false],
    ['ünï/日本/🙂', 'ünï/日本/🙂', false],
    ['back\\slash', 'back\\slash', false],
    ['-dash', '-dash', false],
    ['new\nline\ttab\x1b[31m', 'new\\nline\\ttab\\x1B[31m', true],
    ['looks like gnp.exe \u202e', 'looks like gnp.exe \\xE2\\x80\\xAE', true],
  ])('%j', (name, path, raw) => {
    const shown = showPath(toByteString(name))
    expect(shown).toEqual({ path, rawPath: raw ? Buffer.from(name).toString('base64') : null })
  })

  test('bytes that are not UTF-8', () => {
    expect(showPath('bad\xff\xc3')).toEqual({ path: 'bad\\xFF\\xC3', rawPath: 'YmFk/8M=' })
    // Overlong, a surrogate, cut short: each byte shows.
    expect(readableBytes(Buffer.from([0xc0, 0xaf]))).toBe('\\xC0\\xAF')
    expect(readableBytes(Buffer.from([0xed, 0xa0, 0x80]))).toBe('\\xED\\xA0\\x80')
    expect(readableBytes(Buffer.from([0xf0, 0x9f, 0x99]))).toBe('\\xF0\\x9F\\x99')
  })

  test('any bytes: one line, and either the text of the bytes or the bytes beside it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const { path, rawPath } = showPath(toByteString(bytes))
        expect(path).not.toMatch(/\p{Cc}/u)
        expect(Buffer.from(rawPath ?? path, rawPath === null ? 'utf8' : 'base64')).toEqual(Buffer.from(bytes))
      }),
    )
  })
})

describe('resolveInside', () => {
  test.each([
    ['a', 'a'],
    ['./a//b/', 'a/b'],
    ['a/../b', 'b'],
    ['/ws/a', 'a'],
    ['//ws/./x/../a', 'a'],
    ['..a/b..', '..a/b..'],
  ])('%j is %j', (path, expected) => expect(resolveInside('/ws', path)).toBe(expected))

  test.each([
    '',
    '.',
    'a/..',
    '/ws',
    '/ws/',
    '..',
    'a/../../ws/b',
    '/ws/../etc',
    '/etc/passwd',
    '/ws2/a',
    'a\0b',
    'x'.repeat(4097),
  ])('refuses %j and says what is allowed', (path) => {
    const refused = (() => {
      try {
        resolveInside('/ws', path)
      } catch (error) {
        return error
      }
      return null
    })()
    expect(refused).toBeInstanceOf(InvalidPathError)
    expect((refused as InvalidPathError).nextStep).toContain('/ws')
  })
})
