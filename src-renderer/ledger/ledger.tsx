/**
 * The ledger as a table: what was verified, decided and rolled back, newest first. No rewind touches it; a row leads to
 * the state that it is about. Only what is in view is drawn, and rows that arrive never move what is being read.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { X } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { Group, Panel, Separator } from 'react-resizable-panels'
import { useStore } from 'zustand'
import type { LedgerEntry } from '../../src-main/contract/index.ts'
import { Button } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import { Nothing } from '../elements/problem.tsx'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { type AboutOf, aboutOf } from './about.ts'
import { ChainBroken, ChainState, useChain } from './chain.tsx'
import { Detail } from './detail.tsx'
import { ExportMenu } from './export-menu.tsx'
import { choicesOf, isFiltered, matching, previousHash } from './filter.ts'
import { Filters } from './filters.tsx'
import { EntryRow, Headings, ROW_PX, rowId } from './row.tsx'

const OVERSCAN = 12

export function Ledger() {
  const { ledgerView: view, selection } = useHost()
  const entries = useSession((state) => state.ledger)
  const timeline = useSession((state) => state.timeline)
  const { filters, active, open } = useStore(view)
  const chain = useChain()
  const about = useMemo(() => aboutOf(timeline), [timeline])
  const choices = useMemo(() => choicesOf(entries), [entries])
  const rows = useMemo(() => matching(entries, filters).toReversed(), [entries, filters])
  const entry = useMemo(() => (open ? rows.find(({ id }) => id === active) : undefined), [rows, open, active])

  const show = useCallback(
    (entry: LedgerEntry) => {
      const point = about(entry)
      if (point !== null) selection.select(point)
    },
    [about, selection],
  )
  if (entries.length === 0)
    return (
      <Nothing title="Nothing in the ledger yet">
        Each verification, decision and rewind is written here for good.
      </Nothing>
    )
  const brokenAt = chain.state === 'ready' ? chain.value.brokenAt : null
  const showBroken = () => {
    view.clear()
    view.at(brokenAt ?? 0)
    view.open(true)
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line pr-2 pl-4 text-small text-ink-2">
        <span role="status" className="shrink-0">
          {isFiltered(filters)
            ? `${rows.length.toLocaleString('en-US')} of ${count(entries.length, 'row')}`
            : count(entries.length, 'row')}
        </span>
        <ChainState chain={chain} />
        <span className="flex-1" />
        {isFiltered(filters) ? (
          <Button look="quiet" icon={<X size={13} />} onClick={view.clear}>
            Clear filters
          </Button>
        ) : null}
        <ExportMenu />
      </header>
      {chain.state === 'ready' ? (
        <ChainBroken chain={chain.value} show={entries.some(({ id }) => id === brokenAt) ? showBroken : null} />
      ) : null}
      <Filters filters={filters} choices={choices} change={view.filter} />
      {/* The table stays the same one, with its focus, when the detail comes and goes. */}
      <Group orientation="vertical" className="min-h-0 flex-1">
        <Panel id="ledger-rows" minSize={84}>
          <Table rows={rows} about={about} show={show} />
        </Panel>
        {entry ? (
          <Separator className="h-px bg-line outline-none data-[separator=active]:bg-accent data-[separator=hover]:bg-accent" />
        ) : null}
        {entry ? (
          <Panel id="ledger-row" defaultSize="55%" minSize={96}>
            <Detail
              key={entry.id}
              entry={entry}
              previous={previousHash(entries, entry.id)}
              show={about(entry) === null ? null : () => show(entry)}
              close={() => {
                view.open(false)
                document.getElementById(TABLE_ID)?.focus()
              }}
            />
          </Panel>
        ) : null}
      </Group>
    </div>
  )
}

const TABLE_ID = 'ledger-rows-table'

interface TableProps {
  /** Newest first. */
  rows: readonly LedgerEntry[]
  about: AboutOf
  show(about: LedgerEntry): void
}

function Table({ rows, about, show }: TableProps) {
  const { ledgerView: view } = useHost()
  const moment = useSelection((state) => state.moment)
  const { active, open } = useStore(view)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    overscan: OVERSCAN,
  })
  useSteady(scroller, rows)
  const at = useMemo(() => rows.findIndex(({ id }) => id === active), [rows, active])
  // Also where the detail takes half of the room, or somebody else chose the row.
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
  }, [active, open])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 1)
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    }
    const to = moves[event.key]
    const entry = rows[at]
    if (to !== undefined) {
      const next = rows[Math.max(0, Math.min(rows.length - 1, to))]
      if (next) view.at(next.id)
    } else if ((event.key === 'Enter' || event.key === ' ') && entry) view.open(!open)
    else if (event.key === 'Escape' && open) view.open(false)
    else if (event.key.toLowerCase() === 'g' && entry) show(entry)
    else return
    event.preventDefault()
  }
  const shown = rows[at]
  return (
    <div className="flex h-full min-h-0 flex-col">
      {/* biome-ignore lint/a11y/useSemanticElements: a table that draws only what is in view */}
      <div
        ref={scroller}
        id={TABLE_ID}
        role="grid"
        aria-label="Ledger rows"
        aria-rowcount={rows.length + 1}
        aria-activedescendant={shown ? rowId(shown.id) : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="min-h-0 flex-1 overflow-y-auto"
      >
        <Headings />
        {/* biome-ignore lint/a11y/useSemanticElements: rows of a grid that draws only what is in view */}
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const entry = rows[index]
            if (!entry) return null
            const state = about(entry)
            return (
              <EntryRow
                key={key}
                entry={entry}
                index={index}
                top={start}
                active={entry.id === active}
                about={state !== null && state === moment}
                held={state !== null}
                show={show}
                pick={view.toggle}
              />
            )
          })}
        </div>
        {rows.length === 0 ? <p className="px-4 py-3 text-small text-ink-2">No row matches.</p> : null}
      </div>
    </div>
  )
}

/** Keeps the row being read where it is when rows arrive above it. */
function useSteady(scroller: { current: HTMLDivElement | null }, rows: readonly LedgerEntry[]): void {
  const newest = useRef(rows[0]?.id)
  useLayoutEffect(() => {
    const box = scroller.current
    const arrived = rows.findIndex(({ id }) => id === newest.current)
    newest.current = rows[0]?.id
    if (box && arrived > 0 && box.scrollTop > 0) box.scrollTop += arrived * ROW_PX
  }, [scroller, rows])
}
