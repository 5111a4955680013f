/** The files that differ, one row each, as a tree of their folders or as a plain list. Arrow keys walk it. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight, FolderTree, List, Search } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { LineTotals } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { IconButton } from '../elements/button.tsx'
import { count, leaf } from '../elements/format.ts'
import { useHost } from '../host/context.ts'
import { remembered } from '../host/remembered.ts'
import { matching } from './filter.ts'
import { Letter, statusOf, wordOf } from './letters.tsx'
import { pathsOf } from './place.ts'
import type { SeenChange } from './seen.ts'
import { createTotaller, type Totaller, type Totals } from './totals.ts'
import { listOf, parentOf, type Row, rowsOf, treeOf } from './tree.ts'

const ROW_PX = 28
const INDENT_PX = 12
/** Deeper rows stand beneath each other: names are what is read. */
const DEEPEST_INDENT = 10

export type Arrangement = 'tree' | 'list'

const arrangementMemory = remembered('changes-arrangement')

/** How the files are arranged, remembered. */
export function useArrangement(): [Arrangement, (next: Arrangement) => void] {
  const [arrangement, setArrangement] = useState<Arrangement>(arrangementMemory.get() === 'list' ? 'list' : 'tree')
  useEffect(() => arrangementMemory.set(arrangement), [arrangement])
  return [arrangement, setArrangement]
}

/** Which two moments are compared. */
export interface Between {
  session: string
  from: string
  to: string
  version: number
}

interface FileListProps {
  changes: SeenChange[]
  /** Changes beyond the listed ones. */
  more: number
  between: Between
  arrangement: Arrangement
  arrange(next: Arrangement): void
  /** Key of the change that is open. */
  shown: string | null
  pick(key: string): void
  /** Puts the keys into what is open. */
  enter(): void
}

/** Finds files by a part of their path, whatever its case; the diff that is open stays. */
export function FileList({ changes: all, more, between, arrangement, arrange, shown, pick, enter }: FileListProps) {
  const [filter, setFilter] = useState('')
  const changes = useMemo(() => matching(all, filter), [all, filter])
  const { rows, fold } = useRows(changes, arrangement, filter)
  const [cursor, setCursor] = useState<string | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    overscan: 10,
  })
  const drawn = virtual.getVirtualItems()
  const totals = useTotals(
    between,
    drawn.flatMap(({ index }) => rows[index]?.change ?? []),
  )
  const open = rows.findIndex((row) => row.change && row.key === shown)
  const stood = cursor === null ? -1 : rows.findIndex(({ key }) => key === cursor)
  const active = stood >= 0 ? stood : open
  const goTo = (to: number) => {
    const row = rows[to]
    if (!row) return
    setCursor(row.key)
    if (row.change) pick(row.key)
    virtual.scrollToIndex(to, { align: 'auto' })
  }
  const act = (row: Row) => {
    setCursor(row.key)
    if (row.folder) fold(row, row.folder.isOpen)
    if (row.change) pick(row.key)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const row = rows[active]
    const to = { ArrowDown: active + 1, ArrowUp: Math.max(active - 1, 0), Home: 0, End: rows.length - 1 }[event.key]
    if (to !== undefined) goTo(to)
    else if (event.key === 'ArrowRight' && row?.folder) row.folder.isOpen ? goTo(active + 1) : fold(row, false)
    else if (event.key === 'ArrowLeft' && row) row.folder?.isOpen ? fold(row, true) : goTo(parentOf(rows, active))
    else if (event.key === 'Enter' && row && !row.folder) enter()
    else if ((event.key === 'Enter' || event.key === ' ') && row?.folder) fold(row, row.folder.isOpen)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onFilterKey = (event: KeyboardEvent) => {
    const first = rows.findIndex(({ folder }) => folder === null)
    if (event.key === 'Enter' && first >= 0) goTo(first)
    else if (event.key === 'ArrowDown' && first >= 0) {
      if (active < 0) goTo(first)
      scroller.current?.focus()
    } else if (event.key === 'Escape' && filter !== '') setFilter('')
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const isTree = arrangement === 'tree'
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-7 shrink-0 items-center gap-1 border-b border-line pr-1 pl-3">
        <label className="flex min-w-0 flex-1 items-center gap-2 text-ink-3 focus-within:text-ink">
          <Search size={12} aria-hidden="true" className="shrink-0" />
          <input
            type="text"
            aria-label="Filter files"
            placeholder="Filter"
            spellCheck={false}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            onKeyDown={onFilterKey}
            className="min-w-0 flex-1 bg-transparent text-small text-ink outline-none placeholder:text-ink-3"
          />
          {filter ? (
            <span role="status" className="shrink-0 text-tiny text-ink-2">
              {changes.length.toLocaleString('en-US')}
            </span>
          ) : null}
        </label>
        <IconButton
          label="Show as tree"
          pressed={isTree}
          className="size-6"
          onClick={() => arrange(isTree ? 'list' : 'tree')}
        >
          {isTree ? <FolderTree size={13} aria-hidden="true" /> : <List size={13} aria-hidden="true" />}
        </IconButton>
      </div>
      <div
        ref={scroller}
        role="tree"
        aria-label="Files"
        aria-activedescendant={active >= 0 ? `file-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="group min-h-0 flex-1 overflow-y-auto"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {drawn.map(({ index, start, key }) => {
            const row = rows[index]
            return row ? (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the list
              <div
                key={key}
                id={`file-${index}`}
                role="treeitem"
                aria-level={row.level}
                aria-posinset={row.place.at + 1}
                aria-setsize={row.place.of}
                aria-expanded={row.folder?.isOpen}
                aria-selected={index === open}
                aria-label={spoken(row, isTree, totals.get(row.key))}
                title={titleOf(row)}
                onClick={() => act(row)}
                className={`absolute inset-x-0 flex h-7 items-center gap-2 pr-3 ${index === open ? 'bg-accent-soft' : 'hover:bg-hover'} ${index === active && index !== open ? 'group-focus:outline-1 group-focus:-outline-offset-1 group-focus:outline-accent-line' : ''}`}
                style={{ top: start, paddingLeft: 12 + Math.min(row.level - 1, DEEPEST_INDENT) * INDENT_PX }}
              >
                {row.folder ? (
                  <FolderRow row={row} folder={row.folder} />
                ) : (
                  <FileRow row={row} isTree={isTree} totals={totals.get(row.key)} />
                )}
              </div>
            ) : null
          })}
        </div>
      </div>
      {more > 0 ? (
        <p
          className="border-t border-line px-3 py-1 text-small text-ink-2"
          title="`rewind diff` in a terminal lists them all."
        >
          and {more.toLocaleString()} more
        </p>
      ) : null}
    </div>
  )
}

/** The rows, and a way to fold one. What a filter finds is shown, whatever was folded before. */
function useRows(changes: SeenChange[], arrangement: Arrangement, filter: string) {
  const tree = useMemo(() => (arrangement === 'tree' ? treeOf(changes) : null), [changes, arrangement])
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [closedFound, setClosedFound] = useState<{ filter: string; keys: ReadonlySet<string> }>()
  const found = closedFound?.filter === filter ? closedFound.keys : NONE
  const now = filter ? found : closed
  const rows = useMemo(() => (tree ? rowsOf(tree, (key) => now.has(key)) : listOf(changes)), [tree, changes, now])
  const fold = ({ key }: Row, close: boolean) => {
    const keys = new Set(now)
    if (close) keys.add(key)
    else keys.delete(key)
    if (filter) setClosedFound({ filter, keys })
    else setClosed(keys)
  }
  return { rows, fold }
}

const NONE: ReadonlySet<string> = new Set()

const NO_TOTALS: Totals = new Map()

/** Lines of what is drawn, as far as they are known. */
function useTotals({ session, from, to, version }: Between, drawn: readonly SeenChange[]): Totals {
  const { rpc } = useHost()
  const [known, setKnown] = useState<{ of: Totaller; totals: Totals } | null>(null)
  const [totaller, setTotaller] = useState<Totaller | null>(null)
  useEffect(() => {
    const made: Totaller = createTotaller(
      (changes, signal) => rpc.files.lines({ session, from, to, paths: changes.map(pathsOf) }, { signal }),
      (totals) => setKnown({ of: made, totals }),
    )
    setTotaller(made)
    return () => made.close()
  }, [rpc, session, from, to])
  useEffect(() => totaller?.want(drawn, version), [totaller, drawn, version])
  return known && known.of === totaller ? known.totals : NO_TOTALS
}

const titleOf = ({ path, change }: Row): string =>
  change?.was ? `${visibleName(change.was.path)} → ${visibleName(path)}` : visibleName(path)

function spoken({ name, path, change, folder }: Row, isTree: boolean, totals: LineTotals | undefined): string {
  const what = visibleName(isTree ? name : path)
  if (folder) return [what, count(folder.files, 'file'), ...(change ? [wordOf(change)] : [])].join(', ')
  const lines = totals
    ? [`${count(totals.added, 'line')} added, ${totals.deleted.toLocaleString('en-US')} deleted`]
    : []
  return [what, ...(change ? [wordOf(change)] : []), ...lines].join(', ')
}

function FolderRow({ row, folder }: { row: Row; folder: NonNullable<Row['folder']> }) {
  return (
    <>
      <span className="flex w-4 shrink-0 justify-center text-ink-3">
        {folder.isOpen ? <ChevronDown size={14} aria-hidden="true" /> : <ChevronRight size={14} aria-hidden="true" />}
      </span>
      <span className="min-w-0 flex-1 truncate text-ink-2">{visibleName(row.name)}</span>
      {row.change ? <Letter status={row.change.status} /> : null}
      {folder.isOpen ? null : (
        <span className="shrink-0 text-small text-ink-3">{folder.files.toLocaleString('en-US')}</span>
      )}
    </>
  )
}

function FileRow({ row, isTree, totals }: { row: Row; isTree: boolean; totals: LineTotals | undefined }) {
  const { change, name, path } = row
  if (!change) return null
  const aside = change.was ? cameFrom(path, change.was.path) : isTree ? '' : folderOf(path)
  return (
    <>
      <Letter status={statusOf(change)} />
      {/* What does not fit beside the name is not there at all: it wraps out of sight. */}
      <span className="flex h-5 min-w-0 flex-1 flex-wrap items-baseline gap-x-2 overflow-hidden leading-5">
        <span className={`max-w-full truncate ${change.status === 'deleted' ? 'text-ink-2 line-through' : ''}`}>
          {visibleName(name)}
          {change.kind === 'folder' ? '/' : ''}
        </span>
        {aside ? (
          <span className="flex min-w-14 flex-1 basis-14 gap-1 text-small leading-5 text-ink-3">
            {change.was ? <span>←</span> : null}
            <span className="min-w-0 truncate-start">
              <bdi>{visibleName(aside)}</bdi>
            </span>
          </span>
        ) : null}
      </span>
      {totals ? <Lines totals={totals} /> : null}
    </>
  )
}

const folderOf = (path: string): string => path.slice(0, path.length - leaf(path).length).replace(/\/$/, '')

/** What of its old path says where it came from: the folder where the name is the same, else the name. */
const cameFrom = (path: string, was: string): string => (leaf(path) === leaf(was) ? folderOf(was) || '/' : leaf(was))

function Lines({ totals: { added, deleted } }: { totals: LineTotals }) {
  return (
    <span className="flex shrink-0 gap-1.5 text-tiny tabular-nums">
      {added > 0 ? <span className="text-ok">+{added.toLocaleString('en-US')}</span> : null}
      {deleted > 0 ? <span className="text-bad">−{deleted.toLocaleString('en-US')}</span> : null}
    </span>
  )
}
