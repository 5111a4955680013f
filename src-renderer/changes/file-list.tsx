/** The files that differ, one row each: letter, name, folder. Arrow keys walk it. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from 'react'
import type { Change } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { leaf } from '../elements/format.ts'
import { matching } from './filter.ts'
import { Letter, wordOf } from './letters.tsx'

const ROW_PX = 28

interface FileListProps {
  changes: Change[]
  /** Changes beyond the listed ones. */
  more: number
  shown: string | null
  pick(path: string): void
}

/** Finds files by a part of their path, whatever its case; the diff that is open stays. */
export function FileList({ changes: all, more, shown, pick }: FileListProps) {
  const [filter, setFilter] = useState('')
  const changes = useMemo(() => matching(all, filter), [all, filter])
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: changes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: useCallback((index: number) => changes[index]?.path ?? index, [changes]),
    overscan: 10,
  })
  const active = changes.findIndex(({ path }) => path === shown)
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: changes.length - 1 }[event.key]
    const change = to === undefined ? undefined : changes[to]
    if (!change || to === undefined) return
    event.preventDefault()
    pick(change.path)
    virtual.scrollToIndex(to, { align: 'auto' })
  }
  const onFilterKey = (event: KeyboardEvent) => {
    const [first] = changes
    if (event.key === 'Enter' && first) pick(first.path)
    else if (event.key === 'ArrowDown' && first) {
      if (active < 0) pick(first.path)
      scroller.current?.focus()
    } else if (event.key === 'Escape' && filter !== '') setFilter('')
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <label className="flex h-7 shrink-0 items-center gap-2 border-b border-line px-3 text-ink-3 focus-within:text-ink">
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
      <div
        ref={scroller}
        role="listbox"
        aria-label="Files"
        aria-activedescendant={active >= 0 ? `file-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="min-h-0 flex-1 overflow-y-auto"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const change = changes[index]
            return change ? (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the listbox
              <div
                key={key}
                id={`file-${index}`}
                role="option"
                aria-selected={index === active}
                aria-label={`${visibleName(change.path)}, ${wordOf(change)}`}
                title={visibleName(change.path)}
                onClick={() => pick(change.path)}
                className={`absolute inset-x-0 flex h-7 items-center gap-2 px-3 ${index === active ? 'bg-accent-soft' : 'hover:bg-hover'}`}
                style={{ top: start }}
              >
                <Letter status={change.status} />
                <Path change={change} />
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

function Path({ change }: { change: Change }) {
  const name = leaf(change.path)
  const folder = change.path.slice(0, change.path.length - name.length).replace(/\/$/, '')
  return (
    <span className="flex min-w-0 flex-1 items-baseline gap-2">
      <span className={`min-w-0 truncate ${change.status === 'deleted' ? 'text-ink-2 line-through' : ''}`}>
        {visibleName(name)}
        {change.kind === 'folder' ? '/' : ''}
      </span>
      {folder ? (
        <span className="min-w-0 flex-1 shrink-[3] truncate-start text-small text-ink-3">
          <bdi>{visibleName(folder)}</bdi>
        </span>
      ) : null}
    </span>
  )
}
