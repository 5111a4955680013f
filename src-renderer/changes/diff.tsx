/** A text's two sides, inline or side by side. Lines wrap; only what is in view is drawn. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronUp, UnfoldVertical } from 'lucide-react'
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { visible } from '../../src-main/contract/text.ts'
import { IconButton } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import type { Cell, Comparison, MarkRange } from './compare.ts'
import { type DiffItem, itemsOf, type Stretch, stretchesOf } from './view.ts'

const LINE_PX = 20
const OVERSCAN = 20

export type Layout = 'inline' | 'split'

/** Marks of the overview; more would not be told apart. */
const MARKS = 400

export function Diff({ comparison, layout, label }: { comparison: Comparison; layout: Layout; label: string }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const items = useMemo(() => itemsOf(comparison.rows, layout, opened), [comparison, layout, opened])
  const stretches = useMemo(() => stretchesOf(items), [items])
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
  const [at, setAt] = useState<number | null>(null)
  const go = useCallback(
    (to: number) => {
      const stretch = stretches[to]
      if (!stretch) return
      setAt(to)
      virtual.scrollToIndex(stretch.from, { align: 'center' })
    },
    [stretches, virtual],
  )
  const last = stretches.length - 1
  const next = useCallback(() => go(at === null ? 0 : Math.min(at + 1, last)), [go, at, last])
  const previous = useCallback(() => go(at === null ? last : Math.max(at - 1, 0)), [go, at, last])
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
      const step = { ArrowDown: next, ArrowUp: previous }[event.key]
      // What lies beneath a sheet stays as it is.
      if (!step || scroller.current?.closest('dialog') !== document.querySelector('dialog[open]')) return
      event.preventDefault()
      step()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [next, previous])
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-7 shrink-0 items-center gap-2 border-b border-line pr-1 pl-3 text-small">
        <span className="text-ok">+{comparison.added.toLocaleString('en-US')}</span>
        <span className="text-bad">−{comparison.deleted.toLocaleString('en-US')}</span>
        <span className="flex-1" />
        <span role="status" className="text-ink-2">
          {at === null
            ? count(stretches.length, 'change')
            : `${Math.min(at, last) + 1} of ${count(stretches.length, 'change')}`}
        </span>
        <IconButton label="Previous change" aria-keyshortcuts="Alt+ArrowUp" className="size-6" onClick={previous}>
          <ChevronUp size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label="Next change" aria-keyshortcuts="Alt+ArrowDown" className="size-6" onClick={next}>
          <ChevronDown size={14} aria-hidden="true" />
        </IconButton>
      </div>
      <div className="flex min-h-0 flex-1">
        <section
          ref={scroller}
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key
          tabIndex={0}
          className="min-w-0 flex-1 overflow-y-auto"
        >
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
        {stretches.length > 1 && virtual.getTotalSize() > (scroller.current?.clientHeight ?? 0) ? (
          <Overview stretches={stretches} items={items.length} go={go} />
        ) : null}
      </div>
    </div>
  )
}

const overviewTones = { added: 'bg-ok', deleted: 'bg-bad', both: 'bg-warn' } as const

/** Where in the file its changes lie; the same as the buttons, for a mouse. */
function Overview({
  stretches,
  items,
  go,
}: {
  stretches: readonly Stretch[]
  items: number
  go(stretch: number): void
}) {
  const each = Math.ceil(stretches.length / MARKS)
  return (
    <div aria-hidden="true" className="relative w-2.5 shrink-0 border-l border-line">
      {stretches.map(({ from, to, kind }, at) =>
        at % each === 0 ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys and the buttons do it
          // biome-ignore lint/a11y/noStaticElementInteractions: as above
          <div
            key={from}
            onClick={() => go(at)}
            className={`absolute inset-x-0.5 min-h-0.75 rounded-xs ${overviewTones[kind]}`}
            style={{ top: `${(from / items) * 100}%`, height: `${((to - from) / items) * 100}%` }}
          />
        ) : null,
      )}
    </div>
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
