import { describe, expect, test } from 'vitest'
import { visible, visibleName } from './text.ts'

describe('what a person would not see is written out', () => {
  test.each([
    ['controls', '\u001b[2Jgone\u0000\u007f\u009b31m', '\\x1b[2Jgone\\x00\\x7f\\x9b31m'],
    ['a carriage return, which would overwrite the line', 'ok\rno', 'ok\\rno'],
    [
      'marks that turn the reading direction',
      'photo\u202egpj.sh \u2066x\u2069\u200f\u061c',
      'photo\\u{202e}gpj.sh \\u{2066}x\\u{2069}\\u{200f}\\u{61c}',
    ],
    ['zero-width characters', 'a\u200bb\u200dc\u2060d\ufeffe', 'a\\u{200b}b\\u{200d}c\\u{2060}d\\u{feff}e'],
    ['soft hyphens and fillers', 'a\u00adb\u3164c', 'a\\xadb\\u{3164}c'],
    ['separators', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
    ['tags', 'tag\u{e0041}', 'tag\\u{e0041}'],
    ['annotations', 'a\ufff9b', 'a\\u{fff9}b'],
  ])('%s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown)
    expect(visibleName(text)).toBe(shown)
  })
})

test('texts keep their lines and tabs, names stay on one line', () => {
  expect(visible('a\n\tb')).toBe('a\n\tb')
  expect(visibleName('a\n\tb')).toBe('a\\n\\tb')
})

test.each(['plain ünïcode', '日本語', 'عربي', 'हिन्दी', '❤️ 👍🏽', 'e\u0301', '葛\u{e0100}'])(
  '%s stays as it is',
  (text) => {
    expect(visible(text)).toBe(text)
    expect(visibleName(text)).toBe(text)
  },
)
