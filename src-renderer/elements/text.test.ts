import { expect, test } from 'vitest'
import { clip } from './clip.ts'
import { ago, agoSpoken, clock, count, shown, size, took } from './format.ts'

test('clipping never halves a character', () => {
  expect(clip('ab😀', 3)).toEqual({ text: 'ab', left: 2 })
  expect(clip('abc', 3)).toEqual({ text: 'abc', left: 0 })
})

test('times', () => {
  const now = 10_000_000
  expect([500, 5_000, 125_000, 7_300_000].map((ms) => ago(new Date(now - ms), now))).toEqual([
    'just now',
    '5s ago',
    '2m ago',
    '2h ago',
  ])
  expect(agoSpoken(new Date(now - 60_000), now)).toBe('1 minute ago')
  expect([0, 0.2, 11.4, 1234, 65_000].map(took)).toEqual(['0 ms', '1 ms', '11 ms', '1.2 s', '1m 05s'])
  expect([12_000, 3_723_000].map(clock)).toEqual(['00:12', '1:02:03'])
})

test('sizes and counts', () => {
  expect([0, 999, 1024, 24_576, 1_300_000_000].map(size)).toEqual(['0 B', '999 B', '1.0 KB', '24 KB', '1.2 GB'])
  expect([count(1, 'file'), count(1204, 'file'), count(2, 'branch', 'branches')]).toEqual([
    '1 file',
    '1,204 files',
    '2 branches',
  ])
})

test('a command line is shown as it would be typed', () => {
  expect(shown(['python', '-m', 'http.server'])).toBe('python -m http.server')
  expect(shown(['echo', "it's here"])).toBe("echo 'it'\\''s here'")
})
