/** The files that differ, one row each: letter, name, folder. Arrow keys walk it. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useCallback, useRef } from 'react'
import type { Change } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { leaf } from '../elements/format.ts'
import { Letter, wordOf } from './letters.tsx'

const ROW_PX = 28

interface FileListProps {
  changes: Change[]
  /** Changes beyond the listed ones. */
  more: number
  shown: string | null
  pick(path: string): void
}

export function FileList({ changes, more, shown, pick }: FileListProps) {
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
  return (
    <div className="flex h-full min-h-0 flex-col">
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
