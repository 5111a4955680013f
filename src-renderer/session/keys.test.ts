import { expect, test } from 'vitest'
import { act, actionFor, canAct, KEYS, onAction } from './keys.ts'

const press = (key: string, rest = {}) =>
  actionFor({ key, ctrlKey: false, metaKey: false, altKey: false, target: null, ...rest })

test('each key has one meaning, in either case', () => {
  const keys = KEYS.flatMap(({ key }) => key ?? [])
  expect(new Set(keys).size).toBe(keys.length)
  expect(new Set(KEYS.map(({ action }) => action)).size).toBe(KEYS.length)
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

test('with Ctrl or ⌘ a key is another one, also while text is typed', () => {
  const input = { closest: (selector: string) => (selector.startsWith('input') ? {} : null) } as unknown as Element
  expect([press('k', { ctrlKey: true }), press('K', { metaKey: true })]).toEqual(['palette', 'palette'])
  expect(press('f', { ctrlKey: true, target: input })).toBe('find')
  expect(press('f', { target: input })).toBeNull()
  expect(press('k', { ctrlKey: true, altKey: true })).toBeNull()
})

test('nothing is a key while a dialog has the focus', () => {
  const within = { closest: (selector: string) => (selector === 'dialog' ? {} : null) } as unknown as Element
  expect([press('r', { target: within }), press('k', { ctrlKey: true, target: within })]).toEqual([null, null])
})

test('what cannot be done is not done, and not offered', () => {
  let heard = 0
  let open = false
  const stop = onAction(
    'now',
    () => heard++,
    () => open,
  )
  expect([canAct('now'), act('now'), heard]).toEqual([false, false, 0])
  open = true
  expect([canAct('now'), act('now'), heard]).toEqual([true, true, 1])
  stop()
  expect([canAct('now'), act('now'), heard]).toEqual([false, false, 1])
})
