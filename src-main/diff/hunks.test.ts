import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHunk, merge, type Stretch, stretchesOf } from './hunks.ts'

const cut = (base: string, sandbox: string, host = base): Stretch[] => {
  const stretches = stretchesOf(base, sandbox, host)
  if (stretches === null) throw new Error('took too long')
  return stretches
}
const kinds = (stretches: readonly Stretch[]) => stretches.map(({ kind }) => kind)
const all = () => true
const none = () => false
/** The first hunk, the second, ... */
const only = (stretches: readonly Stretch[], ...numbers: number[]) => {
  const hunks = stretches.filter(isHunk)
  return (hunk: Stretch) => numbers.includes(hunks.indexOf(hunk))
}

describe('hunks of a text that one side changed', () => {
  const base = 'one\ntwo\nthree\nfour\nfive\n'

  test('any of them go, the rest stays a difference', () => {
    const sandbox = 'ONE\ntwo\nfour\nfive\nsix\n'
    const stretches = cut(base, sandbox)
    expect(kinds(stretches)).toEqual(['sandbox', 'same', 'sandbox', 'same', 'sandbox'])
    expect(merge(stretches, none)).toEqual({ host: base, committed: base })
    expect(merge(stretches, all)).toEqual({ host: sandbox, committed: sandbox })
    const { host } = merge(stretches, only(stretches, 1))
    expect(host).toBe('one\ntwo\nfour\nfive\n')
    // What is left is offered again, and nothing else.
    const rest = cut(host, sandbox)
    expect(rest.filter(isHunk).map((hunk) => hunk.sandbox)).toEqual([['ONE\n'], ['six\n']])
  })

  test('line ends, lone carriage returns and an end without one are kept', () => {
    const mixed = 'a\r\nb\rb\nc\nd'
    const sandbox = 'a\nb\rb\nC\nd\n'
    const stretches = cut(mixed, sandbox)
    expect(stretches.filter(isHunk)).toHaveLength(2)
    expect(merge(stretches, only(stretches, 0)).host).toBe('a\nb\rb\nc\nd')
    expect(merge(stretches, only(stretches, 1)).host).toBe('a\r\nb\rb\nC\nd\n')
  })

  test('an empty text has one hunk, the same text none', () => {
    expect(kinds(cut('', 'a\nb'))).toEqual(['sandbox'])
    expect(kinds(cut('a', ''))).toEqual(['sandbox'])
    expect(cut('', '')).toEqual([])
    expect(kinds(cut('a\n', 'a\n'))).toEqual(['same'])
  })

  test('a long one goes whole', () => {
    const long = '\n'.repeat(400_000)
    expect(merge(cut('a\n', `a\n${long}`), all).host).toBe(`a\n${long}`)
  })

  test('too many of them are not offered, nor what has nothing in common', () => {
    const numbers = (from: number) => Array.from({ length: 4_000 }, (_, at) => `${from + at}\n`).join('')
    expect(stretchesOf(numbers(0), numbers(10_000), '')).toBeNull()
    const many = Array.from({ length: 1_200 }, (_, at) => `${at}\n`)
    expect(stretchesOf(many.join(''), many.map((line, at) => (at % 2 ? line : `x${line}`)).join(''), '')).toBeNull()
    // One place, and dear to find: the host answers nobody meanwhile.
    const rewritten = (lines: number) => many.map((line, at) => (at < lines ? `x${line}` : line)).join('')
    expect(stretchesOf(many.join(''), rewritten(400), many.join(''))).toHaveLength(2)
    expect(stretchesOf(many.join(''), rewritten(600), many.join(''))).toBeNull()
  })
})

describe('hunks of a text that both sides changed', () => {
  const base = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'

  test('those that lie apart are had together', () => {
    const sandbox = base.replace('two', 'TWO').replace('seven\n', 'seven\neight\n')
    const host = base.replace('five', 'FIVE')
    const stretches = cut(base, sandbox, host)
    expect(kinds(stretches)).toEqual(['same', 'sandbox', 'same', 'host', 'same', 'sandbox'])
    expect(merge(stretches, all)).toEqual({
      host: 'one\nTWO\nthree\nfour\nFIVE\nsix\nseven\neight\n',
      committed: sandbox,
    })
    expect(merge(stretches, only(stretches, 1))).toEqual({
      host: 'one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\n',
      committed: `${base}eight\n`,
    })
  })

  test('the same edit is there already; another of the same lines is a clash, as is the next line', () => {
    expect(kinds(cut(base, base.replace('two', 'TWO'), base.replace('two', 'TWO')))).toEqual(['same', 'both', 'same'])
    expect(merge(cut(base, base.replace('two', 'TWO'), base.replace('two', 'TWO')), none).committed).toContain('TWO')
    const clash = cut(base, base.replace('two', 'TWO'), base.replace('two', '2').replace('three', '3'))
    expect(kinds(clash)).toEqual(['same', 'clash', 'same'])
    expect(clash[1]).toMatchObject({
      base: ['two\n', 'three\n'],
      sandbox: ['TWO\n', 'three\n'],
      host: ['2\n', '3\n'],
    })
    expect(merge(clash, none).host).toBe(base.replace('two', '2').replace('three', '3'))
    expect(merge(clash, all).host).toBe(base.replace('two', 'TWO'))
    expect(kinds(cut(base, base.replace('two', 'TWO'), base.replace('three', '3')))).toEqual(['same', 'clash', 'same'])
    // Two that are put in at one place.
    expect(kinds(cut('a\n', 'a\nb\n', 'a\nc\n'))).toEqual(['same', 'clash'])
    expect(kinds(cut('', 'b\n', 'c\n'))).toEqual(['clash'])
  })

  const text = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', 'c', 'd\r', '', '\xfc'), { maxLength: 14 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))

  test('whatever the texts: all of one side alone gives that side, none of it leaves the other', () => {
    fc.assert(
      fc.property(text, text, text, (before, sandbox, host) => {
        const alone = cut(before, sandbox)
        expect(merge(alone, all)).toEqual({ host: sandbox, committed: sandbox })
        expect(merge(alone, none)).toEqual({ host: before, committed: before })
        const stretches = cut(before, sandbox, host)
        for (const side of ['base', 'sandbox', 'host'] as const)
          expect(stretches.flatMap((stretch) => stretch[side]).join('')).toBe({ base: before, sandbox, host }[side])
        expect(merge(stretches, none).host).toBe(host)
        expect(merge(stretches, all).committed).toBe(sandbox)
      }),
      { numRuns: 500, seed: 7 },
    )
  })

  test('where nothing clashes, what comes of it is what git makes of it; where something does, git says so too', () => {
    const base = Array.from({ length: 12 }, (_, at) => `line ${at}\n`)
    const edits = fc.array(fc.tuple(fc.nat(11), fc.constantFrom('', 'put in\n', 'other\n', 'two\nlines\n')), {
      maxLength: 2,
    })
    const edited = (some: [number, string][], name: string) =>
      base.map((line, at) => some.find(([where]) => where === at)?.[1].replace('other', name) ?? line).join('')
    const folder = mkdtempSync(join(tmpdir(), 'rewind-hunks-'))
    const seen = new Set<string>()
    try {
      fc.assert(
        fc.property(edits, edits, (ours, theirs) => {
          const texts = { base: base.join(''), sandbox: edited(ours, 'ours'), host: edited(theirs, 'theirs') }
          for (const [name, content] of Object.entries(texts)) writeFileSync(join(folder, name), content)
          const stretches = cut(texts.base, texts.sandbox, texts.host)
          const clashes = stretches.some(({ kind }) => kind === 'clash')
          seen.add(String(clashes))
          expect(gitMerge(folder)).toBe(clashes ? null : merge(stretches, all).host)
        }),
        { numRuns: 60, seed: 7 },
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(seen).toEqual(new Set(['true', 'false']))
  })
})

/** null where it sees a conflict. */
function gitMerge(folder: string): string | null {
  try {
    return execFileSync('git', ['merge-file', '-p', '-q', 'sandbox', 'base', 'host'], {
      cwd: folder,
      encoding: 'latin1',
    })
  } catch {
    return null
  }
}
