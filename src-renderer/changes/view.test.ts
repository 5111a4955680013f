import { describe, expect, test } from 'vitest'
import { compareTexts } from './compare.ts'
import { itemsOf, stretchesOf } from './view.ts'

const numbered = (count: number, change: (n: number) => string = (n) => `line ${n}`) =>
  `${Array.from({ length: count }, (_, n) => change(n + 1)).join('\n')}\n`
const rows = compareTexts(
  numbered(40),
  numbered(40, (n) => (n === 20 ? 'changed 20' : `line ${n}`)),
).rows

describe('what is drawn of a difference', () => {
  test('three lines around a change stay, the rest is folded on either side', () => {
    const items = itemsOf(rows, 'split', new Set())
    expect(items.map(({ kind }) => kind)).toEqual(['fold', ...Array(7).fill('row'), 'fold'])
    expect(items[0]).toMatchObject({ from: 0, to: 16 })
  })

  test('an opened fold shows its lines', () => {
    const [fold] = itemsOf(rows, 'split', new Set())
    expect(itemsOf(rows, 'split', new Set([fold?.id ?? '']))).toHaveLength(16 + 7 + 1)
  })

  test('inline, what went stands before what came', () => {
    const items = itemsOf(compareTexts('a\nb\nc\n', 'x\ny\nc\n').rows, 'inline', new Set())
    expect(items.map((item) => (item.kind === 'line' ? `${item.side} ${item.cell.text}` : item.kind))).toEqual([
      'left a',
      'left b',
      'right x',
      'right y',
      'both c',
    ])
  })

  test('runs of changes are told, with what each holds', () => {
    const { rows } = compareTexts('a\nb\nc\nd\ne\n', 'a\nB\nc\nd\ne\nf\n')
    const kinds = (layout: 'inline' | 'split') =>
      stretchesOf(itemsOf(rows, layout, new Set())).map(({ from, to, kind }) => `${from}-${to} ${kind}`)
    expect(kinds('inline')).toEqual(['1-3 both', '6-7 added'])
    expect(kinds('split')).toEqual(['1-2 both', '5-6 added'])
    expect(stretchesOf([])).toEqual([])
  })
})
