import { expect, test } from 'vitest'
import { attributesOf, createPreferences, readPreferences, USUAL } from './preferences.ts'

const memory = (text: string | null) => {
  let kept = text
  return {
    get: () => kept,
    set: (value: string) => {
      kept = value
    },
  }
}

test('what was chosen is there the next time', () => {
  const kept = memory(null)
  createPreferences(kept).choose({ theme: 'dark', colours: 'safe' })
  expect(createPreferences(kept).getState()).toMatchObject({ theme: 'dark', colours: 'safe', text: 'normal' })
})

test.each([null, '', 'not JSON', '[]', '7', 'null'])('nothing that can be read is as usual: %s', (text) => {
  expect(readPreferences(text)).toEqual(USUAL)
})

test('one value that is not understood takes no other along', () => {
  expect(readPreferences('{"theme":"sepia","text":"large","more":1}')).toEqual({ ...USUAL, text: 'large' })
})

test('what is left to the system follows it, what was chosen does not', () => {
  expect(attributesOf(USUAL, { dark: true, contrast: true })).toMatchObject({ theme: 'dark', contrast: 'high' })
  expect(attributesOf(USUAL, { dark: false, contrast: false })).toMatchObject({ theme: 'light', contrast: 'normal' })
  const chosen = { ...USUAL, theme: 'light', contrast: 'normal' } as const
  expect(attributesOf(chosen, { dark: true, contrast: true })).toMatchObject({ theme: 'light', contrast: 'normal' })
})
