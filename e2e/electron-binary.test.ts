import { describe, expect, test } from 'vitest'
import { chooseElectron } from './electron-binary.ts'

describe('which Electron is driven', () => {
  test.each([
    [undefined, [], 'real'],
    ['', ['it is not there'], 'stand-in'],
    [undefined, ['it is not there'], 'stand-in'],
    ['real', [], 'real'],
    ['stand-in', [], 'stand-in'],
  ])('REWIND_ELECTRON=%s with %j in the way: %s', (choice, obstacles, kind) => {
    expect(chooseElectron(choice, obstacles)).toBe(kind)
  })

  test('insisting on the real one fails with everything that is in its way', () => {
    expect(() => chooseElectron('real', ['it is not there', 'this is root'])).toThrow(/not there; and this is root/)
  })

  test('a choice that is none is an error', () => {
    expect(() => chooseElectron('reel', [])).toThrow(/real or stand-in/)
  })
})
