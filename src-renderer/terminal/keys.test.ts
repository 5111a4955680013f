import { expect, test } from 'vitest'
import { pasted, typedBy } from './keys.ts'

const press = (key: string, held: Partial<Record<'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey', boolean>> = {}) => ({
  key,
  ctrlKey: false,
  altKey: false,
  shiftKey: false,
  metaKey: false,
  ...held,
})

test.each([
  [press('a'), 'a'],
  [press('é'), 'é'],
  [press('Enter'), '\r'],
  [press('Backspace'), '\u007f'],
  [press('Tab', { shiftKey: true }), '\u001b[Z'],
  [press('c', { ctrlKey: true }), '\u0003'],
  [press(' ', { ctrlKey: true }), '\0'],
  [press('[', { ctrlKey: true }), '\u001b'],
  [press('b', { altKey: true }), '\u001bb'],
  [press('ArrowUp'), '\u001b[A'],
  [press('ArrowRight', { ctrlKey: true }), '\u001b[1;5C'],
  [press('F1'), '\u001bOP'],
  [press('F5', { shiftKey: true }), '\u001b[15;2~'],
  [press('Delete'), '\u001b[3~'],
  [press('Shift', { shiftKey: true }), null],
  [press('v', { metaKey: true }), null],
  [press('1', { ctrlKey: true }), null],
])('%j types %j', (given, typed) => {
  expect(typedBy(given, false)).toBe(typed)
})

test('cursor keys are others for a program that asked for it', () => {
  expect(typedBy(press('ArrowUp'), true)).toBe('\u001bOA')
  expect(typedBy(press('ArrowUp', { shiftKey: true }), true)).toBe('\u001b[1;2A')
})

test('pasted text cannot end its own brackets', () => {
  expect(pasted('a\nb\r\nc', false)).toBe('a\rb\rc')
  expect(pasted('x\u001b[201~rm -rf /\n', true)).toBe('\u001b[200~xrm -rf /\r\u001b[201~')
})
