import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fitToScreens, loadPlacement, savePlacement } from './bounds.ts'

const screen = { x: 0, y: 25, width: 1920, height: 1055 }
const second = { x: 1920, y: 0, width: 1280, height: 1024 }

describe('where the window opens', () => {
  test('a first run takes the default size, or what the screen has', () => {
    expect(fitToScreens(null, [screen])).toEqual({ width: 1280, height: 800 })
    expect(fitToScreens(null, [{ x: 0, y: 0, width: 1024, height: 600 }])).toEqual({ width: 1024, height: 600 })
  })

  test('where it was', () => {
    const bounds = { x: 2000, y: 40, width: 1000, height: 700 }
    expect(fitToScreens(bounds, [screen, second])).toEqual(bounds)
  })

  test('a screen that is gone: anew on the first', () => {
    const bounds = { x: 2000, y: 40, width: 1000, height: 700 }
    expect(fitToScreens(bounds, [screen])).toEqual({ width: 1280, height: 800 })
  })

  test('half outside: pulled in; larger than the screen: shrunk; tiny: made usable', () => {
    expect(fitToScreens({ x: -500, y: 0, width: 1000, height: 700 }, [screen])).toMatchObject({ x: 0, y: 25 })
    expect(fitToScreens({ x: 0, y: 25, width: 5000, height: 5000 }, [screen])).toEqual(screen)
    expect(fitToScreens({ x: 9, y: 99, width: 150, height: 150 }, [screen])).toMatchObject({ width: 800, height: 500 })
  })
})

describe('what is remembered', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bounds-'))
  const file = join(folder, 'window.json')
  afterAll(() => rmSync(folder, { recursive: true }))

  test('comes back as it was', () => {
    expect(loadPlacement(file)).toBeNull()
    const placement = { bounds: { x: 1, y: 2, width: 3, height: 4 }, maximized: true }
    savePlacement(file, placement)
    expect(loadPlacement(file)).toEqual(placement)
  })

  test.each(['', '{', '[]', '{"bounds":{"x":"1"}}', 'null'])('damage (%s) is a first run', (text) => {
    writeFileSync(file, text)
    expect(loadPlacement(file)).toBeNull()
  })
})
