/** The ledger: what was verified, decided and rolled back. No rewind touches it; a row leads to the state it is about. */
import { ChevronRight, Link2, Link2Off } from 'lucide-react'
import { useState } from 'react'
import type { LedgerEntry } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { Ago } from '../elements/ago.tsx'
import { count } from '../elements/format.ts'
import { Nothing } from '../elements/problem.tsx'
import { Block, Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { idsOnTimeline } from './about.ts'

/** Rows drawn at first; earlier ones on demand. */
const PAGE = 200

export function Ledger() {
  const { selection } = useHost()
  const entries = useSession((state) => state.ledger)
  const timeline = useSession((state) => state.timeline)
  const moment = useSelection((state) => state.moment)
  const [shown, setShown] = useState(PAGE)
  if (entries.length === 0)
    return (
      <Nothing title="Nothing in the ledger yet">
        Each verification, decision and rewind is written here for good.
      </Nothing>
    )
  const known = idsOnTimeline(timeline)
  const newestFirst = entries.toReversed()
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-4 text-small text-ink-2">
        <span>{count(entries.length, 'row')}</span>
        <Chain rows={entries.length} />
      </header>
      <ol aria-label="Ledger rows" className="min-h-0 flex-1 overflow-y-auto">
        {newestFirst.slice(0, shown).map((entry) => (
          <Row
            key={entry.id}
            entry={entry}
            about={entry.point !== null && entry.point === moment}
            show={entry.point !== null && known.has(entry.point) ? () => selection.select(entry.point ?? '') : null}
          />
        ))}
        {newestFirst.length > shown ? (
          <li className="px-4 py-2">
            <button
              type="button"
              className="text-small text-accent hover:underline"
              onClick={() => setShown(shown + PAGE)}
            >
              Show {count(Math.min(PAGE, newestFirst.length - shown), 'earlier row')}
            </button>
          </li>
        ) : null}
      </ol>
    </div>
  )
}

/** Whether each row's hash still follows from the one before it. */
function Chain({ rows }: { rows: number }) {
  const { rpc } = useHost()
  const session = useSession((state) => state.id)
  const asked = useAsked(session && `chain ${session}`, rows, (signal) =>
    rpc.ledger.verify({ session: session ?? '' }, { signal }),
  )
  if (asked.state !== 'ready') return null
  return asked.value.whole ? (
    <span className="flex items-center gap-1 text-ok" title={`Head of the chain: ${asked.value.head}`}>
      <Link2 size={13} aria-hidden="true" />
      chain whole
    </span>
  ) : (
    <span className="flex items-center gap-1 text-bad">
      <Link2Off size={13} aria-hidden="true" />
      chain broken at row {asked.value.brokenAt}
    </span>
  )
}

const tones: Record<string, string> = { pass: 'text-ok', fail: 'text-bad', unknown: 'text-warn' }

interface RowProps {
  entry: LedgerEntry
  /** It is about the selected point. */
  about: boolean
  /** Selects the point that it is about. */
  show: (() => void) | null
}

function Row({ entry, about, show }: RowProps) {
  const [open, setOpen] = useState(false)
  const summary = [entry.notes, entry.decidedBy && `decided by ${entry.decidedBy}`]
    .filter((part) => part !== null && part !== '')
    .join(' · ')
  return (
    <li className={`border-b border-line ${about ? 'bg-accent-soft' : ''}`}>
      <div className="flex h-7 items-center gap-2 pr-4 pl-2 text-small">
        <button
          type="button"
          aria-label={open ? 'Fold the row' : 'Open the row'}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex size-5 shrink-0 items-center justify-center rounded text-ink-3 hover:bg-hover"
        >
          <ChevronRight size={13} className={`transition-transform duration-100 ${open ? 'rotate-90' : ''}`} />
        </button>
        <span className="w-24 shrink-0 truncate text-body">{entry.eventType.replace('_', ' ')}</span>
        <span className={`w-20 shrink-0 truncate ${tones[entry.status ?? ''] ?? 'text-ink-2'}`}>
          {visibleName((entry.status ?? entry.resolution ?? '').replace('_', ' '))}
        </span>
        {entry.checkpoint && show ? (
          <button type="button" onClick={show} className="max-w-40 shrink-0 truncate text-accent hover:underline">
            {visibleName(entry.checkpoint)}
          </button>
        ) : entry.checkpoint ? (
          <Name className="max-w-40 shrink-0">{entry.checkpoint}</Name>
        ) : null}
        <span className="min-w-0 flex-1 truncate text-ink-2" title={visible(summary)}>
          {visibleName(summary.replace(/\s+/g, ' '))}
        </span>
        <Ago at={entry.timestamp} className="shrink-0 text-ink-3" />
      </div>
      {open ? (
        <div className="flex flex-col gap-2 pb-3 pr-4 pl-9 text-small select-text">
          {summary ? <Block className="text-ink-2">{summary}</Block> : null}
          {entry.rawOutput ? (
            <Block className="rounded-md border border-line bg-sunken px-2 py-1 font-mono text-code">
              {entry.rawOutput}
            </Block>
          ) : null}
          <p
            className="truncate font-mono text-tiny text-ink-3"
            title="SHA-256 over the previous row’s hash and this row"
          >
            {entry.hash}
          </p>
        </div>
      ) : null}
    </li>
  )
}
