import { describe, expect, test } from 'vitest'
import { createPageCheck, isWebAddress } from './our-page.ts'

describe('which page is ours', () => {
  const isOurs = createPageCheck({ file: '/opt/re wind/out/renderer/index.html' })

  test.each([
    ['file:///opt/re%20wind/out/renderer/index.html', true],
    ['file:///opt/re%20wind/out/renderer/index.html#point', true],
    ['file:///opt/re%20wind/out/renderer/other.html', false],
    ['file:///opt/re%20wind/out/renderer/../../x/index.html', false],
    ['file://server/opt/re%20wind/out/renderer/index.html', false],
    ['https://example.org/opt/re%20wind/out/renderer/index.html', false],
    ['about:blank', false],
    ['', false],
  ])('%s: %s', (url, ours) => {
    expect(isOurs(url)).toBe(ours)
  })

  test('in development, the server that serves it', () => {
    const isOurs = createPageCheck({ url: 'http://localhost:5173' })
    expect(isOurs('http://localhost:5173/index.html')).toBe(true)
    expect(isOurs('http://localhost:5174/')).toBe(false)
    expect(isOurs('http://localhost:5173.example.org/')).toBe(false)
  })
})

describe('what is opened in the browser', () => {
  test.each([
    ['https://example.org/a?b#c', true],
    ['http://127.0.0.1:3000/', true],
    ['https://user:secret@example.org/', false],
    ['file:///etc/passwd', false],
    ['javascript:alert(1)', false],
    ['vscode://file/etc/passwd', false],
    ['not an address', false],
  ])('%s: %s', (url, allowed) => {
    expect(isWebAddress(url)).toBe(allowed)
  })
})
