import { expect, test } from 'vitest'
import { autoPoint, point } from '../fixtures/points.ts'
import { foundBy } from './find.ts'

const points = [
  point('s-ckpt-1', null, 0, { label: 'before Migration', why: 'nothing written yet' }),
  autoPoint('s-ckpt-2', 's-ckpt-1', 2),
  point('s-ckpt-3', 's-ckpt-2', 3, {
    label: null,
    verdict: { status: 'fail', text: '2 tests failed', at: new Date() },
  }),
]
const found = (typed: string) => foundBy(points, typed).map(({ id }) => id)

test('all words, in any order and case, anywhere in what a point says of itself', () => {
  expect(found('migration')).toEqual(['s-ckpt-1'])
  expect(found('written MIGR')).toEqual(['s-ckpt-1'])
  expect(found('write_file')).toEqual(['s-ckpt-2'])
  expect(found('tests failed')).toEqual(['s-ckpt-3'])
  expect(found('ckpt-3')).toEqual(['s-ckpt-3'])
  expect(found('migration failed')).toEqual([])
})

test('nothing typed finds nothing', () => {
  expect(found('')).toEqual([])
  expect(found('   ')).toEqual([])
})
