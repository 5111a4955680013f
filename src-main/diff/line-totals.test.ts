import { expect, test } from 'vitest'
import type { FilePair } from '../contract/index.ts'
import { lineTotals } from './index.ts'

const text = (before: string | null, after: string | null): FilePair => ({ kind: 'text', before, after })

test('lines that came and went', () => {
  expect(lineTotals(text('a\nb\nc\n', 'a\nB\nc\nd\n'))).toEqual({ added: 2, deleted: 1 })
  expect(lineTotals(text(null, 'a\nb'))).toEqual({ added: 2, deleted: 0 })
  expect(lineTotals(text('a\n', null))).toEqual({ added: 0, deleted: 1 })
  expect(lineTotals(text('', ''))).toEqual({ added: 0, deleted: 0 })
})

test('endings of lines do not count', () => {
  expect(lineTotals(text('a\r\nb', 'a\nb\n'))).toEqual({ added: 0, deleted: 0 })
})

test('nothing is said of what is no text, nor of what takes long', () => {
  expect(lineTotals({ kind: 'binary', before: 1, after: 2 })).toBeNull()
  expect(lineTotals({ kind: 'symlink', before: 'a', after: 'b' })).toBeNull()
  const many = (seed: string) => Array.from({ length: 30_000 }, (_, at) => `${seed}${(at * 7919) % 30_011}\n`).join('')
  const started = performance.now()
  expect(lineTotals(text(many('a'), many('b')))).toBeNull()
  expect(performance.now() - started).toBeLessThan(2_000)
})
