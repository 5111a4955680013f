/** What agents do by tools, newest first and live: whose program, which tool, with what, and what it was answered. */
import { ChevronRight, CircleCheck, CircleDashed, CircleX, Crosshair } from 'lucide-react'
import { useState } from 'react'
import type { ToolCall } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Ago } from '../elements/ago.tsx'
import { IconButton } from '../elements/button.tsx'
import { useRunningFor } from '../elements/clock.ts'
import { count, took } from '../elements/format.ts'
import { Nothing } from '../elements/problem.tsx'
import { Spinner } from '../elements/spinner.tsx'
import { Block, Name } from '../elements/text.tsx'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { isInStep, momentAfter, stepOf } from '../timeline/step.ts'

/** Calls drawn at first; earlier ones on demand. */
const PAGE = 200

export function AgentCalls() {
  const calls = useSession((state) => state.toolCalls)
  const { selection } = useHost()
  const timeline = useSession((state) => state.timeline)
  const moment = useSelection((state) => (state.other === null ? state.moment : null))
  const [shown, setShown] = useState(PAGE)
  const step = timeline && moment !== null ? stepOf(timeline, moment) : null
  if (calls.length === 0)
    return (
      <Nothing title="No agent has called a tool yet">What agents do over MCP is shown here as they do it.</Nothing>
    )
  const newestFirst = calls.toReversed()
  return (
    <ol aria-label="Tool calls" className="h-full min-h-0 overflow-y-auto">
      {newestFirst.slice(0, shown).map((call) => (
        <Row
          key={call.id}
          call={call}
          here={step !== null && isInStep(step, call.endedAt)}
          show={() => {
            if (timeline) selection.changesOf(momentAfter(timeline, call.endedAt))
          }}
        />
      ))}
      {newestFirst.length > shown ? (
        <li className="px-4 py-2">
          <button
            type="button"
            className="text-small text-accent hover:underline"
            onClick={() => setShown(shown + PAGE)}
          >
            Show {count(Math.min(PAGE, newestFirst.length - shown), 'earlier call')}
          </button>
        </li>
      ) : null}
    </ol>
  )
}

const STATUS = {
  running: 'running',
  done: 'done',
  failed: 'failed',
  lost: 'its client went',
} as const

interface RowProps {
  call: ToolCall
  /** It is part of the step that is looked at. */
  here: boolean
  show(): void
}

function Row({ call, here, show }: RowProps) {
  const [open, setOpen] = useState(false)
  return (
    <li className={`border-b border-line ${here ? 'bg-accent-soft' : ''}`}>
      <div className="flex h-7 items-center gap-2 pr-2 pl-2 text-small">
        <button
          type="button"
          aria-label={`${call.tool}, ${STATUS[call.status]}, ${open ? 'fold' : 'open'}`}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex size-5 shrink-0 items-center justify-center rounded text-ink-3 hover:bg-hover"
        >
          <ChevronRight size={13} className={`transition-transform duration-100 ${open ? 'rotate-90' : ''}`} />
        </button>
        <StatusIcon status={call.status} />
        <Name className="shrink-0 text-body">{call.tool}</Name>
        <Name mono className="min-w-0 flex-1 text-ink-2">
          {call.arguments === '{}' ? '' : call.arguments}
        </Name>
        <Name className="max-w-40 shrink-0 text-ink-3">{call.client}</Name>
        <Duration call={call} />
        <Ago at={call.startedAt} />
        <IconButton label="Show what it changed" onClick={show} className="size-6">
          <Crosshair size={13} />
        </IconButton>
      </div>
      {open ? (
        <dl className="grid gap-2 px-9 pb-3 text-small">
          <Told what="Arguments">{call.arguments}</Told>
          {call.result === null ? null : <Told what="Answer">{call.result}</Told>}
        </dl>
      ) : null}
    </li>
  )
}

function Told({ what, children }: { what: string; children: string }) {
  return (
    <div>
      <dt className="text-ink-3">{what}</dt>
      <dd>
        <Block>{children}</Block>
      </dd>
    </div>
  )
}

function StatusIcon({ status }: { status: ToolCall['status'] }) {
  if (status === 'running')
    return (
      <span className="text-accent">
        <Spinner />
      </span>
    )
  const [Icon, tone] = {
    done: [CircleCheck, 'text-ok'] as const,
    failed: [CircleX, 'text-bad'] as const,
    lost: [CircleDashed, 'text-ink-3'] as const,
  }[status]
  return <Icon size={14} aria-label={visibleName(STATUS[status])} className={`shrink-0 ${tone}`} />
}

function RunningFor({ since }: { since: Date }) {
  return <span className="shrink-0 text-ink-3 tabular-nums">{useRunningFor(since)}</span>
}

function Duration({ call }: { call: ToolCall }) {
  if (call.status === 'running') return <RunningFor since={call.startedAt} />
  const ms = (call.endedAt ?? call.startedAt).getTime() - call.startedAt.getTime()
  return <span className="shrink-0 text-ink-3 tabular-nums">{took(ms)}</span>
}
