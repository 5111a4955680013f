import { expect, test } from 'vitest'
import { commandsIn } from './commands.ts'

test('what is to be typed, once each', () => {
  expect(commandsIn('As root: `sysctl -w a=1`, or `sysctl -w b=0`; then `sysctl -w a=1`.')).toEqual([
    'sysctl -w a=1',
    'sysctl -w b=0',
  ])
})

test('a name in backticks is nothing to type, and neither is anything else', () => {
  expect(commandsIn('Install `unshare` (util-linux).')).toEqual([])
  expect(commandsIn(null)).toEqual([])
})
