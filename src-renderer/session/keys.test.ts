import { expect, test } from 'vitest'
import { actionFor, KEYS, onAction } from './keys.ts'

const press = (key: string, rest = {}) =>
  actionFor({ key, ctrlKey: false, metaKey: false, altKey: false, target: null, ...rest })

test('each key has one meaning, in either case', () => {
  expect(new Set(KEYS.map(({ key }) => key)).size).toBe(KEYS.length)
  expect([press('r'), press('R'), press('u'), press('Escape'), press('2'), press('x')]).toEqual([
    'rewind',
    'rewind',
    'undo',
    'now',
    'messages',
    null,
  ])
})

test('keys of the system are left to it', () => {
  expect(press('r', { ctrlKey: true })).toBeNull()
  expect(press('r', { metaKey: true })).toBeNull()
})

test('a listener that stopped hears nothing', () => {
  let heard = 0
  const stop = onAction('now', () => heard++)
  stop()
  expect(heard).toBe(0)
})
