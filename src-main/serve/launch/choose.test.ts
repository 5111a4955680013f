import { describe, expect, test } from 'vitest'
import { chooseWindow, type Facts, type Way } from './choose.ts'

const desktop: Facts = {
  platform: 'linux',
  root: false,
  display: true,
  electron: '/opt/electron',
  browser: '/usr/bin/chromium',
  opener: '/usr/bin/xdg-open',
  sandbox: true,
  failed: {},
}

describe('which window is opened', () => {
  test.each<[string, Partial<Facts>, Way]>([
    ['a desktop with everything', {}, 'electron'],
    ['no Electron binary', { electron: null }, 'app-window'],
    ['root, where Electron is never tried', { root: true }, 'app-window'],
    ['root without user namespaces', { root: true, sandbox: false }, 'app-window'],
    ['no user namespaces', { sandbox: false }, 'default-browser'],
    ['no browser of the Chromium family', { electron: null, browser: null }, 'default-browser'],
    ['nothing that opens pages', { electron: null, browser: null, opener: null }, 'address'],
    ['no display', { display: false }, 'address'],
    ['no display, as root', { display: false, root: true }, 'address'],
    ['Electron broke', { failed: { electron: 'it ended at once' } }, 'app-window'],
    ['both windows broke', { failed: { electron: 'a', 'app-window': 'b' } }, 'default-browser'],
  ])('%s', (_case, change, way) => {
    expect(chooseWindow({ ...desktop, ...change }).way).toBe(way)
  })

  test('every way that is passed over says why', () => {
    expect(
      chooseWindow({ ...desktop, root: true, browser: null, failed: { 'default-browser': 'xdg-open: exit code 3' } }),
    ).toEqual({
      way: 'address',
      passedOver: [
        { way: 'electron', why: 'it does not run as root' },
        { way: 'app-window', why: 'no browser of the Chromium family was found' },
        { way: 'default-browser', why: 'xdg-open: exit code 3' },
      ],
    })
  })
})
