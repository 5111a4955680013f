/**
 * The timeline: a listbox of moments, newest first. Only what is in view is drawn, so ten thousand points cost as
 * much as thirty. Rows that arrive while the person reads further down never move what is being read.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp, ListCollapse, ListTree, Search } from 'lucide-react'
import {
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Timeline as TimelineModel } from '../../src-main/contract/index.ts'
import { bareRewindTarget, isLive } from '../../src-main/contract/timeline.ts'
import { IconButton } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { act, keyCaps, onAction } from '../session/keys.ts'
import { NO_FILTER, passing } from './filter.ts'
import { FilterPopover } from './filter-popover.tsx'
import { foundBy } from './find.ts'
import { FIND_ID, FindBar } from './find-bar.tsx'
import { focusTimeline, isFocusNowhere, TIMELINE_ID } from './focus.ts'
import { lanesOf } from './lanes.ts'
import { pointOf } from './moments.ts'
import { extentOf, inSpan, type Span } from './overview.ts'
import { Overview } from './overview.tsx'
import { FoldRowView, NowRow, optionId, PointRowView, type RowProps, type Tint } from './row.tsx'
import { heightOf, idsOf, rangeOf, rowsOf } from './rows.ts'

const OVERSCAN = 12
/** Shorter runs are seen whole: a strip of them would say nothing. */
const LONG = 30

type KeyFields = 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'preventDefault'

export function Timeline({ timeline }: { timeline: TimelineModel }) {
  const { selection } = useHost()
  const moment = useSelection((state) => state.moment)
  const other = useSelection((state) => state.other)
  const details = useSession((state) => state.details)
  const running = useSession((state) => state.commands.findLast((command) => command.status === 'running'))
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [fold, setFold] = useState(true)
  const [filter, setFilter] = useState(NO_FILTER)
  /** What is looked for; null while nothing is. */
  const [typed, setTyped] = useState<string | null>(null)
  const { points, head } = timeline
  const commits = useSession((state) => state.commits)
  const committed = useMemo(
    () => new Set(commits.filter(({ undoneAt }) => undoneAt === null).map(({ point }) => point)),
    [commits],
  )
  /** The stretch of time that is looked at; null for the whole run. */
  const [span, setSpan] = useState<Span | null>(null)
  const shown = useMemo(() => {
    const passed = passing(filter, points, head, committed)
    if (!span) return passed
    return new Set(points.filter((one) => inSpan(span, one) && (passed?.has(one.id) ?? true)).map(({ id }) => id))
  }, [filter, points, head, committed, span])
  const whole = useMemo(() => (points.length >= LONG ? extentOf(points) : null), [points])
  const found = useMemo(() => {
    const among = shown ? points.filter(({ id }) => shown.has(id)) : points
    return new Set(foundBy(among, typed ?? '').map(({ id }) => id))
  }, [points, shown, typed])

  const rows = useMemo(
    () => rowsOf(points, head, { opened, fold, shown, keep: new Set([moment, other ?? moment, ...found]) }),
    [points, head, opened, fold, shown, moment, other, found],
  )
  const lanes = useMemo(() => lanesOf(rows), [rows])
  const live = details === null || isLive(details)
  const target = useMemo(() => (live ? bareRewindTarget(points, head)?.id : undefined), [live, points, head])
  const range = useMemo(() => rangeOf(rows, moment, other ?? moment), [rows, moment, other])
  const active = useMemo(() => rows.findIndex((row) => idsOf(row).includes(other ?? moment)), [rows, moment, other])

  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    // Both change with the rows and only then: that is how the virtualizer learns that heights are others.
    estimateSize: useCallback((index: number) => heightOf(rows[index]), [rows]),
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    overscan: OVERSCAN,
  })
  const offsets = useMemo(() => {
    let top = 0
    return rows.map((row) => {
      const at = top
      top += heightOf(row)
      return at
    })
  }, [rows])
  const unseen = useSteadyScroll(scroller, rows, offsets, points.length)

  const pick = useCallback(
    (index: number, extend: boolean) => {
      const row = rows[index]
      if (!row) return
      if (row.kind === 'fold') setOpened((now) => new Set(now).add(row.id))
      else if (extend) selection.extend(row.id)
      else selection.select(row.id)
    },
    [rows, selection],
  )
  const onPick = useCallback((index: number, event: MouseEvent) => pick(index, event.shiftKey), [pick])

  /** Walks over folds: they are opened on purpose, not by passing. */
  const step = (to: number, extend: boolean) => {
    const down = to > active
    let index = Math.max(0, Math.min(rows.length - 1, to))
    while (rows[index]?.kind === 'fold') index += down ? 1 : -1
    pick(index, extend)
    virtual.scrollToIndex(index, { align: 'auto' })
  }
  /** Where the next row that was found lies, around the end where there is none further on. */
  const stepFound = (by: 1 | -1) => {
    const places = rows.flatMap((row, index) => (found.has(row.id) ? [index] : []))
    const further = by > 0 ? places.find((index) => index > active) : places.findLast((index) => index < active)
    const to = further ?? places.at(by > 0 ? 0 : -1)
    if (to !== undefined) pick(to, false)
  }
  const closeFind = () => {
    setTyped(null)
    focusTimeline()
  }
  useEffect(
    () =>
      onAction('find', () => {
        setTyped((now) => now ?? '')
        const input = document.getElementById(FIND_ID)
        if (input instanceof HTMLInputElement) input.select()
      }),
    [],
  )
  const openBeside = () => {
    const fold = [active + 1, active - 1].find((index) => rows[index]?.kind === 'fold')
    if (fold !== undefined) pick(fold, false)
  }
  const onKeyDown = (event: Pick<KeyboardEvent, KeyFields>) => {
    if (event.key === 'ArrowRight') return openBeside()
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / 40))
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    }
    const to = moves[event.shiftKey && event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    step(to, event.shiftKey)
  }

  const latestKey = useRef(onKeyDown)
  latestKey.current = onKeyDown
  useEffect(() => {
    if (isFocusNowhere()) focusTimeline()
    // A press that reaches nobody is ours: the control that had the focus is gone.
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.target !== document.body || document.querySelector('dialog[open]')) return
      latestKey.current(event)
      if (event.defaultPrevented) focusTimeline()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])

  // Whatever else moves the selection (a key elsewhere, a row of the ledger) brings it into view.
  const selected = other ?? moment
  useEffect(() => {
    if (active >= 0) virtual.scrollToIndex(active, { align: 'auto' })
  }, [selected])

  const activeRow = rows[active]
  const branches = useMemo(
    () => new Set(rows.flatMap((row) => (row.kind === 'now' ? [] : (row.branch?.letter ?? [])))),
    [rows],
  )
  const checkpoints = points.filter((point) => point.kind === 'checkpoint')
  return (
    <section aria-label="Timeline pane" className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-4 text-small text-ink-2">
        <span className="flex-1 truncate">
          {shown === null
            ? count(checkpoints.length, 'point')
            : `${checkpoints.filter(({ id }) => shown.has(id)).length} of ${count(checkpoints.length, 'point')}`}
          {branches.size > 0 ? ` · ${count(branches.size, 'branch', 'branches')}` : ''}
        </span>
        <IconButton label="Find in the timeline" shortcut={keyCaps('Mod+F')} onClick={() => act('find')}>
          <Search size={14} />
        </IconButton>
        <FilterPopover filter={filter} onFilter={setFilter} />
        <IconButton
          label={fold ? 'Show every automatic point' : 'Fold automatic points'}
          onClick={() => {
            setOpened(new Set())
            setFold(!fold)
          }}
        >
          {fold ? <ListTree size={15} /> : <ListCollapse size={15} />}
        </IconButton>
      </header>
      {typed === null ? null : (
        <FindBar
          typed={typed}
          onType={setTyped}
          found={found.size}
          at={rows.slice(0, active + 1).filter(({ id }) => found.has(id)).length * (found.has(selected) ? 1 : 0)}
          step={stepFound}
          close={closeFind}
        />
      )}
      {whole ? (
        <Overview
          points={points}
          whole={whole}
          span={span}
          onSpan={setSpan}
          selected={pointOf(timeline, moment)}
          select={selection.select}
        />
      ) : null}
      <div className="relative min-h-0 flex-1">
        <div
          ref={scroller}
          id={TIMELINE_ID}
          role="listbox"
          aria-label="Timeline"
          aria-multiselectable="true"
          aria-activedescendant={activeRow ? optionId(activeRow) : undefined}
          tabIndex={0}
          onKeyDown={onKeyDown}
          className="h-full overflow-y-auto overflow-x-hidden outline-none focus-visible:outline-2"
        >
          <div className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start, key }) => {
              const row = rows[index]
              const lines = lanes.rows[index]
              if (!row || !lines) return null
              const shared: RowProps = {
                lines,
                lanes: lanes.count,
                index,
                total: rows.length,
                tint: tintOf(index, range, other !== null),
                found: found.has(row.id),
                onPick,
              }
              return (
                <div key={key} className="absolute inset-x-0" style={{ top: start }}>
                  {row.kind === 'now' ? <NowRow {...shared} row={row} details={details} running={running} /> : null}
                  {row.kind === 'point' ? (
                    <PointRowView {...shared} row={row} target={row.id === target} committed={committed.has(row.id)} />
                  ) : null}
                  {row.kind === 'fold' ? <FoldRowView {...shared} row={row} /> : null}
                </div>
              )
            })}
          </div>
        </div>
        {unseen > 0 ? (
          <button
            type="button"
            onClick={() => scroller.current?.scrollTo({ top: 0 })}
            className="absolute top-2 left-1/2 flex h-7 -translate-x-1/2 animate-rise items-center gap-1.5 rounded-full bg-accent px-3 text-small font-medium text-accent-ink shadow-float"
          >
            <ArrowUp size={13} aria-hidden="true" />
            {unseen} new
          </button>
        ) : null}
      </div>
    </section>
  )
}

function tintOf(index: number, range: { from: number; to: number } | null, isRange: boolean): Tint {
  if (!range || index < range.from || index > range.to) return 'none'
  if (!isRange) return 'moment'
  return index === range.from || index === range.to ? 'end' : 'between'
}

/** Keeps the row being read where it is when rows arrive above it; counts the points that came meanwhile. */
function useSteadyScroll(
  scroller: { current: HTMLDivElement | null },
  rows: readonly { id: string }[],
  offsets: readonly number[],
  points: number,
): number {
  const anchor = useRef<{ id: string; into: number } | null>(null)
  const seen = useRef(points)
  const [unseen, setUnseen] = useState(0)

  useEffect(() => {
    const box = scroller.current
    if (!box) return
    const remember = () => {
      const top = box.scrollTop
      if (top <= 0) {
        anchor.current = null
        seen.current = points
        setUnseen(0)
        return
      }
      const index = Math.max(
        0,
        offsets.findLastIndex((offset) => offset <= top),
      )
      const id = rows[index]?.id
      anchor.current = id === undefined ? null : { id, into: top - (offsets[index] ?? 0) }
    }
    remember()
    box.addEventListener('scroll', remember, { passive: true })
    return () => box.removeEventListener('scroll', remember)
  }, [scroller, rows, offsets, points])

  useLayoutEffect(() => {
    const box = scroller.current
    if (!box || !anchor.current) return
    const { id, into } = anchor.current
    const index = rows.findIndex((row) => row.id === id)
    if (index >= 0) box.scrollTop = (offsets[index] ?? 0) + into
    setUnseen(Math.max(0, points - seen.current))
  }, [scroller, rows, offsets, points])

  return unseen
}
