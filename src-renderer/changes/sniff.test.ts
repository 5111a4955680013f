import { describe, expect, it } from 'vitest'
import { contentOf, contentOfBoth, isSvg } from './sniff.ts'

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))

describe('what a file is', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['GIF87a', 'image/gif'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ])('knows %j', (head, type) => expect(contentOf(bytes(head))).toEqual({ kind: 'image', type }))

  it('knows databases and their logs, and nothing else', () => {
    expect(contentOf(bytes('SQLite format 3\0\x10'))).toEqual({ kind: 'database' })
    expect(contentOf(bytes('\x37\x7f\x06\x82'))).toEqual({ kind: 'log' })
    for (const other of ['', '\x89PNG', 'RIFF\x10\0\0\0WAVE', 'SQLite format 3', '<svg', '\x7fELF'])
      expect(contentOf(bytes(other))).toEqual({ kind: 'other' })
  })

  it('takes both sides as one, an empty one for none', () => {
    const [png, gif, db] = [bytes('\x89PNG\r\n\x1a\n'), bytes('GIF89a'), bytes('SQLite format 3\0')]
    expect(contentOfBoth(null, png)).toEqual({ kind: 'image', type: 'image/png' })
    expect(contentOfBoth(png, bytes(''))).toEqual({ kind: 'image', type: 'image/png' })
    expect(contentOfBoth(png, gif)).toEqual({ kind: 'image', type: 'image/gif' })
    expect(contentOfBoth(png, db)).toEqual({ kind: 'other' })
    expect(contentOfBoth(null, null)).toEqual({ kind: 'other' })
  })

  it('knows an SVG by its root', () => {
    for (const text of [
      '<svg/>',
      '\ufeff<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg [<!ENTITY a "b">]><svg width="1">',
    ])
      expect(isSvg(text.replace('/>', ' />'))).toBe(true)
    // Each could end at any later end: the time must not grow with the ways to read it.
    expect(isSvg(`${'<!---->'.repeat(500)}x`)).toBe(false)
    expect(isSvg(`${'<!---->\n'.repeat(400)}<svg >`)).toBe(true)
    for (const text of ['', 'a <svg >', '<html><svg ></html>', '<svgx>', '<!-- <svg > -->'])
      expect(isSvg(text)).toBe(false)
  })
})
