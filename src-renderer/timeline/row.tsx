/** One row of the timeline: lane and mark, what it is, what it cost. */
import { ChevronRight, FolderInput, Undo2 } from 'lucide-react'
import { type MouseEvent, memo, type ReactNode } from 'react'
import type { CommandRecord, Point, SessionDetails } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Ago } from '../elements/ago.tsx'
import { useAgoSpoken, useRunningFor } from '../elements/clock.ts'
import { Counts, isNone, spokenCounts } from '../elements/counts.tsx'
import { count, shown, size, took } from '../elements/format.ts'
import { Name } from '../elements/text.tsx'
import { Graph, type Mark } from './graph.tsx'
import type { RowLines } from './lanes.ts'
import { type FoldRow, heightOf, isLow, type PointRow, type TimelineRow } from './rows.ts'
import { markOf, spokenFold, spokenPoint, takenBy, titleOf } from './words.ts'

export type Tint = 'none' | 'moment' | 'end' | 'between'

export interface RowProps {
  lines: RowLines
  lanes: number
  index: number
  total: number
  tint: Tint
  /** It is among what is looked for. */
  found: boolean
  onPick(index: number, event: MouseEvent): void
}

const tints = {
  none: 'hover:bg-hover',
  moment: 'bg-accent-soft',
  end: 'bg-accent-soft',
  between: 'bg-accent-soft/50',
} as const

export const optionId = (row: TimelineRow): string => `timeline-${encodeURIComponent(row.id)}`

interface FrameProps extends RowProps {
  row: TimelineRow
  label: string
  mark: Mark
  children: ReactNode
}

function Frame({ row, lines, lanes, index, total, tint, found, onPick, label, mark, children }: FrameProps) {
  const height = heightOf(row)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys, an option has the click
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the listbox, which names its active option
    <div
      role="option"
      id={optionId(row)}
      aria-label={label}
      aria-selected={tint === 'moment' || tint === 'end'}
      aria-setsize={total}
      aria-posinset={index + 1}
      onClick={(event) => onPick(index, event)}
      className={`relative flex items-center pr-4 ${tints[tint]}`}
      style={{ height }}
    >
      {tint === 'moment' || tint === 'end' ? <span className="absolute inset-y-0 left-0 w-0.5 bg-accent" /> : null}
      {found ? <span className="absolute inset-y-1 right-1 w-1 rounded-full bg-warn" /> : null}
      <Graph lines={lines} lanes={lanes} height={height} mark={mark} />
      {children}
    </div>
  )
}

interface NowProps extends RowProps {
  row: TimelineRow
  details: SessionDetails | null
  running: CommandRecord | undefined
}

export const NowRow = memo(function NowRow({ details, running, ...rest }: NowProps) {
  const counts = details?.uncommitted ?? null
  const title = running ? 'Now, running' : 'Now'
  const label = `${title}, ${counts ? spokenCounts(counts) : ''}${counts && !isNone(counts) ? ' since the last point' : ''}`
  return (
    <Frame {...rest} label={label} mark={running ? 'busy' : 'now'}>
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="font-semibold">Now</span>
          {running ? <Running command={running} /> : null}
        </div>
        <div className="truncate text-small text-ink-2">{details ? nowFacts(details).join(' · ') : ' '}</div>
      </div>
      {counts ? <Counts counts={counts} className="pl-3" /> : null}
    </Frame>
  )
})

function nowFacts(details: SessionDetails): string[] {
  const { uncommitted, messages, processes } = details
  return [
    uncommitted === null ? '' : isNone(uncommitted) ? 'Nothing changed since the last point' : 'Not yet in a point',
    count(messages, 'message'),
    processes.length > 0 ? count(processes.length, 'process', 'processes') : '',
  ].filter(Boolean)
}

function Running({ command }: { command: CommandRecord }) {
  const text = shown(command.command)
  return (
    <span className="flex min-w-0 items-baseline gap-1.5 text-small text-accent">
      <Name mono>{text}</Name>
      <span className="shrink-0">{useRunningFor(command.startedAt)}</span>
    </span>
  )
}

interface PointProps extends RowProps {
  row: PointRow
  /** A bare rewind goes here. */
  target: boolean
  /** Its files were written to the host, and stand there. */
  committed: boolean
}

export const PointRowView = memo(function PointRowView({ row, target, committed, ...rest }: PointProps) {
  const label = spokenPoint(row, useAgoSpoken(row.point.at), committed)
  return (
    <Frame {...rest} row={row} label={label} mark={markOf(row)}>
      {isLow(row) ? (
        <LowPoint row={row} target={target} committed={committed} />
      ) : (
        <TallPoint row={row} target={target} committed={committed} />
      )}
    </Frame>
  )
})

function LowPoint({ row: { point, branch }, target, committed }: Pick<PointProps, 'row' | 'target' | 'committed'>) {
  const ink = branch ? 'text-ink-3' : 'text-ink-2'
  return (
    <>
      <span className={`flex min-w-0 flex-1 items-baseline gap-1.5 ${ink}`}>
        <Name mono className="shrink">
          {point.tool ?? titleOf(point)}
        </Name>
        {point.why && point.why !== point.tool ? <Name className="shrink-[2] text-small">{point.why}</Name> : null}
        {committed ? <CommittedMark /> : null}
        {target ? <TargetMark /> : null}
      </span>
      <Aside point={point} />
    </>
  )
}

function TallPoint({ row, target, committed }: Pick<PointProps, 'row' | 'target' | 'committed'>) {
  const { point, branch } = row
  const facts = pointFacts(row).join(' · ')
  return (
    <div className="min-w-0 flex-1">
      <div className={`flex items-baseline gap-2 ${branch ? 'text-ink-2' : 'text-ink'}`}>
        <Name
          className={branch || (point.takenBy === 'auto' && point.kind !== 'base') ? 'font-medium' : 'font-semibold'}
        >
          {titleOf(point)}
        </Name>
        {point.verdict ? <VerdictWord verdict={point.verdict.status} /> : null}
        {committed ? <CommittedMark /> : null}
        {target ? <TargetMark /> : null}
        <span className="flex-1" />
        <Aside point={point} />
      </div>
      <div className={`flex min-w-0 gap-3 text-small ${branch ? 'text-ink-3' : 'text-ink-2'}`}>
        <span className="min-w-0 flex-1 truncate" title={facts}>
          {facts}
        </span>
        <Cost point={point} />
      </div>
    </div>
  )
}

/** What the point changed, and when: one column for rows of either height. */
const Aside = ({ point }: { point: Point }) => (
  <span className="flex shrink-0 items-baseline pl-1 text-small text-ink-2">
    {point.files ? <Counts counts={point.files} /> : null}
    <Ago at={point.at} className="min-w-16 pl-2 text-right" />
  </span>
)

function pointFacts({ point, branch, left }: PointRow): string[] {
  const messages = count(point.messages, 'message')
  if (left && branch) return [`branch ${branch.letter}`, count(branch.points.length, 'point'), messages]
  if (point.kind === 'base') return ['the workspace as it was']
  return [
    point.kind === 'tip' ? 'kept by a rewind' : takenBy(point),
    point.why && point.why !== point.label ? visibleName(point.why) : '',
    messages,
    point.pinned ? 'pinned' : '',
    point.running.length > 0 ? `${point.running.length} running` : '',
  ].filter(Boolean)
}

function Cost({ point }: { point: Point }) {
  const bytes = point.bytes === null ? '' : size(point.bytes)
  if (point.kind === 'base') return null
  return (
    <span className="shrink-0" title={`Taking it cost ${took(point.ms)}${bytes ? ` and ${bytes}` : ''}`}>
      {[point.kind === 'tip' ? '' : took(point.ms), bytes].filter(Boolean).join(' · ')}
    </span>
  )
}

const words = {
  pass: 'text-ok',
  fail: 'text-bad',
  unknown: 'text-warn',
} as const

export const VerdictWord = ({ verdict }: { verdict: keyof typeof words }) => (
  <span className={`shrink-0 text-small font-medium ${words[verdict]}`}>{verdict}</span>
)

const TargetMark = () => (
  <span title="A bare rewind goes here" className="shrink-0 self-center text-accent">
    <Undo2 size={13} aria-label="a bare rewind goes here" />
  </span>
)

const CommittedMark = () => (
  <span title="Committed to the workspace" className="shrink-0 self-center text-ink-2">
    <FolderInput size={13} aria-label="committed to the workspace" />
  </span>
)

interface FoldProps extends RowProps {
  row: FoldRow
}

export const FoldRowView = memo(function FoldRowView({ row, ...rest }: FoldProps) {
  const tools = [...new Set(row.points.map((point) => point.tool).filter((tool) => tool !== null))]
  return (
    <Frame {...rest} row={row} label={spokenFold(row)} mark="fold">
      <span className={`flex min-w-0 flex-1 items-center gap-1 text-small ${row.branch ? 'text-ink-3' : 'text-ink-2'}`}>
        <ChevronRight size={12} aria-hidden="true" className="shrink-0" />
        <span className="shrink-0">{row.points.length} automatic</span>
        <Name mono className="pl-1">
          {tools.join(', ')}
        </Name>
      </span>
    </Frame>
  )
})
