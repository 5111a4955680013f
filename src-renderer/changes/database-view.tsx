/** A database's two states: its tables with what changed in each, and the rows of one that differ. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from 'react'
import type { DatabaseCell, DatabaseRow, DatabaseTable } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { count } from '../elements/format.ts'
import { Loading, Nothing, Problem } from '../elements/problem.tsx'
import { Block, Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { columnOrder, columnWidths, firstOf, inOrder, wordsOf } from './database-words.ts'
import { type PathThenAndNow, type Place, placeKey } from './place.ts'

interface DatabaseViewProps {
  place: Place
  /** The database's own path: the place may be that of its log. */
  path: PathThenAndNow
  /** What is shown where it cannot be read. */
  otherwise: React.ReactNode
}

export function DatabaseView({ place, path, otherwise }: DatabaseViewProps) {
  const { rpc } = useHost()
  const { session, from, to, version } = place
  const [picked, setPicked] = useState<string | null>(null)
  const asked = useAsked(`${placeKey(place)} database`, version, (signal) =>
    rpc.files.database({ session, ...path, from, to }, { signal }),
  )
  if (asked.state === 'loading') return <Loading what="Comparing tables" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  const pair = asked.value
  if (pair.kind === 'unreadable')
    return (
      <div className="flex h-full min-h-0 flex-col">
        <Note>
          The database{pair.side ? ` ${pair.side}` : ''} cannot be read: {pair.reason}
        </Note>
        <div className="min-h-0 flex-1">{otherwise}</div>
      </div>
    )
  const tables = inOrder(pair.tables)
  const shown = tables.find((table) => keyOf(table) === picked) ?? firstOf(tables)
  return (
    <div className="flex h-full min-h-0 flex-col">
      {pair.notes.map((note) => (
        <Note key={note}>{note}</Note>
      ))}
      {shown ? (
        <>
          <Tables tables={tables} shown={shown} pick={(table) => setPicked(keyOf(table))} />
          <div className="min-h-0 flex-1">
            <Table key={keyOf(shown)} table={shown} />
          </div>
        </>
      ) : (
        <Nothing title="No tables" />
      )}
    </div>
  )
}

const keyOf = ({ kind, name }: DatabaseTable): string => `${kind} ${name}`

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className="shrink-0 border-b border-line bg-warn-soft px-3 py-1 text-small break-words text-warn">{children}</p>
)

interface TablesProps {
  tables: readonly DatabaseTable[]
  shown: DatabaseTable
  pick(table: DatabaseTable): void
}

/** Some rows high, as most databases have few tables; it scrolls. */
function Tables({ tables, shown, pick }: TablesProps) {
  const list = useRef<HTMLDivElement>(null)
  const active = tables.indexOf(shown)
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: tables.length - 1 }[event.key]
    const table = to === undefined ? undefined : tables[to]
    if (!table || to === undefined) return
    event.preventDefault()
    pick(table)
    list.current?.children[to]?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <div
      ref={list}
      role="listbox"
      aria-label="Tables"
      aria-activedescendant={`table-${active}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="max-h-[30%] shrink-0 overflow-y-auto border-b border-line"
    >
      {tables.map((table, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the listbox
        <div
          key={keyOf(table)}
          id={`table-${at}`}
          role="option"
          aria-selected={table === shown}
          aria-label={`${table.kind} ${visibleName(table.name)}, ${wordsOf(table)}`}
          onClick={() => pick(table)}
          className={`flex h-6 items-center gap-3 px-3 ${table === shown ? 'bg-accent-soft' : 'hover:bg-hover'}`}
        >
          <Name mono className="flex-1">
            {table.name}
          </Name>
          {table.kind === 'table' ? null : <span className="text-small text-ink-3">{table.kind}</span>}
          <Sums table={table} />
        </div>
      ))}
    </div>
  )
}

function Sums({ table }: { table: DatabaseTable }) {
  const { counts, status } = table
  if (!counts || status === 'same' || counts.added + counts.changed + counts.deleted === 0)
    return <span className="shrink-0 text-small text-ink-3">{wordsOf(table)}</span>
  return (
    <span className="flex shrink-0 gap-2 text-small">
      {status === 'added' || status === 'deleted' ? <span className="text-ink-3">{status}</span> : null}
      {counts.added > 0 ? <span className="text-ok">+{counts.added.toLocaleString('en-US')}</span> : null}
      {counts.changed > 0 ? <span className="text-warn">~{counts.changed.toLocaleString('en-US')}</span> : null}
      {counts.deleted > 0 ? <span className="text-bad">−{counts.deleted.toLocaleString('en-US')}</span> : null}
    </span>
  )
}

function Table({ table }: { table: DatabaseTable }) {
  const { schema, rows, problem, counts } = table
  const sameSchema = schema.before === schema.after
  const all = counts ? counts.added + counts.changed + counts.deleted : 0
  return (
    <div className="flex h-full min-h-0 flex-col">
      {sameSchema ? null : (
        <div className="max-h-[35%] shrink-0 overflow-y-auto border-b border-line">
          {schema.before === null ? null : <Definition text={schema.before} gone />}
          {schema.after === null ? null : <Definition text={schema.after} />}
        </div>
      )}
      {problem ? <Note>{visible(problem)}</Note> : null}
      <div className="min-h-0 flex-1">
        {rows.length > 0 ? (
          <Rows table={table} />
        ) : problem || table.kind !== 'table' ? null : all > 0 ? (
          <Nothing title="Too much to show its rows" />
        ) : (
          <Nothing title={table.before === 0 || table.after === 0 ? 'No rows' : 'Its rows are the same'} />
        )}
      </div>
      {rows.length > 0 && rows.length < all ? (
        <p className="shrink-0 border-t border-line px-3 py-1 text-small text-ink-2">
          The first {rows.length.toLocaleString('en-US')} of {count(all, 'row that differs', 'rows that differ')}
          {table.columnsLeft > 0 ? `, without ${count(table.columnsLeft, 'column')}` : ''}
        </p>
      ) : null}
    </div>
  )
}

const Definition = ({ text, gone = false }: { text: string; gone?: boolean }) => (
  <div className={`flex px-3 py-1 font-mono text-code select-text ${gone ? 'bg-del' : 'bg-add'}`}>
    <span className={`w-4 shrink-0 select-none ${gone ? 'text-bad' : 'text-ok'}`}>{gone ? '−' : '+'}</span>
    <Block>{text}</Block>
  </div>
)

const ROW_PX = 24
const SIGN_PX = 28

const signs = {
  added: { sign: '+', tone: 'text-ok', surface: 'bg-add' },
  deleted: { sign: '−', tone: 'text-bad', surface: 'bg-del' },
  changed: { sign: '~', tone: 'text-warn', surface: '' },
} as const

function Rows({ table }: { table: DatabaseTable }) {
  const { rows, columns } = table
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: useCallback((index: number) => index, []),
    overscan: 12,
  })
  const ordered = useMemo(
    () => columnOrder(table).flatMap((at) => (columns[at] ? [{ column: columns[at], at }] : [])),
    [table, columns],
  )
  const widths = useMemo(() => columnWidths(table), [table])
  const width = SIGN_PX + widths.reduce((sum, one) => sum + one, 0)
  return (
    // biome-ignore lint/a11y/useSemanticElements: only the rows in view are drawn
    <div
      ref={scroller}
      role="table"
      aria-label={`Rows of ${visibleName(table.name)} that differ`}
      aria-rowcount={rows.length + 1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key
      tabIndex={0}
      className="h-full overflow-auto font-mono text-code select-text"
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the table scrolls, its rows do nothing */}
      <div
        role="row"
        aria-rowindex={1}
        className="sticky top-0 z-10 flex h-6 border-b border-line bg-panel font-sans text-small"
        style={{ width }}
      >
        <Cell head width={SIGN_PX}>
          <span className="sr-only">Change</span>
        </Cell>
        {ordered.map(({ column, at }) => (
          <Cell head key={`${column.in} ${column.name}`} width={widths[at] ?? 0}>
            <span
              title={`${visibleName(column.name)} ${visibleName(column.type)}`}
              className={`truncate ${column.key ? 'font-semibold' : ''} ${column.in === 'before' ? 'text-bad line-through' : column.in === 'after' ? 'text-ok' : ''}`}
            >
              {visibleName(column.name)}
            </span>
            <span className="truncate text-ink-3">{visibleName(column.type).toLowerCase()}</span>
          </Cell>
        ))}
      </div>
      <div className="relative" style={{ height: virtual.getTotalSize(), width }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index]
          return row ? (
            // biome-ignore lint/a11y/useSemanticElements: as above
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              className={`absolute flex h-6 ${signs[row.kind].surface}`}
              style={{ top: start, width }}
            >
              <Cell width={SIGN_PX}>
                <span className={`w-full text-center select-none ${signs[row.kind].tone}`} aria-hidden="true">
                  {signs[row.kind].sign}
                </span>
                <span className="sr-only">{row.kind}</span>
              </Cell>
              {ordered.map(({ column, at }) => (
                <Cell key={`${column.in} ${column.name}`} width={widths[at] ?? 0}>
                  <Value row={row} at={at} />
                </Cell>
              ))}
            </div>
          ) : null
        })}
      </div>
    </div>
  )
}

const Cell = ({ head = false, width, children }: { head?: boolean; width: number; children: React.ReactNode }) => (
  <div
    role={head ? 'columnheader' : 'cell'}
    className="flex shrink-0 items-center gap-1.5 overflow-hidden border-r border-line px-2 leading-6 whitespace-nowrap"
    style={{ width }}
  >
    {children}
  </div>
)

function Value({ row, at }: { row: DatabaseRow; at: number }) {
  const [before, after] = [row.before?.[at] ?? null, row.after?.[at] ?? null]
  if (row.kind !== 'changed' || !row.changed.includes(at)) return <Shown cell={after ?? before} />
  return (
    <>
      <del className="min-w-0 truncate rounded-xs bg-del-mark px-0.5 no-underline">
        <Shown cell={before} />
      </del>
      <span className="shrink-0 text-ink-3">→</span>
      <ins className="min-w-0 truncate rounded-xs bg-add-mark px-0.5 no-underline">
        <Shown cell={after} />
      </ins>
    </>
  )
}

function Shown({ cell }: { cell: DatabaseCell | null }) {
  if (cell === null) return null
  const { type, text, length } = cell
  if (type === 'null') return <span className="text-ink-3">NULL</span>
  const shown =
    type === 'blob' ? `x'${text}${length === null ? "'" : '…'}` : `${visibleName(text)}${length === null ? '' : '…'}`
  const more = length === null ? '' : ` (${count(length, type === 'blob' ? 'byte' : 'character')})`
  return (
    <span title={`${shown}${more}`} className={`truncate ${type === 'blob' ? 'text-ink-2' : ''}`}>
      {shown}
    </span>
  )
}
