import { expect, test } from 'vitest'
import { addressOf } from './activity.ts'

test('addresses are as people write them', () => {
  expect(addressOf('0100007F')).toBe('127.0.0.1')
  expect(addressOf('00000000')).toBe('0.0.0.0')
  expect(addressOf('00000000000000000000000000000000')).toBe('::')
  expect(addressOf('00000000000000000000000001000000')).toBe('::1')
  expect(addressOf('0000000000000000FFFF00000100007F')).toBe('127.0.0.1')
  expect(addressOf('B80D0120000000000000000001000000')).toBe('2001:db8::1')
})
