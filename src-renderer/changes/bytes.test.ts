import { expect, it } from 'vitest'
import { firstDifference, hexRows } from './bytes.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

it('finds where two files part', () => {
  expect(firstDifference(bytes('abc'), bytes('abd'))).toBe(2)
  expect(firstDifference(bytes('ab'), bytes('abd'))).toBe(2)
  expect(firstDifference(bytes('ab'), bytes('ab'))).toBeNull()
  expect(firstDifference(bytes(''), bytes(''))).toBeNull()
})

it('writes rows of both, marked where they differ', () => {
  const rows = hexRows(bytes('abcd\n'), bytes('abXd'), 0x1f0, 4)
  expect(rows.map(({ offset }) => offset)).toEqual(['000001f0', '000001f4'])
  expect(rows[0]?.before.map(({ hex, char, differs }) => `${hex}${char}${differs ? '!' : ''}`)).toEqual([
    '61a',
    '62b',
    '63c!',
    '64d',
  ])
  expect(rows[1]).toMatchObject({ before: [{ hex: '0a', char: '·', differs: true }], after: [] })
})
