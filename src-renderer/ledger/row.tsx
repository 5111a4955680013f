/** One line of the ledger's table. */
import { ArrowUpRight, CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { LedgerEntry } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { Ago } from '../elements/ago.tsx'
import { clip } from '../elements/clip.ts'
import { useAgoSpoken } from '../elements/clock.ts'
import { Name } from '../elements/text.tsx'
import { oneLine, outcomeOf, spokenEntry, words } from './filter.ts'

export const ROW_PX = 28

export const rowId = (id: number): string => `ledger-row-${id}`

/** Of the same width in every row, so that a column can be read down. */
const COLUMNS =
  'grid grid-cols-[80px_144px_minmax(72px,1fr)_56px_minmax(0,2fr)_56px_24px] items-center gap-x-2 pr-2 pl-4 text-small'

const HEADINGS = ['Event', 'Status', 'Target', 'Decided', 'Notes', 'When', 'State'] as const

export function Headings() {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a grid that draws only what is in view
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the grid
    <div
      role="row"
      aria-rowindex={1}
      className={`sticky top-0 z-1 h-6 border-b border-line bg-panel text-ink-2 ${COLUMNS}`}
    >
      {HEADINGS.map((heading) => (
        // biome-ignore lint/a11y/useSemanticElements: see above
        // biome-ignore lint/a11y/useFocusableInteractive: see above
        <span
          key={heading}
          role="columnheader"
          className={`truncate text-tiny ${heading === 'When' ? 'text-right' : ''}`}
        >
          {heading === 'State' ? <span className="sr-only">State</span> : heading}
        </span>
      ))}
    </div>
  )
}

const VERDICTS = {
  pass: [CircleCheck, 'text-ok'],
  fail: [CircleX, 'text-bad'],
  unknown: [CircleHelp, 'text-warn'],
} as const

interface EntryRowProps {
  entry: LedgerEntry
  index: number
  top: number
  /** The keys are on it. */
  active: boolean
  /** It is about the selected moment. */
  about: boolean
  /** The state that it is about is there to be gone to. */
  held: boolean
  show(entry: LedgerEntry): void
  pick(entry: LedgerEntry): void
}

export const EntryRow = memo(function EntryRow(props: EntryRowProps) {
  const { entry, index, top, active, about, held, show, pick } = props
  const { eventType, checkpoint, point, decidedBy, notes, timestamp } = entry
  const name = checkpoint ?? point
  const line = oneLine(notes)
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a grid that draws only what is in view
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the grid
    <div
      role="row"
      id={rowId(entry.id)}
      aria-label={spokenEntry(entry, useAgoSpoken(timestamp))}
      aria-rowindex={index + 2}
      aria-selected={active}
      onClick={() => pick(entry)}
      className={`absolute inset-x-0 border-b border-line ${active ? 'bg-accent-soft' : about ? 'bg-accent-soft/50' : 'hover:bg-hover'} ${COLUMNS}`}
      style={{ top, height: ROW_PX }}
    >
      {active ? <span className="absolute inset-y-0 left-0 w-0.5 bg-accent" /> : null}
      <Cell>{words(eventType)}</Cell>
      <Cell>
        <Outcome entry={entry} />
      </Cell>
      <Cell>{name ? <Name className="block">{name}</Name> : null}</Cell>
      <Cell className="text-ink-2">{decidedBy ? visibleName(decidedBy) : null}</Cell>
      <Cell className="text-ink-2">
        <span title={visible(clip(notes ?? '', 1_000).text)}>{visibleName(line)}</span>
      </Cell>
      <Cell className="text-right text-ink-2">
        <Ago at={timestamp} />
      </Cell>
      <Cell>
        {held ? (
          <button
            type="button"
            tabIndex={-1}
            aria-label="Go to the state"
            title="Go to the state that it is about (G)"
            onClick={(event) => {
              event.stopPropagation()
              show(entry)
            }}
            className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
          >
            <ArrowUpRight size={14} aria-hidden="true" />
          </button>
        ) : null}
      </Cell>
    </div>
  )
})

function Outcome({ entry }: { entry: LedgerEntry }) {
  const outcome = visibleName(outcomeOf(entry))
  const verdict = VERDICTS[entry.status as keyof typeof VERDICTS]
  if (!verdict) return <span className="text-ink-2">{outcome}</span>
  const [Icon, tone] = verdict
  return (
    <span className={tone}>
      <Icon size={13} aria-hidden="true" className="mr-1 inline align-[-2px]" />
      {outcome}
    </span>
  )
}

const Cell = ({ children, className = '' }: { children: ReactNode; className?: string }) => (
  // biome-ignore lint/a11y/useSemanticElements: see the row
  // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the grid
  <span role="gridcell" className={`min-w-0 truncate ${className}`}>
    {children}
  </span>
)
