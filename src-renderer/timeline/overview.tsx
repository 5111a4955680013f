/**
 * The strip above the rows. A click goes to the point taken then, drawing shows that stretch alone; with the keys: left and
 * right from point to point, W and S nearer and further, A and D earlier and later, 0 the whole.
 */
import { X } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import type { Point } from '../../src-main/contract/index.ts'
import { IconButton } from '../elements/button.tsx'
import { absolute, count } from '../elements/format.ts'
import { barsOf, drawn, inSpan, nearest, panned, type Span, shareOf, timeAt, zoomed } from './overview.ts'
import { titleOf } from './words.ts'

const BARS = 120
const HEIGHT = 24
/** Of the height: what stands below the line is for what failed. */
const LINE = 18
const NEARER = 0.5

interface OverviewProps {
  /** Oldest first. */
  points: readonly Point[]
  whole: Span
  /** What is shown; null for all. */
  span: Span | null
  onSpan(span: Span | null): void
  /** Null where now is looked at. */
  selected: Point | null
  select(id: string): void
}

export function Overview({ points, whole, span, onSpan, selected, select }: OverviewProps) {
  const shown = span ?? whole
  const bars = useMemo(() => barsOf(points, shown, BARS), [points, shown])
  const most = Math.max(1, ...bars.map(({ count }) => count))
  const strip = useRef<HTMLDivElement>(null)
  const [drawing, setDrawing] = useState<{ from: number; to: number } | null>(null)
  const at = selected?.at.getTime() ?? whole.to
  const cursor = shareOf(shown, at)

  const timeOf = (event: PointerEvent): number => {
    const { left = 0, width = 1 } = strip.current?.getBoundingClientRect() ?? {}
    return timeAt(shown, Math.min(1, Math.max(0, (event.clientX - left) / width)))
  }
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    setDrawing({ from: timeOf(event), to: timeOf(event) })
  }
  const onPointerMove = (event: PointerEvent) => {
    if (drawing) setDrawing({ from: drawing.from, to: timeOf(event) })
  }
  const onPointerUp = () => {
    if (!drawing) return
    setDrawing(null)
    const stretch = drawn(drawing.from, drawing.to, shown)
    const point = nearest(points, drawing.to)
    if (stretch) onSpan(stretch)
    else if (point) select(point.id)
  }
  const step = (by: 1 | -1) => {
    const seen = points.filter((point) => inSpan(shown, point))
    const here = selected ? seen.findIndex(({ id }) => id === selected.id) : seen.length
    const next = seen[Math.min(seen.length - 1, Math.max(0, here + by))]
    if (next) select(next.id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const keys: Record<string, () => void> = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      w: () => onSpan(zoomed(shown, whole, NEARER, at)),
      s: () => onSpan(zoomed(shown, whole, 1 / NEARER, at)),
      a: () => onSpan(span && panned(span, whole, -0.25)),
      d: () => onSpan(span && panned(span, whole, 0.25)),
      0: () => onSpan(null),
    }
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  return (
    <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-4">
      <div
        ref={strip}
        role="slider"
        aria-label="Overview"
        aria-valuemin={0}
        aria-valuemax={points.length}
        aria-valuenow={selected ? points.indexOf(selected) : points.length}
        aria-valuetext={`${selected ? titleOf(selected) : 'Now'}${span ? `, ${count(points.filter((point) => inSpan(span, point)).length, 'point')} from ${absolute(new Date(span.from))} to ${absolute(new Date(span.to))}` : ''}`}
        tabIndex={0}
        title={`${absolute(new Date(shown.from))} to ${absolute(new Date(shown.to))}`}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => setDrawing(null)}
        className="relative h-6 min-w-0 flex-1 touch-none rounded-sm focus-visible:outline-offset-1"
      >
        <svg
          viewBox={`0 0 ${BARS} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          className="absolute inset-0 size-full"
          shapeRendering="crispEdges"
        >
          <rect y={LINE} width={BARS} height={1} className="fill-line" />
          {bars.map(({ count, verdict }, bar) => {
            if (count === 0) return null
            const height = 2 + (LINE - 4) * (Math.log1p(count) / Math.log1p(most))
            return (
              <g key={bar}>
                <rect x={bar} y={LINE - height} width={0.75} height={height} className="fill-lane" />
                {verdict === 'fail' ? <rect x={bar} y={LINE} width={0.75} height={6} className="fill-bad" /> : null}
                {verdict === 'unknown' ? <rect x={bar} y={LINE} width={0.75} height={3} className="fill-warn" /> : null}
                {verdict === 'pass' ? <rect x={bar} y={0} width={0.75} height={2} className="fill-ok" /> : null}
              </g>
            )
          })}
        </svg>
        {cursor >= 0 && cursor <= 1 ? (
          <span className="absolute inset-y-0 w-0.5 -translate-x-px bg-accent" style={{ left: `${cursor * 100}%` }} />
        ) : null}
        {drawing && drawn(drawing.from, drawing.to, shown) ? (
          <span
            className="absolute inset-y-0 border-x border-accent bg-accent-soft/60"
            style={{
              left: `${shareOf(shown, Math.min(drawing.from, drawing.to)) * 100}%`,
              right: `${(1 - shareOf(shown, Math.max(drawing.from, drawing.to))) * 100}%`,
            }}
          />
        ) : null}
      </div>
      {span ? (
        <IconButton label="Show the whole run" shortcut="0" onClick={() => onSpan(null)}>
          <X size={15} />
        </IconButton>
      ) : null}
    </div>
  )
}
