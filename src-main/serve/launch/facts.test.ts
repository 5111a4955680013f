import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lookAtMachine } from './facts.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'facts-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, text = '#!/bin/sh\n'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

describe.runIf(process.platform === 'linux')('what is on the machine', () => {
  test('nothing is there', () => {
    expect(lookAtMachine(null, { PATH: folder })).toMatchObject({
      display: false,
      electron: null,
      browser: null,
      opener: null,
    })
  })

  test('X11 or Wayland is a display', () => {
    expect(lookAtMachine(null, { DISPLAY: ':0' }).display).toBe(true)
    expect(lookAtMachine(null, { WAYLAND_DISPLAY: 'wayland-0' }).display).toBe(true)
  })

  test('the first browser of the family, and what opens pages', () => {
    const chrome = program('google-chrome')
    const opener = program('xdg-open')
    expect(lookAtMachine(null, { PATH: folder })).toMatchObject({ browser: chrome, opener })
  })

  test('a browser from a snap is no use, the next one is taken', () => {
    program('chromium-browser', '#!/bin/sh\nexec /snap/bin/chromium "$@"\n')
    expect(lookAtMachine(null, { PATH: folder }).browser).toBeNull()
    const brave = program('brave-browser')
    expect(lookAtMachine(null, { PATH: folder }).browser).toBe(brave)
  })

  test('a dangling link or a file that cannot be run is no browser', () => {
    symlinkSync('/nowhere', join(folder, 'chromium'))
    writeFileSync(join(folder, 'google-chrome'), '')
    expect(lookAtMachine(null, { PATH: folder }).browser).toBeNull()
  })

  test('REWIND_CHROMIUM chooses the browser, or none', () => {
    program('chromium')
    expect(lookAtMachine(null, { PATH: folder, REWIND_CHROMIUM: '/opt/mine' }).browser).toBe('/opt/mine')
    expect(lookAtMachine(null, { PATH: folder, REWIND_CHROMIUM: 'none' }).browser).toBeNull()
  })

  test("Electron counts only when its binary is there, not just the npm package's files", () => {
    expect(lookAtMachine(folder, {}).electron).toBeNull()
    writeFileSync(join(folder, 'path.txt'), 'electron')
    expect(lookAtMachine(folder, {}).electron).toBeNull()
    mkdirSync(join(folder, 'dist'))
    writeFileSync(join(folder, 'dist/electron'), '')
    expect(lookAtMachine(folder, {}).electron).toBe(join(folder, 'dist/electron'))
  })
})
