/** A text's two sides, inline or side by side. Lines wrap; only what is in view is drawn. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { UnfoldVertical } from 'lucide-react'
import { memo, useCallback, useMemo, useRef, useState } from 'react'
import { visible } from '../../src-main/contract/text.ts'
import { count } from '../elements/format.ts'
import type { Cell, Comparison, MarkRange } from './compare.ts'
import { type DiffItem, itemsOf } from './view.ts'

const LINE_PX = 20
const OVERSCAN = 20

export type Layout = 'inline' | 'split'

export function Diff({ comparison, layout, label }: { comparison: Comparison; layout: Layout; label: string }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const items = useMemo(() => itemsOf(comparison.rows, layout, opened), [comparison, layout, opened])
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    getItemKey: useCallback((index: number) => items[index]?.id ?? index, [items]),
    overscan: OVERSCAN,
  })
  const digits = String(Math.max(1, comparison.rows.length)).length
  const open = useCallback((id: string) => setOpened((now) => new Set(now).add(id)), [])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key
    <section ref={scroller} aria-label={label} tabIndex={0} className="h-full overflow-y-auto">
      <div className="relative font-mono text-code select-text" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const item = items[index]
          return item ? (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0"
              style={{ top: start }}
            >
              <Item item={item} digits={digits} open={open} />
            </div>
          ) : null
        })}
      </div>
    </section>
  )
}

const Item = memo(function Item({ item, digits, open }: { item: DiffItem; digits: number; open(id: string): void }) {
  if (item.kind === 'fold')
    return (
      <button
        type="button"
        onClick={() => open(item.id)}
        className="flex h-6 w-full items-center gap-2 border-y border-line bg-panel px-3 font-sans text-small text-ink-3 hover:text-ink"
      >
        <UnfoldVertical size={12} aria-hidden="true" />
        {count(item.to - item.from, 'unchanged line')}
      </button>
    )
  if (item.kind === 'line') {
    const { side, cell, other, eol } = item
    return (
      <div className={`flex min-h-5 ${side === 'left' ? 'bg-del' : side === 'right' ? 'bg-add' : ''}`}>
        <LineNumber line={side === 'both' ? other : side === 'left' ? cell.line : null} digits={digits} />
        <LineNumber line={side === 'left' ? null : cell.line} digits={digits} />
        <Sign side={side} />
        <Text cell={cell} side={side} />
        {eol ? <EolMark /> : null}
      </div>
    )
  }
  const { row } = item
  const changed = row.kind === 'change'
  return (
    <div className="grid min-h-5 grid-cols-2">
      <Half cell={row.left} side={changed ? 'left' : 'both'} digits={digits} />
      <div className="min-w-0 border-l border-line">
        <Half cell={row.right} side={changed ? 'right' : 'both'} digits={digits} eol={row.kind === 'eol'} />
      </div>
    </div>
  )
})

interface HalfProps {
  cell: Cell | null
  side: 'left' | 'right' | 'both'
  digits: number
  eol?: boolean
}

function Half({ cell, side, digits, eol = false }: HalfProps) {
  if (!cell) return <div className="h-full bg-panel" />
  return (
    <div className={`flex h-full min-w-0 ${side === 'left' ? 'bg-del' : side === 'right' ? 'bg-add' : ''}`}>
      <LineNumber line={cell.line} digits={digits} />
      <Sign side={side} />
      <Text cell={cell} side={side} />
      {eol ? <EolMark /> : null}
    </div>
  )
}

const LineNumber = ({ line, digits }: { line: number | null; digits: number }) => (
  <span
    className="shrink-0 pl-2 text-right text-ink-3 select-none"
    style={{ width: `calc(${Math.max(digits, 2)}ch + 12px)` }}
  >
    {line}
  </span>
)

const Sign = ({ side }: { side: 'left' | 'right' | 'both' }) => (
  <span className={`w-6 shrink-0 text-center select-none ${side === 'left' ? 'text-bad' : 'text-ok'}`}>
    {side === 'left' ? '−' : side === 'right' ? '+' : ''}
  </span>
)

const EolMark = () => (
  <span title="Only the line ending differs" className="shrink-0 px-2 text-warn select-none">
    ↵
  </span>
)

function Text({ cell, side }: { cell: Cell; side: 'left' | 'right' | 'both' }) {
  const mark = side === 'left' ? 'bg-del-mark' : 'bg-add-mark'
  return (
    <span className="min-w-0 flex-1 pr-3 whitespace-pre-wrap [overflow-wrap:anywhere] [tab-size:4]">
      {cell.cut.before > 0 ? <Cut characters={cell.cut.before} /> : null}
      {pieces(cell.text, cell.marks).map(({ text, marked, at }) =>
        marked ? (
          <mark key={at} className={`rounded-xs text-inherit ${mark}`}>
            {visible(text)}
          </mark>
        ) : (
          visible(text)
        ),
      )}
      {cell.cut.after > 0 ? <Cut characters={cell.cut.after} /> : null}
    </span>
  )
}

const Cut = ({ characters }: { characters: number }) => (
  <span className="mx-1 rounded bg-panel px-1 font-sans text-tiny text-ink-3 select-none">
    … {count(characters, 'character')}
  </span>
)

/** The text cut at its marks. */
function pieces(text: string, marks: readonly MarkRange[]): { text: string; marked: boolean; at: number }[] {
  const cut: { text: string; marked: boolean; at: number }[] = []
  let at = 0
  for (const [from, to] of marks) {
    if (from > at) cut.push({ text: text.slice(at, from), marked: false, at })
    cut.push({ text: text.slice(from, to), marked: true, at: from })
    at = to
  }
  if (at < text.length) cut.push({ text: text.slice(at), marked: false, at })
  return cut
}
