import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cell, compareTexts, marksOf, splitLines } from './compare.ts'
import { notesOf } from './notes.ts'

const sides = (before: string, after: string) => {
  const { rows } = compareTexts(before, after)
  const text = (cells: (Cell | null)[]) => cells.flatMap((cell) => (cell ? [cell.text] : []))
  return { left: text(rows.map(({ left }) => left)), right: text(rows.map(({ right }) => right)) }
}

const both = { before: true, after: true }

describe('comparing two texts', () => {
  test('each side reads as its own text, whatever the texts are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'long line', '\r')).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { left, right } = sides(before, after)
        expect(left).toEqual(splitLines(before).map((line) => line.text))
        expect(right).toEqual(splitLines(after).map((line) => line.text))
      }),
    )
  })

  test('like stands beside like, so that the marks show what was edited', () => {
    const before = 'def f():\n    return check(user) and ok\n'
    const after = 'def f():\n    count += 1\n    if count > 5:\n        return False\n    return check(user) and\n'
    const changed = compareTexts(before, after).rows.find(({ left, kind }) => left && kind === 'change')
    expect(changed?.right?.text).toBe('    return check(user) and')
    expect(changed?.left?.marks.map(([from, to]) => changed.left?.text.slice(from, to))).toEqual([' ok'])
  })

  test('another line ending alone is told apart from a change', () => {
    const comparison = compareTexts('a\nb\n', 'a\r\nb\r\n')
    expect(comparison.rows.map(({ kind }) => kind)).toEqual(['eol', 'eol'])
    expect([comparison.added, comparison.deleted]).toEqual([0, 0])
    expect(notesOf(comparison, both)).toEqual(['Only line endings differ (LF to CRLF)'])
  })

  test('a last line without its break is said', () => {
    expect(notesOf(compareTexts('a\n', 'a'), both)).toEqual(['The last line lost its line break'])
  })

  test('one line of five megabytes is compared in time, and only its surroundings are handed out', () => {
    const long = 'x'.repeat(5_000_000)
    const begun = performance.now()
    const { rows } = compareTexts(`${long}a${long}`, `${long}b${long}`)
    expect(performance.now() - begun).toBeLessThan(20_000)
    const cell = rows[0]?.left
    expect(cell?.text.length).toBeLessThan(2000)
    expect(cell?.marks.map(([from, to]) => cell.text.slice(from, to))).toEqual(['a'])
    expect((cell?.cut.before ?? 0) + (cell?.text.length ?? 0) + (cell?.cut.after ?? 0)).toBe(10_000_001)
  })

  test('two large texts with nothing in common end in time, as replaced', () => {
    const text = (seed: string) => Array.from({ length: 60_000 }, (_, n) => `${seed} ${n}`).join('\n')
    const begun = performance.now()
    const { added, deleted } = compareTexts(text('left'), text('right'))
    expect(performance.now() - begun).toBeLessThan(30_000)
    expect([added, deleted]).toEqual([60_000, 60_000])
  })

  test('lines with little in common have no marks', () => {
    expect(marksOf('alpha beta gamma', 'one two three')).toEqual({ left: [], right: [] })
  })
})

describe('without white space', () => {
  const options = { ignoreWhitespace: true }

  test('takes lines that differ in nothing else for the same, their endings too', () => {
    const { rows, added, deleted } = compareTexts('if (a) {\n  b\n}\n', 'if(a){\r\n\tb\r\n}\r\n', options)
    expect(rows.map(({ kind }) => kind)).toEqual(['same', 'same', 'same'])
    expect([added, deleted]).toEqual([0, 0])
  })

  test('shows what else differs', () => {
    const { rows } = compareTexts('a\n  b\n', 'a\n\tc\n', options)
    expect(rows.map(({ kind, right }) => `${kind} ${right?.text}`)).toEqual(['same a', 'change \tc'])
  })

  test('says nothing of endings', () => {
    const comparison = compareTexts('a\n', 'a\r\nb', options)
    expect(notesOf(comparison, both, true)).toEqual([])
  })
})
